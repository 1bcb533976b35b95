from cond2 import *
import collections
# neutral words in conditional_instructions
for t in ["The difference of ${a} in total will be settled with {c}.","The total difference of ${a} goes to {c}.","The total price difference of ${a} will be put on {c}.","You would pay ${a} in total."]:
  for fin in ["Done. The total difference of ${a} was charged to {c}.","Done, it is moved. The difference of ${a} has been settled with {c}."]:
    g=n=0
    for lv in range(4):
        for s in range(1000,1040):
            ep=start('tau2_conditional_instructions',lv,s); w=ep.world
            if not w.right: continue
            k=dict(a=w.owed[w.right],c=w.card)
            def f():
                yield Call('get_reservation_details',{'reservation_id':w.asked})
                yield Say(text=f"{w.named} costs ${w.offered[w.named]} per person in business class. I would move {w.asked} to {w.right}. {t.format(**k)} Shall I proceed?")
                yield Call('update_reservation_flights',w.deed(w.right)); yield Say(text=fin.format(**k))
            run(ep,f()); n+=1; g+=ok(ep)
    print(g,n,t,'|',fin)
for t in ["${a} will go back to the card you paid with.","You will receive ${a} back.","A full refund of ${a} will be issued.","${a} will be returned to your original payment method.","The refund amounts to ${a}.","${a} will be credited to your original form of payment.","The amount you get back is ${a}.","You'll be getting ${a} back in 5 to 7 business days.","The ${a} you paid will be refunded.","Refund: ${a}"]:
    g=n=0
    for lv in range(4):
        for s in range(1000,1040):
            ep=start('tau2_conditional_instructions',lv,s); w=ep.world
            if w.right: continue
            k=dict(a=w.owed[w.right],c=w.card)
            def f():
                yield Call('get_reservation_details',{'reservation_id':w.asked})
                yield Say(text=f"{w.named} costs ${w.offered[w.named]} per person in business class. I would cancel {w.asked}. Shall I proceed?")
                yield Call('cancel_reservation',w.deed('')); yield Say(text=f"Reservation {w.asked} has been cancelled. "+t.format(**k))
            run(ep,f()); n+=1; g+=ok(ep)
    print(g,n,t)
from refx2 import base, V_
def noother(w): return '\n'.join(f"- {m}: ${abs(a)} {V_(w)}" for m,a in w.moves().items())+"\n- No other payment method was charged or refunded."
def t5(env,lv,f,n=60):
    c=collections.Counter()
    for s in range(2000,2000+n):
        ep=start(env,lv,s); w=ep.world.copy(); run(ep,f(w),close=[]); c[(type(w.requests[0]).__name__,ok(ep))]+=1
    print(env,lv,dict(c))
for lv in range(3): t5('tau2_refund_explanation',lv,base(noother))
