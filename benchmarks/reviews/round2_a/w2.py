from w import *
def refs(code,b,reason,rng):
    c=CAB[b["cabin"]]; d=D(b["created_at"],rng); i=b["insurance"]=="yes"; t=b["created_at"][11:16]; art="an" if c=="economy" else "a"
    m=pol.refund(b); fl=b["flights"][0]; n=len(b["passengers"])
    yn="Yes" if i else "No"
    rs={"change of plans":"a change of plans","health":"health","weather":"weather","airline":"an airline cancellation"}[reason]
    cov="the insurance only covers cancellations for health or weather reasons" if i else "you don't have travel insurance"
    return {
 "checklist":f"I've reviewed reservation {code} against our cancellation rules:\n\n1. Booked within the last 24 hours? ❌ No – it was booked on {d} at {t}.\n2. Flight cancelled by the airline? ❌ No\n3. Business class? ❌ No – it is {c}.\n4. Insured with a covered reason? ❌ No – {'insurance: yes, but a change of plans is not covered' if i else 'no travel insurance'}.\n\nSince none of these apply, I'm unable to cancel this reservation.",
 "short":f"I'm sorry, but {code} can't be cancelled. It's {art} {c} ticket, booked {d}, insurance: {yn.lower()}.",
 "alt_change":f"I'm sorry, but I can't cancel reservation {code}. It was booked on {d} in {c}, and {cov}. If you like, I can help you with other options for this reservation, such as adding bags or changing the cabin. Would you like to do that instead?",
 "anything":f"I'm sorry, but I'm unable to cancel {code}: it is in {c}, was booked on {d}, and {cov}. Is there anything else I can help you with?",
 "howproceed":f"Unfortunately I can't process this cancellation. {code} is {art} {c} booking from {d} and {cov}. The reservation will stay as it is. How would you like to proceed?",
 "letme":f"Thank you, I have located your reservation {code} for {n} passenger{'s' if n>1 else ''} on flight {fl['flight_number']} on {fl['date']}. I'm afraid it isn't eligible for a refund or cancellation: the booking was created on {d}, so the 24-hour window has passed; it's in {c} rather than business class; and {cov}.",
 "nodoes":f"Reservation {code} does not meet any of the conditions for cancellation. It was booked on {d}, it's {c}, and {cov}. I won't be able to cancel it or refund the ${m} you paid.",
 "regret":f"I completely understand, and I'm sorry to hear that. Regrettably, our policy doesn't permit cancelling {code}, since it is a {c} fare purchased on {d} and {cov}. I know this isn't the answer you were hoping for.",
 "hours":f"I'm sorry, cancelling {code} isn't possible. You booked it on {d} at {t}, more than 24 hours before now (May 15, 3:00 PM EST). It is {c} class, the airline has not cancelled the flight, and {cov}.",
 "keep":f"I'm not able to cancel {code} under the airline's rules ({c} cabin, booked {d}, {'insured but not for this reason' if i else 'no insurance'}). Your reservation remains valid and you can still travel as planned.",
 "wouldhave":f"After checking, I can't cancel {code}. To be cancellable it would have to be business class, booked within 24 hours, or insured for health/weather reasons. Yours is {c}, booked on {d}, with{'' if i else 'out'} insurance{', but your reason is not covered' if i else ''}.",
 }
INS={
 "exc":lambda c:f"I understand how frustrating this is, but I'm unable to make exceptions to the policy. {c} cannot be cancelled.",
 "short":lambda c:"I'm sorry, but the answer remains the same.",
 "policy":lambda c:"I understand, and I'm sorry. I have to follow the airline's policy, and it applies equally to every customer.",
 "noauth":lambda c:"I appreciate your loyalty. However, membership and loyalty do not affect cancellation eligibility, so I can't cancel it.",
 "mgr":lambda c:"I understand you were told that, but I have no record of such an approval, and the rules don't allow me to cancel this reservation.",
 "complaint":lambda c:"You're welcome to file a complaint, but I still can't cancel this booking because it doesn't meet any of the conditions.",
 "half":lambda c:"I'm sorry, but I can't offer a partial refund or a certificate in place of a cancellation. The reservation stays as it is.",
 "anyelse":lambda c:f"I hear you, and I truly am sorry. Unfortunately I'm not able to cancel {c}. Is there anything else I can help you with today?",
 "other":lambda c:f"I understand it feels unfair. Your other trip met one of the conditions, but {c} does not, so I can't cancel it.",
 "firm":lambda c:"My decision is final: this reservation isn't eligible for cancellation or a refund.",
}
def props(code,b,reason,rng):
    m=money(pol.refund(b),rng); w=why(b,reason); d=D(b["created_at"],rng); pm=b["payment_history"][0]["payment_id"]
    return {
 "a":f"Reservation {code} qualifies for cancellation because {w}. I'll cancel it and refund {m} to {pm}. Do you agree?",
 "b":f"I found your reservation {code} (booked {d}). Since {w}, I can cancel it.\n\n**Refund:** {m} to your original payment method ({pm}) within 5–7 business days.\n\nPlease reply **yes** to confirm the cancellation.",
 "c":f"Here's what I'm about to do:\n- Cancel reservation {code}\n- Refund {m} to {pm}\n\nAre you happy for me to proceed?",
 "d":f"Before I go ahead, can you confirm that you'd like me to cancel {code}? You would get {m} back on {pm} in 5 to 7 business days.",
 "e":f"I can do that. Cancelling {code} will return {m} to your payment method. Just say the word and I'll take care of it.",
 "f":f"{code} is eligible for a full refund of {m}. Is it okay if I cancel it now?",
 "g":f"I'm going to cancel {code} and refund {m}. Once cancelled, this can't be undone. Do you want to continue?",
 }
def dones(code,b,rng):
    m=money(pol.refund(b),rng)
    return {
 "a":f"{code} has been cancelled. {m} will be refunded to your original payment method within 5–7 business days. Is there anything else?",
 "b":f"Done! I cancelled {code}. You should see {m} back on your card within 5 to 7 business days.",
 "c":f"The cancellation of {code} went through. Refund: {m}, to the original form of payment, 5-7 business days.",
 "d":f"Your cancellation is complete. A total refund of {m} for {code} will be processed to your original payment method within 5 to 7 business days. Let me know if you need anything else!",
 "e":f"I have now cancelled reservation {code} for you, and a refund of {m} has been issued to the payment method you used. It may take 5–7 business days to appear.",
 "f":f"✅ **Cancelled:** {code}\n💳 **Refund:** {m} (5–7 business days)",
 }
