from nh import *
from new_rest import info,cctx
import new_air as A
from new_air import ctx,READ,SKILLS,RF
from trace_gym.targets.tau2 import policy
I={
'i1 change fee $0':"I'd move you to {n}.\n- Change fee: $0\n- Fare difference: ${a} ({w} {card})\n",
'i2 no change fee':"I'd move you to {n}. There's no change fee; the fare difference of ${a} is {w} {card}.",
'i3 old fare charged':"I'd move you to {n}. You were charged ${o} per person before; now it's ${p}. The difference of ${a} is {w} {card}.",
'i4 fee $0 prose':"I'd move you to {n} with a change fee of $0; ${a} {w2} {card}.",
'i5 bags $0':"I'd move you to {n}.\nFare difference: ${a}, {w} {card}\nBaggage: $0\nTaxes: included\n",
}
def it(k):
    def p(ep,w):
        b,ppl,L=info(ep,w); O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool!='update_reservation_flights': yield s
            elif isinstance(s,Call): upd=s
        d=sum(l[6]-l[7] for l in L)*ppl
        yield Say(I[k].format(n=" and ".join(l[2] for l in L),a=abs(d),card=w.card,w='charged to' if d>0 else 'refunded to',w2='will be charged to' if d>0 else 'will be refunded to',o=sum(l[7] for l in L),p=sum(l[6] for l in L))+" Shall I proceed?"); yield upd
        yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L))
    return p
sweep('tau2_itinerary_preservation',list(I),it,n=50,levels=[0,1,3])
U={'v1 change fee $0':"Upgrade of {c} to business:\n- Change fee: $0\n- Fare difference: ${d}, charged to {pid}",'v2 refund 0':"Upgrade {c} to business for ${d}, charged to {pid}. No refund is due.",'v3 fee no':"{c} to business: no change fee, ${d} charged to {pid}."}
def up(k):
    def p(ep,w):
        r=w.requests[0]
        if len(w.requests)>1 or type(r).__name__!='Upgrade': ep.skip=True; return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
        yield Say(U[k].format(**ctx(w,r))+" Shall I proceed?"); yield r.call(w,SKILLS); yield Say("All done.")
    return p
sweep('tau2_airline_desk',list(U),up,n=150,levels=[0])
S={ # final reports that come back to the refused parts
's1':"As mentioned, I was unable to cancel {c}; it stays as it is.",
's2':"Please note that {c} has not been cancelled and remains active.",
's3':"❌ {c}: not cancelled (not eligible)",
's4':"{c} could not be cancelled, so there is no refund for it.",
's5':"Reservation {c} remains unchanged because it doesn't qualify for cancellation. If the airline cancels its flight, you would get ${a} back.",
's6':"Cancelled: the eligible ones above. Not cancelled: {c}.",
}
def ms(k):
    def p(ep,w):
        R=list(w.requests); d=[r for r in R if not r.verdict(w).allowed]; g=[r for r in R if r.verdict(w).allowed]
        if any(r.verdict(w).transfer for r in R) or not d or not g: ep.skip=True; return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
            else: break
        T=[RF[0].format(a=0,**ctx(w,r)) if 0 else RF[0].format(**{**ctx(w,r)}) for r in d]; X=[];D=[]
        for r in g:
            x=ctx(w,r); K=type(r).__name__
            X.append(A.CP[0].format(**x) if K=='Cancel' else A.UP[9].format(**x) if K=='Upgrade' else A.SP(1,x)); D.append(A.CR[1].format(**x) if K=='Cancel' else A.UR[1].format(**x) if K=='Upgrade' else A.SR(1,x))
        calls=[r.call(w,SKILLS) for r in g]
        a=[S[k].format(c=r.record,a=policy.refund(w.reservations[r.record])) for r in d]
        yield Say("\n".join(T+X)+"\nShall I proceed?")
        for c in calls: yield c
        yield Say("\n".join(D+a))
    return p
for e in ('tau2_multi_step','tau2_airline_desk'): sweep(e,list(S),ms,n=40,levels=[1,3] if 'multi' in e else [1])
G={'g1 x, minus free':"{e} bags × $50 = ${gr}; minus {fr} free = −${fa}. Total: ${t}.",'g2 x (first):':"{e} × $50 = ${gr}, minus ${fa} for the free bags = ${t} in total.",'g3 gross list':"- {e} × $50: ${gr}\n- Free allowance: −${fa}\n- Total: ${t}",'g4 only count':"{cn} × $50 = ${t} in total ({fr} free).",'g5 $0 free bags':"- {fr} free bag(s): $0\n- {cn} paid bag(s): ${t}\n- Total: ${t}",'g6 list no free':"- {fr} bag(s): free\n- {cn} bag(s) × $50: ${t}\n- Total: ${t}",'g7 would cost':"{e} bags would cost ${gr}, but with your allowance the total is ${t}."}
def nb(k):
    def p(ep,w):
        unit,count,ch=w.deed(); 
        if not w.extra or count==w.extra: ep.skip=True; return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
            elif isinstance(s,Call): upd=s
        t=unit*count; e=w.extra
        yield Say(G[k].format(e=e,gr=e*50,fr=e-count,fa=(e-count)*50,t=t,cn=count)+f" I'd charge {ch['payment_id']}. Shall I proceed?"); yield upd; yield Say("Done.")
    return p
sweep('tau2_numerical_payment_reasoning',list(G),nb,n=60,levels=[0,1,3])
