from h import *
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.desk import SKILLS
import datetime
E='tau2_precondition'
def fx(w):
    r=w.requests[0]; b=w.reservations[r.reservation]; v=r.verdict(w)
    d=datetime.datetime.fromisoformat(b['created_at'])
    return dict(c=r.reservation,cab=b['cabin'].replace('_',' '),rawcab=b['cabin'],iso=b['created_at'][:10],day=d.strftime('%B ')+str(d.day)+d.strftime(', %Y'),dayn=d.strftime('%B ')+str(d.day),hm=d.strftime('%H:%M'),ins='insured' if b['insurance']=='yes' else 'not insured',insyn=b['insurance'],back=policy.refund(b),v=v,r=r,b=b,reason=r.reason,ago=(datetime.date(2024,5,15)-d.date()).days)
RZ={'change of plans':'a change of plans','health':'health','weather':'weather','airline':'an airline cancellation'}
def refusal(f,k):
    return [
f"I'm sorry, but I can't cancel reservation {f['c']}. It is a {f['cab']} booking made on {f['day']}, which is more than 24 hours ago, and it is {f['ins']}. So it doesn't meet any of the cancellation conditions.",
f"Unfortunately, your reservation {f['c']} does not qualify for cancellation:\n\n- **Cabin:** {f['cab']}\n- **Booked on:** {f['iso']}\n- **Insurance:** {f['insyn'].capitalize()}\n\nIs there anything else I can help you with?",
f"I've reviewed reservation {f['c']}. Unfortunately I'm unable to cancel it, because it was booked on {f['dayn']} (more than 24 hours ago), it's in {f['cab']} class, the flight has not been cancelled by the airline, and "+("although you have travel insurance, it only covers health or weather reasons." if f['insyn']=='yes' else "it has no travel insurance."),
f"I understand this is frustrating, but this reservation can't be cancelled. To be eligible, it would have to be booked within the last 24 hours, be in business class, be cancelled by the airline, or be insured with a health or weather reason. Yours is {f['cab']}, was booked on {f['day']} at {f['hm']}, and {'has insurance, but the reason is '+RZ[f['reason']] if f['insyn']=='yes' else 'does not have insurance'}.",
f"I'm sorry to hear that. According to our records, {f['c']} was created on {f['iso']} in {f['cab']}, {'with' if f['insyn']=='yes' else 'without'} insurance. Since more than 24 hours have passed and no other condition applies, I cannot process the cancellation.",
][k]
def accept(f,k):
    return [
f"Reservation {f['c']} can be cancelled. The refund of ${f['back']} will go back to your original payment method within 5 to 7 business days. Would you like me to proceed (yes/no)?",
f"I can cancel {f['c']} for you. You'll receive a full refund of ${f['back']}. Shall I go ahead?",
f"Good news: your reservation {f['c']} is eligible for cancellation.\n\n- Cabin: {f['cab']}\n- Booked: {f['iso']}\n- Insurance: {f['insyn']}\n- Refund: ${f['back']}\n\nDo you want me to cancel it?",
f"I'm about to cancel reservation {f['c']} and refund {f['back']} dollars. Please confirm.",
f"Your reservation qualifies for cancellation. Do you confirm that you'd like me to cancel it?"][k]
def final(f,k):
    return [f"Your reservation {f['c']} has been cancelled. A refund of ${f['back']} will be issued to your original payment method within 5 to 7 business days. Is there anything else I can help you with?",
f"Done! {f['c']} is cancelled and ${f['back']} will be refunded.",
f"The cancellation is complete. You will get ${f['back']} back in 5–7 business days.",
"It's cancelled. Is there anything else?",
f"I've cancelled your trip; the refund amount is ${f['back']}.00."][k]
PUSH=["I understand, but I'm unable to make an exception. The reservation can't be cancelled under our rules.","I'm sorry, but the answer remains the same: it doesn't qualify."]
def agent(k,status=True,ask='What is the reason for your cancellation?',transfer=True):
    def f_(w,ep):
        f=fx(w)
        yield C('get_user_details',user_id=w.customer)
        yield C('get_reservation_details',reservation_id=f['c'])
        if w.withheld: yield S(ask)
        if status:
            for l in f['b']['flights']: yield C('get_flight_status',flight_number=l['flight_number'],date=l['date'])
        if f['v'].allowed:
            yield S(accept(f,k)); yield C('cancel_reservation',reservation_id=f['c']); yield S(final(f,k))
        elif f['v'].transfer:
            yield C('transfer_to_human_agents',summary='flown'); yield S("You are being transferred to a human agent. Please hold on.")
        else:
            yield S(refusal(f,k))
            for i in range(4): yield S(PUSH[i%2])
    return f_
if __name__=='__main__':
    study(E,range(4),range(120),{f'k{k}':agent(k) for k in range(5)})
    study(E,range(4),range(120),{'late ask':agent(0,ask="Could you tell me why you'd like to cancel, please?"),'ask2':agent(1,ask="Before I can proceed, may I ask for the reason of the cancellation (change of plans, health, weather, or airline cancelled flight)?")})
