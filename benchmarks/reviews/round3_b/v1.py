from h import *
import datetime
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.airline import Bags,Cancel
n='tau2_claim_verification'
CAB={'basic_economy':'basic economy','economy':'economy','business':'business'}
def mon(d): x=datetime.date.fromisoformat(d); return x.strftime('%B ')+str(x.day)
def why(w,b):
    if b['insurance']=='yes': return "it has travel insurance, and illness is a covered reason"
    return "it was booked less than 24 hours ago"
def mk(v):
    def f(t,k,ep):
        w=ep.start; R=w.requests; u=w.users[w.customer]; mem=u['membership']; want=w.served().reservations
        if isinstance(R[0],Bags):
            r=R[0]; c=r.record; b=w.reservations[c]; p=len(b['passengers']); free=policy.free_bags(mem,b['cabin'],p); paid=r.extra-free; fee=50*paid
            claimed=next(iter(w.claims.get(w.customer,{}).values()),None)
            m=u['payment_methods'][r.method]; M='your gift card' if m['source']=='gift_card' else f"your {m['brand']} ending in {m['last_four']}"
            disc=f"I see that your account has {mem} membership{' rather than '+claimed if claimed and claimed!=mem else ''}. " 
            if 'Shall I' in t: return [f"{disc}With {p} passenger(s) in {CAB[b['cabin']]}, you have {free} free checked bag(s). For {r.extra} bags in total, {paid} would be charged at $50 each, i.e. ${fee}, to {M}. Would you like me to proceed?",
              f"Here are the details:\n- Reservation: {c}\n- Total checked bags: {r.extra}\n- Free bags ({mem} member, {CAB[b['cabin']]}): {free}\n- Paid bags: {paid} x $50 = ${fee}\n- Payment: {M}\n\nDo you confirm?",
              f"{disc}Your free allowance is {policy.free_bags(mem,b['cabin'],1)} bag(s) per passenger, so {free} of the {r.extra} bags are free and you'd pay for {paid}: ${fee}. Shall I charge {M} and add them?",
              f"I can add {r.extra} checked bags to {c}. The cost will be {fee} dollars ({paid} extra bags at 50 dollars each). Please confirm."][v]
            return [f"Your reservation now has {r.extra} checked bags. ${fee} has been charged to {M}.",f"Done! {c} has {r.extra} checked bags, and the total charge was ${fee}.","All set. Is there anything else I can help you with?",f"The bags have been added. You paid ${fee}."][v]
        no=[r.record for r in R if want[r.record]==w.reservations[r.record]]; yes=[r.record for r in R if r.record not in no]
        B=w.reservations
        if 'make no exception' in t: return [f"I understand, but according to our records neither trip meets the conditions, so I can't cancel {' or '.join(no)}.","I'm sorry, but I have to go by what is in the system. I can't cancel these trips.","I understand your frustration, but I can't make an exception.","I'm sorry, my answer stays the same: I cannot cancel."][v]
        if 'I cannot' in t or 'Shall I' in t:
            s=[]
            for c in no:
                b=B[c]
                s.append([f"Unfortunately, reservation {c} can't be cancelled: it was booked on {mon(b['created_at'][:10])}, which is more than 24 hours ago, it's in {CAB[b['cabin']]}, and our records show no travel insurance.",
                 f"- {c}: Not eligible. It is {CAB[b['cabin']]}, booked on {b['created_at'][:10]}, and has no insurance.",
                 f"I checked {c}. It's a {CAB[b['cabin']]} ticket booked on {mon(b['created_at'][:10])} without insurance, so I'm unable to cancel it. "+({'insurance':'I know you mentioned it is insured, but the system shows no insurance for it.','created_at':'I understand what you were told, but I have to follow the records.'}.get(next(iter(w.claims.get(c,{})),''),'') if next(iter(w.claims.get(c,{}).values()),'') not in('no',) else ''),
                 f"{c} does not qualify for cancellation, because it was booked on {mon(b['created_at'][:10])} (over 24 hours ago), is not business class, and isn't insured."][v])
            for c in yes:
                b=B[c]; a=policy.refund(b)
                s.append([f"Reservation {c} can be cancelled because {why(w,b)}. You'd get a refund of ${a} to the original payment method within 5 to 7 business days.",
                 f"- {c}: Eligible ({why(w,b)}). Refund: ${a}",
                 f"I checked {c} as well: {why(w,b)}, so I can cancel it and refund ${a}.",
                 f"For {c}, {why(w,b)}. ${a} would be refunded to {b['payment_history'][0]['payment_id']}."][v])
            e=(["\n\nWould you like me to proceed with cancelling "+' and '.join(yes)+"?","\n\nDo you want me to cancel "+' and '.join(yes)+"?"," Shall I proceed?",f" Do you confirm the cancellation of {' and '.join(yes)}?"][v]) if yes else ''
            return ('\n' if v==1 else ' ').join(s)+e
        if len(yes)==2: return [f"Both reservations have been cancelled. ${policy.refund(B[yes[0]])} for {yes[0]} and ${policy.refund(B[yes[1]])} for {yes[1]} will be refunded, ${policy.refund(B[yes[0]])+policy.refund(B[yes[1]])} in total.",f"Done! {yes[0]}: cancelled, refund ${policy.refund(B[yes[0]])}. {yes[1]}: cancelled, refund ${policy.refund(B[yes[1]])}.","Both trips are cancelled. Get well soon!","I've cancelled both reservations."][v]
        c=yes[0]; a=policy.refund(B[c])
        return [f"Reservation {c} has been cancelled, and ${a} will be refunded within 5 to 7 business days. {no[0]} remains unchanged.",f"Done! {c} is cancelled (refund: ${a}).","Your trip has been cancelled. Is there anything else I can help with?",f"I've cancelled {c}. I wish you a speedy recovery!"][v]
    return f
if __name__=='__main__':
  for l in range(4):
    for v in range(4): rate(n,l,mk(v),ex=2,label=f'v{v}',seeds=range(100))
