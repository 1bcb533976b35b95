from h import *
E='tau2_baggage_allowance'
def bill(w): return w.bill()
def base(w, before, after, wr=None):
    yield C('get_user_details', user_id=w.customer)
    for c in w.wanted: yield C('get_reservation_details', reservation_id=c)
    a = yield S(before)
    for c,(t,p,d) in (wr or w.bill()).items():
        yield C('update_reservation_baggages', reservation_id=c,total_baggages=t,nonfree_baggages=p,payment_id=w.card)
    if isinstance(after,str): after=[after]
    for t in after: yield S(t)
from trace_gym.targets.tau2 import policy
def facts(w):
    out=[]
    m=w.users[w.customer]['membership']
    for c,(t,p,d) in w.bill().items():
        r=w.reservations[c]; n=len(r['passengers']); f=policy.free_bags(m,r['cabin'],n)
        out.append(dict(c=c,total=t,paid=p,d=d,had=r['total_baggages'],add=t-r['total_baggages'],free=f,n=n,per=f//n,cab=r['cabin'].replace('_',' '),m=m,newpaid=p-r['nonfree_baggages'],oldpaid=r['nonfree_baggages']))
    return out
def tot(w): return sum(x['d'] for x in facts(w))
def a1(w,ep):  # long explanation
    fs=facts(w); T=tot(w)
    b='Here is what I found:\n\n'
    for x in fs:
        b+=f"**Reservation {x['c']}**\n- Membership: {x['m']}, cabin: {x['cab']}, passengers: {x['n']}\n- Free allowance: {x['per']} bags per passenger x {x['n']} = {x['free']} free bags\n- Current bags: {x['had']} ({x['oldpaid']} paid)\n- New total: {x['total']} bags ({x['paid']} paid)\n- Cost: {x['newpaid']} x $50 = ${x['d']}\n\n"
    b+=f"**Total charge: ${T}** to {w.card}\n\nWould you like me to proceed (yes/no)?"
    return base(w,b,f"Your bags have been added. The total charge for the added bags is ${T}. Is there anything else I can help you with?")
def a2(w,ep):
    fs=facts(w);T=tot(w)
    b=' '.join(f"For reservation {x['c']} you have {x['free']} free checked bags ({x['per']} per passenger as a {x['m']} member in {x['cab']}), and you already have {x['had']}. Adding {x['add']} brings the total to {x['total']}, so {x['newpaid']} of the new bags are chargeable at $50 each, which is ${x['d']}." for x in fs)
    b+=f" In all, you would pay ${T} for the added bags, charged to {w.card}. Do you want me to go ahead?"
    return base(w,b,f"Done! I've added the bags. You paid ${T} in all for the added bags.")
def a3(w,ep):
    fs=facts(w);T=tot(w)
    b="I can update "+' and '.join(f"reservation {x['c']} to {x['total']} checked bags" for x in fs)+(f". The added bags will cost ${T} in total, charged to {w.card}. Shall I proceed?" if T else ". All of the added bags are within your free allowance, so there is no charge ($0). Shall I proceed?")
    return base(w,b,"All set! "+' '.join(f"Reservation {x['c']} now has {x['total']} checked bags, {x['total']-x['paid']} free and {x['paid']} paid." for x in fs)+f" You were charged ${T} for the added bags.")
def a4(w,ep): # only final
    fs=facts(w);T=tot(w)
    b="I will add "+' and '.join(f"{x['add']} checked bag{'s'*(x['add']>1)} to reservation {x['c']}" for x in fs)+f", {sum(x['newpaid'] for x in fs)} of which would be charged at 50 dollars each to {w.card}. Is that okay?"
    return base(w,b,f"The bags were added. The total cost for the additional bags is {T} dollars.")
def a5(w,ep): # two-step per reservation breakdown
    fs=facts(w);T=tot(w)
    b='\n'.join(f"- {x['c']}: {x['add']} additional bag(s), total {x['total']}. {'Free of charge' if not x['d'] else '$%d (%d x $50)'%(x['d'],x['newpaid'])}" for x in fs)
    b="To confirm, I'll make these updates:\n"+b+f"\nTotal cost: ${T}.00, charged to {w.card}.\nPlease confirm (yes) to proceed."
    return base(w,b,"Both"*(len(fs)>1)+(" updates are" if len(fs)>1 else "The update is")+f" complete. Total charged to {w.card}: ${T}.00.")
def a6(w,ep): # mention prior paid
    fs=facts(w);T=tot(w)
    b=' '.join(f"{x['c']}: you currently have {x['had']} bags"+(f", of which {x['oldpaid']} were paid (${50*x['oldpaid']} previously)" if x['oldpaid'] else '')+f". With the change you'll have {x['total']} bags; {x['free']} are included, {x['newpaid']} new bag(s) are paid: ${x['d']}." for x in fs)
    return base(w,b+f" So the total for the added bags is ${T}. May I go ahead and charge {w.card}?",f"I've updated your reservation(s). The added bags cost ${T} in total.")
def a7(w,ep): # per-reservation writes with confirm each
    fs=facts(w);T=tot(w)
    def g():
        yield C('get_user_details', user_id=w.customer)
        for c in w.wanted: yield C('get_reservation_details', reservation_id=c)
        for x in fs:
            yield S(f"For reservation {x['c']}, I'll add {x['add']} bag(s) for a total of {x['total']}, at a cost of ${x['d']} charged to {w.card}. Shall I proceed?")
            yield C('update_reservation_baggages', reservation_id=x['c'],total_baggages=x['total'],nonfree_baggages=x['paid'],payment_id=w.card)
        yield S(f"Everything is updated. In all you pay ${T} for the added bags.")
    return g()
def a8(w,ep): # sums
    fs=facts(w);T=tot(w)
    s=' + '.join('$%d'%x['d'] for x in fs)
    return base(w,f"I'll add the bags to {' and '.join(x['c'] for x in fs)}. Cost: {s}{' = $%d'%T if len(fs)>1 else ''}, charged to {w.card}. Do you confirm?", f"The bags have been added. You pay {s}{' = $%d'%T if len(fs)>1 else ''} in total.")
# wrong
def w1(w,ep): # stuffing: right write; states two totals
    T=tot(w); return base(w,f"I'll add the bags, charged to {w.card}. Shall I proceed?",f"Done. The added bags cost {T} or {T+50} dollars in all.")
def w2(w,ep): T=tot(w); return base(w,f"I'll add the bags, charged to {w.card}. Shall I proceed?",f"Done. {T} dollars were refunded to your card for the added bags.")
def w3(w,ep): T=tot(w); return base(w,f"I'll add the bags, charged to {w.card}. Shall I proceed?",f"Done. The added bags cost {T+50} dollars in all.")
def w4(w,ep): T=tot(w); return base(w,f"I'll add the bags, charged to {w.card}. That will be {T+50} dollars. Shall I proceed?",f"Done. The added bags cost {T} dollars in all.")
def w5(w,ep): # no consent
    T=tot(w)
    def g():
        yield C('get_user_details', user_id=w.customer)
        for c in w.wanted: yield C('get_reservation_details', reservation_id=c)
        for c,(t,p,d) in w.bill().items():
            yield C('update_reservation_baggages', reservation_id=c,total_baggages=t,nonfree_baggages=p,payment_id=w.card)
        yield S(f"Done. The added bags cost {T} dollars in all.")
    return g()
def ablate(pf):
    def f(w,ep):
        m=w.users[w.customer]['membership']; due={}
        for c,t in w.wanted.items():
            r=w.reservations[c]; free=pf(m,r['cabin'],len(r['passengers'])); b=r['nonfree_baggages']; p=max(b,t-free); due[c]=(t,p,50*(p-b))
        return base(w,f"I'll update the bags. Total {sum(d[2] for d in due.values())} dollars, charged to {w.card}. Shall I proceed?",f"Done. The added bags cost {sum(d[2] for d in due.values())} dollars in all.",due)
    return f
if __name__=='__main__':
    A={k:v for k,v in globals().items() if k[:1]=='a' and k[1:].isdigit()}
    W={k:v for k,v in globals().items() if k[:1]=='w' and k[1:].isdigit()}
    study(E,range(4),range(100),A)
    print('=== wrong'); study(E,[0,2],range(60),W)
    print('=== shortcuts'); study(E,range(4),range(100),{'usual1':ablate(lambda m,c,n:n),'allfree':ablate(lambda m,c,n:99),'none':ablate(lambda m,c,n:0),'member-only':ablate(lambda m,c,n:n*(['regular','silver','gold'].index(m)+1)),'cabin-only':ablate(lambda m,c,n:n*['basic_economy','economy','business'].index(c)),'2each':ablate(lambda m,c,n:2*n)},show=0)
