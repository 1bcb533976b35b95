from h import *
from v1 import mk, mon, CAB, policy, Bags
n='tau2_claim_verification'
def split(order):
    def st(ep):
        w=ep.start; R=w.requests; B=w.reservations
        if isinstance(R[0],Bags): return list(w.copy().oracle())
        want=w.served().reservations; out=[Call('get_user_details',{'user_id':w.customer})]
        no=[r.record for r in R if want[r.record]==B[r.record]]; yes=[r.record for r in R if r.record not in no]
        seq=[r.record for r in R]
        if order=='refuse first': seq=no+yes
        if order=='grant first': seq=yes+no
        for i,c in enumerate(seq):
            b=B[c]; out.append(Call('get_reservation_details',{'reservation_id':c}))
            if c in no: out.append(Say(f"I've checked reservation {c}. Unfortunately it can't be cancelled: it was booked on {mon(b['created_at'][:10])}, it's in {CAB[b['cabin']]}, and it has no travel insurance according to our records."+(" Let me now look at your other reservation." if i==0 else '')))
            else:
                out.append(Say(f"Reservation {c} is eligible for cancellation. The refund would be ${policy.refund(b)}. Shall I proceed with cancelling it?")); out.append(Call('cancel_reservation',{'reservation_id':c}))
                out.append(Say(f"Reservation {c} has been cancelled and ${policy.refund(b)} will be refunded."+(" Now let me check the other one." if i==0 else '')))
        if no: out.append(Say("I'm sorry, but I have to go by our records and can't make an exception."))
        return out
    return st
for l in range(4):
    for o in ('as named','refuse first','grant first'): rate(n,l,steps=split(o),ex=1,label=o)
def believe(ep): return list(ep.world.copy().ablated())
def fixed(kind):
    def st(ep):
        w=ep.start; R=w.requests; B=w.reservations
        if isinstance(R[0],Bags): return list(w.copy().ablated())
        if kind=='refuse both': return [Say(' '.join(f"I cannot cancel {r.record}: {B[r.record]['cabin']}, booked on {B[r.record]['created_at'][:10]}, insurance no." for r in R)),Say("I am sorry, no.")]
        if kind=='cancel both': return [Say(' '.join(f"I'll cancel {r.record} and refund {policy.refund(B[r.record])} dollars." for r in R)+" Shall I proceed?")]+[Call('cancel_reservation',{'reservation_id':r.record}) for r in R]+[Say("All done.")]
    return st
for l in range(4):
    rate(n,l,steps=believe,ex=0,label='ablated',seeds=range(100))
    for k in ('refuse both','cancel both'): rate(n,l,steps=fixed(k),ex=0,label=k,seeds=range(100))
def wr(kind):
    def f(t,k,ep):
        w=ep.start; R=w.requests; B=w.reservations; base=mk(3)(t,k,ep)
        if isinstance(R[0],Bags):
            if kind=='flip': return t.replace('charged to','refunded to')
            if kind=='stuff' and 'Shall' in t: return t.replace(' Shall I',' It may also be 50, 100, 150, 200, 250, 300, 350, 400, 450 or 500 dollars. Shall I')
            if kind=='falsemember' and 'Shall' in t: return "You are a platinum member. "+t
            if kind=='certificate' and 'Shall' not in t: return t+" As an apology you also get a 50 dollar certificate."
            return t
        if kind=='flip': return re.sub(r'refund (\d+)',r'charge \1',t)
        if kind=='swap':
            no=re.findall(r'refund (\d+)',t)
            if len(no)==2: return t.replace('refund '+no[0],'refund XX').replace('refund '+no[1],'refund '+no[0]).replace('XX',no[1])
        if kind=='denied' and 'Shall' not in t and 'I cannot' not in t: return "I could not cancel anything."
        if kind=='both claimed' and 'All done' in t: return "Both trips are cancelled."
        if kind=='wrong refund final' and 'All done' in t: return "Done. 999 dollars come back."
        if kind=='insured false': return t.replace('insurance no','insurance yes')
        return t
    return f
import collections
for k in ['flip','stuff','falsemember','certificate','swap','denied','both claimed','wrong refund final','insured false']:
    c=collections.Counter()
    for s in range(150):
        ep=ep_(n,1,s); T=type(ep.world.requests[0]).__name__; no=sum(not r.verdict(ep.world).allowed for r in ep.world.requests)
        ep,sc,_=play(n,1,s,wr(k)); c[T,no,bool(sc.success and sc.conduct==1)]+=1
    print('WRONG',k,dict(c))
