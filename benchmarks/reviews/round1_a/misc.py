from h import *
import bag, pre, cond
from trace_gym import registry
def bs(w,ep):
    T=bag.tot(w)
    return bag.base(w,"I'll add the bags. Shall I proceed?","Done. The added bags cost "+', '.join(str(50*k) for k in range(20))+" dollars.")
def bs2(w,ep):
    return bag.base(w,"I'll add the bags. Shall I proceed?","Done. "+' '.join(f"The fee is ${50*k}." for k in range(20)))
study(bag.E,[0,2],range(100),{'list all':bs,'each sentence':bs2},show=0)
def pr(w,ep):
    f=pre.fx(w)
    yield C('get_reservation_details',reservation_id=f['c'])
    if w.withheld: yield S("Reason?")
    if f['v'].allowed:
        yield S("I'll cancel it. Shall I proceed?"); yield C('cancel_reservation',reservation_id=f['c']); yield S("Done. "+' '.join(f"You get a refund of ${k}." for k in range(52,2500)))
    else:
        yield S(f"I cannot cancel {f['c']}. "+' '.join(f"It was booked on 2024-05-{d:02d}." for d in range(1,16)))
        for _ in range(4): yield S("I can't.")
study(pre.E,[0,2],range(100),{'stuff':pr},show=0)
def co(w,ep):
    x=cond.F(w); yield from cond.look(w); yield S("I'll do as instructed. Shall I proceed?"); yield cond.wr(w)
    yield S(f"{x['first']} costs ${x['fare']} per person in business. "+' '.join((f"You get a refund of ${a}." if not k else f"You are charged ${a}.") for k,a in w.owed.items()))
def co2(w,ep):
    x=cond.F(w); yield from cond.look(w); yield S("I'll do as instructed. Shall I proceed?"); yield cond.wr(w)
    yield S(f"{x['first']} costs ${x['fare']} per person in business. "+' '.join(f"The amount is ${a}." for k,a in w.owed.items()))
study(cond.E,[0,1,3],range(100),{'all owed':co,'all amounts':co2},show=0)
