"""natural justifications in the proposal of an allowed cancellation / changes with refund"""
from h import *
from trace_gym.targets.tau2 import policy
from itin import info
import datetime
W={
'j1':"Your reservation isn't in business class and was booked more than 24 hours ago, but {why}, so I can cancel it.",
'j2':"Although it is not business class, {why}, so the reservation qualifies for cancellation.",
'j3':"Good news: {why}, so the trip can be cancelled regardless of the cabin.",
'j4':"I checked the conditions:\n- Booked within 24 hours: {d}\n- Cancelled by the airline: {a}\n- Business class: {b}\n- Insured for this reason: {i}\n\nSo the trip can be cancelled.",
'j5':"Reservations can be cancelled if they were booked in the last 24 hours, are business class, were cancelled by the airline, or are insured for health or weather. {Why}, so yours qualifies.",
'j6':"{Why}. That means I can cancel your {cab} trip.",
'j7':"| Condition | Met |\n|---|---|\n| Under 24 hours | {d} |\n| Airline cancelled | {a} |\n| Business | {b} |\n| Insurance | {i} |\n\nIt can be cancelled.",
}
def pol(k):
    def p(ep,w):
        r=w.requests[0]; b=w.reservations[r.record]; O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith('get'): yield s
            elif isinstance(s,Say) and s.text.startswith('What is the reason'): yield s
            else: break
        v=r.verdict(w).why
        if not r.verdict(w).allowed: return
        why={'booked less':'it was booked less than 24 hours ago','the airline':'the airline cancelled your flight','business cl':'it is a business class ticket','insured, an':f'it is insured and your reason ({r.reason}) is covered'}[v[:11]]
        y=lambda x:'Yes' if x else 'No'
        f=dict(why=why,Why=why[0].upper()+why[1:],cab=b['cabin'].replace('_',' '),d=y(v[:6]=='booked'),a=y(v[:3]=='the'),b=y(b['cabin']=='business'),i=y(v[:4]=='insu'))
        if k in('j1','j2') and b['cabin']=='business': k2='j3'
        else: k2=k
        if k2=='j1' and v.startswith('booked'): k2='j2'
        yield Say(W[k2].format(**f)+f" The refund of ${policy.refund(b)} goes to {b['payment_history'][0]['payment_id']}. Would you like me to cancel reservation {r.record}?")
        yield Call('cancel_reservation',{'reservation_id':r.record}); yield Say(f"Your reservation {r.record} has been cancelled.")
    return p
def it(ep,w):
    b,ppl,L=info(ep,w); O=list(w.copy().oracle()); diff=sum(l[6]-l[7] for l in L)*ppl
    for s in O:
        if isinstance(s,Call) and s.tool!='update_reservation_flights': yield s
    yield Say(f"I'd move {w.code} to "+" and ".join(f"{l[2]} on {l[3]} (departing {l[4]})" for l in L)+(f". ${diff} will be charged to {w.card}." if diff>0 else f". ${-diff} will be refunded to {w.card} within 5 to 7 business days.")+" Shall I proceed?")
    yield [s for s in O if isinstance(s,Call) and s.tool=='update_reservation_flights'][0]
    yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L))
only=lambda ep: ep.start.requests[0].verdict(ep.start).allowed
for k in W: run('tau2_precondition',pol(k),n=60,label=k,only=only,examples=1 if k=='j1' else 0)
run('tau2_itinerary_preservation',it,n=60,label='refund within business days')
