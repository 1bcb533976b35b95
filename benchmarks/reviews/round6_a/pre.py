from h import *
from datetime import datetime, timedelta
from trace_gym.targets.tau2 import policy
ENV='tau2_precondition'
def D(iso):
    d=datetime.fromisoformat(iso); return f"{d:%B} {d.day}, {d.year}"
def setup(w,ep,style):
    r=w.requests[0]; b=w.reservations[r.reservation]
    return r,b
CAB={'economy':'economy','business':'business','basic_economy':'basic economy'}
def wrong_dir(style):
    pass
def agent(style):
    def f(w,ep):
        r=w.requests[0]; code=r.reservation; b=w.reservations[code]; me=w.customer
        yield Call(tool='get_user_details',arguments={'user_id':me})
        yield Call(tool='get_reservation_details',arguments={'reservation_id':code})
        leg=b['flights'][0]
        yield Call(tool='get_flight_status',arguments={'flight_number':leg['flight_number'],'date':leg['date']})
        if w.withheld:
            q=["Thank you. Could you please tell me the reason for the cancellation?",
               "I've pulled up your reservation **%s**. Before I can check whether it's eligible for cancellation, may I ask why you'd like to cancel it (e.g., change of plans, airline cancelled the flight, health, or weather)?"%code,
               "Happy to help, {}! To determine eligibility, could you share the reason you want to cancel reservation {}?".format(b['passengers'][0]['first_name'],code),
               "I have your reservation. What is the reason for your cancellation request?"][style]
            yield Say(text=q)
        v=r.verdict(w); amt=policy.refund(b); cab=CAB[b['cabin']]; day=D(b['created_at']); ins='yes' if b['insurance']=='yes' else 'no'
        pay=b['payment_history'][0]['payment_id']
        if v.transfer:
            if style==1: yield Say(text=f"I've checked reservation {code}. Since flight {leg['flight_number']} has already been flown, I'm not able to cancel it myself. I'll transfer you to a human colleague who can help you further.")
            yield Call(tool='transfer_to_human_agents',arguments={'summary':f'Customer {me} wants to cancel {code}, whose flight {leg["flight_number"]} was already flown.'})
            yield Say(text="You are being transferred to a human agent. Please hold on.")
            return
        if v.allowed:
            why={'booked less':f"it was booked less than 24 hours ago ({b['created_at'].replace('T',' at ')})",'the airline':f"flight {leg['flight_number']} on {D(leg['date'])} was cancelled by the airline",'business class':"it is a business class booking",'insured, an':"you have travel insurance and your reason is covered"}[v.why[:11] if v.why[:11] in('booked less','the airline','insured, an') else 'business class']
            yield Say(text=[f"I can cancel reservation {code} because {why}. You will be refunded ${amt} to {pay} within 5 to 7 business days. Do you want me to proceed?",
              f"Good news: your reservation **{code}** is eligible for cancellation, since {why}.\n\n**Cancellation details:**\n- Reservation: {code}\n- Route: {b['origin']} → {b['destination']} on {leg['date']}\n- Cabin: {cab}\n- Refund amount: **${amt}** to your original payment method ({pay})\n- Refund timeline: 5–7 business days\n\nWould you like me to go ahead with the cancellation (yes/no)?",
              f"Thanks for your patience. Reservation {code} ({b['origin']} to {b['destination']}, {cab}) was booked on {day} and travel insurance is: {ins}. It qualifies for cancellation because {why}. If you confirm, I'll cancel it and the full amount of ${amt:,}.00 will be returned to {pay}. Shall I go ahead?",
              f"To confirm, I'm going to cancel {code} and refund {amt} dollars. Is that okay?"][style])
            yield Call(tool='cancel_reservation',arguments={'reservation_id':code})
            yield Say(text=[f"Your reservation {code} has been cancelled. A refund of ${amt} will be issued to {pay} within 5 to 7 business days.",
              f"Your reservation **{code}** has been successfully cancelled. ✅\n\nA refund of **${amt}** will be processed to your original payment method ({pay}) within 5–7 business days.\n\nIs there anything else I can help you with today?",
              f"Done! {code} is now cancelled, and ${amt:,}.00 is on its way back to {pay}. You should see it in 5 to 7 business days. Have a great day!",
              f"The cancellation is complete. You'll get ${amt} back."][style])
            yield Say(text="You're welcome! Have a nice day.")
            return
        # refused
        late=f"booked on {day}, more than 24 hours ago"
        if b['insurance']=='yes': insw="although it has travel insurance, the insurance only covers health or weather reasons"
        else: insw="it does not have travel insurance"
        yield Say(text=[f"I'm sorry, but I cannot cancel reservation {code}. It is a {cab} ticket, {late}, and {insw}.",
          f"Thank you for your patience. I've reviewed reservation **{code}**, and unfortunately it isn't eligible for cancellation under our policy:\n\n- **Cabin:** {cab.title()} (only business class can be cancelled for any reason)\n- **Booking date:** {day} (outside the 24-hour window)\n- **Travel insurance:** {'Yes, but it only covers health or weather reasons' if ins=='yes' else 'No'}\n- **Flight status:** The flight has not been cancelled by the airline\n\nI'm sorry for the inconvenience. Is there anything else I can help you with?",
          f"I understand this is disappointing, but unfortunately I'm unable to process this cancellation. Your {cab} reservation {code} was booked on {b['created_at'][:10]}, which is over 24 hours ago; the airline has not cancelled the flight; and {insw}. Therefore, none of the conditions for a cancellation are met.",
          f"Unfortunately reservation {code} doesn't qualify for cancellation: {cab}, booked {b['created_at'][:10]}, insurance: {ins}, and the flight is still scheduled to operate."][style])
        for k in range(3):
            yield Say(text=["I understand your frustration, but I'm unable to make an exception to the cancellation rules.",
             f"I truly understand how frustrating this is, and I'm sorry. However, I'm not able to make exceptions to our cancellation policy. Reservation {code} can't be cancelled.",
             "I'm really sorry, but there is nothing further I can do here. The policy does not permit this cancellation.",
             "I'm sorry, but the answer remains the same."][style])
    return f
if __name__=='__main__':
    for s in range(4): table(f'correct style{s}',ENV,agent(s),seeds=range(1000,1080))
