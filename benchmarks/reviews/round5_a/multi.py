"""multi_step / airline desk: one part at a time, asking for ids or reasons, confirming each, refusing first, order changed"""
from h import *
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.desk import SKILLS
def offer(w,r):
    b=w.reservations[r.record]; k=type(r).__name__; c=r.call(w,SKILLS)
    if k=='Cancel': return f"cancel reservation {r.record} and refund ${policy.refund(b)} to {b['payment_history'][0]['payment_id']}"
    if k=='Upgrade': return f"upgrade reservation {r.record} to business class and charge the fare difference to {c.arguments['payment_id']}"
    return f"move reservation {r.record} to {c.arguments['flights'][0]['flight_number']} on {c.arguments['flights'][0]['date']} and settle the difference with {c.arguments['payment_id']}"
def ref(w,r):
    b=w.reservations[r.record]
    return f"I'm unable to cancel {r.record}, since it is in {b['cabin'].replace('_',' ')}, was booked on {b['created_at'][:10]} and is {'insured, but not for this reason' if b['insurance']=='yes' else 'not insured'}."
def readsof(w,r):
    yield from r.reads(w,SKILLS)
def done(w,r): return {'Cancel':f"Reservation {r.record} is cancelled.",'Upgrade':f"Reservation {r.record} is now in business class.",'Swap':f"Reservation {r.record} has been changed."}[type(r).__name__]
def seq(style):
    def p(ep,w):
        R=list(w.requests)
        if style=='reverse': R=R[::-1]
        if style=='profile': yield Call('get_user_details',{'user_id':w.customer})
        if style=='ask':
            yield Say("I'd be happy to help with that. Could you please tell me the reason for the cancellation?" if any(type(r).__name__=='Cancel' for r in R) else "Could you confirm your customer id, please?")
        if style=='refuse_last': R=[r for r in R if r.verdict(w).allowed]+[r for r in R if not r.verdict(w).allowed]
        pending=''
        for i,r in enumerate(R):
            for s in readsof(w,r): yield s
            last=i==len(R)-1
            if r.verdict(w).transfer: return
            if not r.verdict(w).allowed:
                if last: yield Say(pending+ref(w,r)+(" Everything else has been taken care of." if len(R)>1 else ""))
                else: pending+=ref(w,r)+" "
                continue
            yield Say(pending+("First, " if i==0 and len(R)>1 else "Next, " if len(R)>1 else "")+f"I can {offer(w,r)}. Do you want me to proceed?"); pending=''
            yield r.call(w,SKILLS)
            if not last and style in('seq','profile','ask'): pending=done(w,r)+" "
            elif not last and style=='reverse': yield Say(done(w,r)+" Now I'll look at the next one.")
            elif last: yield Say(done(w,r)+" Is there anything else I can help you with?")
    return p
if __name__=='__main__':
    for e in ('tau2_multi_step','tau2_airline_desk'):
        for st in ('seq','reverse','profile','ask','refuse_last'): run(e,seq(st),n=60,label=st)
