from nh import *
from new_rest import cctx
A={
'd1 (2 x $173)':"The difference of ${am} ({n} × ${u}) would be charged to {card}.",
'd2 per person, total':"The difference is ${u} per person, so ${am} in total, charged to {card}.",
'd3 n x u = am':"The difference is {n} × ${u} = ${am}, charged to {card}.",
'd4 $u x n = am':"${u} × {n} passengers = ${am}, charged to {card}.",
'd5 list':"\n- Difference per person: ${u}\n- Passengers: {n}\n- Total difference: ${am}, charged to {card}\n",
'd6 (u per passenger)':"You would pay ${am} in total (${u} per passenger) with {card}.",
'd7 totals':"New total ${g}, old total ${o}, so ${am} would be charged to {card}.",
'd8 (g-o) each':"The fare difference is ${f} − ${of} = ${u} each, for {n} people ${am}, charged to {card}.",
}
def mk(k):
    def p(ep,w):
        if not w.right: ep.skip=True; return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
            if isinstance(s,Call) and s.tool.startswith(('update','cancel')): upd=s
        b,n,old,res=cctx(w); am=w.owed[w.right]; g=w.offered[w.right]
        if n<2: ep.skip=True; return
        yield Say(f"The business fare of {w.named} is ${w.offered[w.named]} per person. So I would move {w.asked} to {w.right}. "+A[k].format(am=am,n=n,u=g-old['price'],card=w.card,g=g*n,o=old['price']*n,f=g,of=old['price'])+" Shall I proceed?"); yield upd; yield Say("All done.")
    return p
sweep('tau2_conditional_instructions',list(A),mk,n=60)
