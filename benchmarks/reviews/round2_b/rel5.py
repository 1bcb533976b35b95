from rel import *
import collections
P=["The difference of ${a} will be settled with {pm}.","The difference of ${a} will be applied to {pm}.","The price difference of ${a} will go to {pm}.","The ${a} difference will be put on {pm}.","The difference (${a}) will be handled through {pm}.","The fare difference of ${a} would be settled on {pm}.","The price difference is ${a}, to be settled using {pm}.","Fare difference: ${a} (settled to {pm}).","Payment method for the difference of ${a}: {pm}.","The difference of ${a} will be processed to {pm}.","I would use {pm} for the difference of ${a}."]
F=["The difference of ${a} is {r} {pm}.","You {g} ${a} on {pm}.","The difference is ${a}, and {y}.","The difference of ${a} has been settled with {pm}: {y}.", "The price difference of ${a} was settled with {pm}, and {y}.","The total difference is ${a} in your favor, so {y}.","Your new fare is lower by ${a}, so {y}."]
def mk(p,f_):
    def f(w):
        ch,legs,t,n,was=info(w); pos=t>0
        if not pos is False and 'favor' in f_+p: return
        yield Call('get_reservation_details',{'reservation_id':w.code})
        k=dict(a=abs(t),pm=pmm(w),r='charged to' if pos else 'refunded to',g='paid an additional' if pos else 'get back',y='you pay it' if pos else 'you get it back')
        yield Say(text=f"I can move it to {' and '.join(longw(g['date']) for _,o,g in legs)}. "+p.format(**k)+" Would you like me to proceed?")
        yield ch
        yield Say(text="Your reservation has been updated. "+f_.format(**k)+" Is there anything else I can help you with?")
    return f
for p in P+['']:
  for f_ in (F if p=='' else F[:1]):
    c=collections.Counter()
    for lv in range(3):
      for s in range(2000,2050):
        ep=start('tau2_relative_date_reasoning',lv,s); w=ep.world.copy(); role='charge' if info(w)[2]>0 else 'refund'
        if role=='charge' and ('favor' in f_ or 'lower' in f_): continue
        run(ep,mk(p,f_)(w)); c[(role,ok(ep))]+=1
    print(repr(p),'|',f_,dict(c))
