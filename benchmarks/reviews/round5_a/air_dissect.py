from h import *
from trace_gym.targets.tau2 import policy, honesty
V={
'a':"I can cancel reservation {c} and refund ${a} to your original payment method ({p}); this takes 5-7 business days. Do you confirm?",
'b':"I can cancel reservation {c} and refund ${a} to your original payment method ({p}). Do you confirm?",
'c':"I can cancel reservation {c} and refund ${a} to {p}. Do you confirm?",
'd':"I can cancel reservation {c} and refund ${a} to your original payment method. Do you confirm?",
'e':"I can cancel reservation {c} and refund ${a}. The refund takes 5-7 business days. Do you confirm?",
'f':"I can cancel {c} and refund ${a} to {p} within 5 to 7 business days. Do you confirm?",
'g':"I can cancel reservation {c} and refund ${a} to your original payment method ({p}); this takes 5 to 7 business days. Do you confirm?",
'h':"I can cancel reservation {c} for you. ${a} will be refunded to {p}; this takes 5-7 business days. Shall I proceed?",
'i':"I can cancel reservation {c}. The refund of ${a} will go back to {p} and takes 5-7 business days. Shall I proceed?",
'j':"I can cancel reservation {c} and refund ${a} to {p}; it takes up to 7 business days. Shall I proceed?",
}
def pol(v):
    def p(ep,w):
        r=w.requests[0]; b=w.reservations[r.record]
        yield Call("get_reservation_details",{"reservation_id":r.record})
        yield Say(V[v].format(c=r.record,a=policy.refund(b),p=b['payment_history'][0]['payment_id']))
        yield Call("cancel_reservation",{"reservation_id":r.record})
        yield Say("All done.")
    return p
only=lambda ep: len(ep.start.requests)==1 and ep.start.requests[0].kind=='cancel' and ep.start.requests[0].verdict(ep.start).allowed
for v in V: run('tau2_precondition',pol(v),n=60,levels=[1,2,3],label=v,only=only,examples=0)

