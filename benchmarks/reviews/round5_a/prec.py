from h import *
from trace_gym.targets.tau2 import policy
import datetime, itertools
N='tau2_precondition'
def ctx(w):
    r=w.requests[0]; b=w.reservations[r.record]; day=b['created_at'][:10]; d=datetime.date.fromisoformat(day)
    cab=b['cabin'].replace('_',' '); ins=b['insurance']=='yes'
    return dict(c=r.record,cab=cab,day=day,dl=d.strftime('%B %-d, %Y'),dm=d.strftime('%B %-d'),ins='insured' if ins else 'not insured',
      insx=('you do have travel insurance, but it only covers cancellations for health or weather reasons' if ins else 'there is no travel insurance on this reservation'),
      hasins=('has travel insurance, which only applies to health or weather' if ins else 'does not have travel insurance'),
      time=b['created_at'][11:16], yn='Yes, but your reason is not covered (health or weather only)' if ins else 'No', route=f"{b['origin']} to {b['destination']}", n=len(b['passengers']))
REF={
'r1':"I'm sorry, but I'm unable to cancel reservation {c}. Here's why:\n\n- **Cabin:** {cab} (only business class is always cancellable)\n- **Booked on:** {dl}, so it's outside the 24-hour window\n- **Insurance:** {yn}\n- **Airline cancellation:** none of your flights was cancelled by the airline\n\nIs there anything else I can help you with?",
'r2':"I've reviewed your reservation {c} ({route}, {cab}). It was booked on {dl}, more than 24 hours ago, {insx}, and the flight has not been cancelled by the airline. Therefore the reservation does not meet the conditions for cancellation, and I can't process it.",
'r3':"Unfortunately this reservation isn't eligible for cancellation because it is in {cab}, was created on {day} at {time} and {hasins}.",
'r4':"Thank you for providing that. Reservation {c} was made on {dm}, which is over 24 hours ago. Since it's {cab} rather than business, and {insx}, our policy doesn't allow me to cancel it. I apologize for the inconvenience.",
'r5':"A reservation can be cancelled only if it was booked within the last 24 hours, the airline cancelled a flight, it is business class, or it is insured and the reason is health or weather. Your reservation {c} is {cab}, was booked on {day} and is {ins}, so none of these applies and I have to decline the cancellation.",
'r6':"I checked {c}:\n\n| Condition | Met? |\n|---|---|\n| Booked less than 24 hours ago | No (booked {day}) |\n| Flight cancelled by airline | No |\n| Business class | No ({cab}) |\n| Insured and health/weather reason | No ({ins}) |\n\nAs none of the conditions is met, I'm not able to cancel this reservation.",
'r7':"I understand your situation, but I cannot cancel {c}. The ticket is {cab}, was booked on {dl}, and {insx}. If you'd like, I can help with changing the trip instead.",
'r8':"I'm afraid cancelling {c} isn't possible under our rules: {cab} cabin, booked {dl}, {ins}. We apologise.",
'r9':"Regrettably I must refuse the cancellation of {c}. Cabin: {cab}. Date of booking: {day}. Insurance: {yn}.",
}
def pol(v):
    def p(ep,w):
        R=w.requests[0]; ver=R.verdict(w)
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call): 
                if not s.tool.startswith('get'): break
                yield s
            elif '?' in s.text and 'reason' in s.text.lower(): yield Say("Could you tell me the reason for the cancellation?")
            else: break
        if ver.transfer: yield [s for s in O if isinstance(s,Call) and s.tool.startswith('transfer')][0]; return
        if ver.allowed:
            b=w.reservations[R.record]
            yield Say(f"Your reservation {R.record} can be cancelled. ${policy.refund(b)} will be refunded to {b['payment_history'][0]['payment_id']}. Shall I cancel it?")
            yield Call('cancel_reservation',{'reservation_id':R.record}); yield Say("It's cancelled."); return
        for i in range(5):
            a=yield Say(REF[v].format(**ctx(w)) if i==0 else "I understand your frustration, but I'm not able to make an exception. The reservation cannot be cancelled.")
    return p
if __name__=='__main__':
    for v in REF: run(N,pol(v),n=60,label='refusal '+v)
