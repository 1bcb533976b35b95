from rel2 import *
import collections
def mk(final):
  def f(w):
    for s in list(plan(0)(w)):
        if isinstance(s,Say) and 'proceed' in s.text: s=Say(text=s.text.split('The total price')[0]+'Would you like me to proceed?')
        elif isinstance(s,Say): s=Say(text=final.format(a=abs(info(w)[2]),pm=pmm(w),d=' and '.join(long(g['date']) for _,o,g in info(w)[1])))
        yield s
  return f
for t in ["Your flight is now on {d}. The difference of ${a} has been settled with {pm}.","Done, you now fly on {d}. The difference is ${a}.","You now fly on {d}. The difference is ${a}, charged or refunded to {pm}.","You now fly on {d}. The difference of ${a} was applied to {pm}.","You now fly on {d}. The fare difference is ${a}. It goes to {pm}.","You now fly on {d}. You either pay ${a} or get ${a} back on {pm}.","You now fly on {d}. The total price difference is ${a}, processed through {pm}."]:
    c=collections.Counter()
    for lv in range(3):
      for s in range(2000,2050):
        ep=start('tau2_relative_date_reasoning',lv,s); w=ep.world.copy(); role='charge' if info(w)[2]>0 else 'refund'; run(ep,mk(t)(w)); c[(role,ok(ep))]+=1
    print(t,dict(c))
