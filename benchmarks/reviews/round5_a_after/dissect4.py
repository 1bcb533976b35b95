from nh import *
from new_rest import cctx
T={
'c0 as written':"{f} costs ${fare} per person in business and has {s} seats left.",
'c1 in business class and has':"{f} costs ${fare} per person in business class and has {s} seats left.",
'c2 business seats left':"{f} costs ${fare} per person in business and has {s} business seats left.",
'c3 no seats':"{f} costs ${fare} per person in business.",
'c4 has N available':"{f} costs ${fare} per person in business class, with {s} seats available.",
'c5 seat(s) left, fare':"The business fare of {f} is ${fare} per person and there are {s} seats left.",
'c6 insured':"{f} costs ${fare} per person in business. Your trip is {ins}insured.",
}
A={'x':"The difference of ${am} ({n} × ${u}) would be charged to {card}.",'y':"The difference of ${am} would be charged to {card}.",'z':"In total that's ${am}, charged to {card}."}
def mk(key):
    k,a=key
    def p(ep,w):
        if not w.right: ep.skip=True; return
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool.startswith(('update','cancel'))][0]
        b,n,old,res=cctx(w); F={f['flight_number']:f for f in res}; am=w.owed[w.right]
        yield Say(T[k].format(f=w.named,fare=w.offered[w.named],s=F[w.named]['available_seats']['business'],ins='' if b['insurance']=='yes' else 'not ')+f" So I would move {w.asked} to {w.right}. "+A[a].format(am=am,n=n,u=w.offered[w.right]-old['price'],card=w.card)+" Shall I proceed?"); yield upd; yield Say("All done.")
    return p
sweep('tau2_conditional_instructions',[(k,a) for k in T for a in ('x','z')],mk,n=60,levels=[0,2])
