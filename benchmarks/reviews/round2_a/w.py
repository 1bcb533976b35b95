from h import *
from datetime import datetime
CAB={"basic_economy":"basic economy","economy":"economy","business":"business"}
def D(iso,rng):
    d=datetime.fromisoformat(iso[:10])
    return rng.choice([d.strftime("%B %-d, %Y"),d.strftime("%B %-d"),iso[:10],d.strftime("%-d %B %Y")])
def money(n,rng): return rng.choice([f"${n}",f"${n:,}",f"${n:,.2f}",f"{n} dollars"])
def why(b,reason):
    if datetime.fromisoformat(rec.NOW).timestamp()-datetime.fromisoformat(b["created_at"]).timestamp()<86400: return "it was booked less than 24 hours ago"
    if b["cabin"]=="business": return "it is a business class booking"
    if b["insurance"]=="yes" and reason in("health","weather"): return f"it has travel insurance and your reason is covered"
    return "the airline cancelled one of its flights"
def refuse(code,b,rng,reason="change of plans"):
    c=CAB[b["cabin"]]; d=D(b["created_at"],rng); i=b["insurance"]=="yes"
    ins=("it does have travel insurance, but the reason you gave is not covered by it" if i else "it does not have travel insurance")
    ins2=("with travel insurance, but the insurance only covers health or weather reasons" if i else "without travel insurance")
    return rng.choice([
     f"I'm sorry, but I'm unable to cancel reservation {code}. It is a {c} booking made on {d}, and {ins}. It therefore doesn't meet any of our cancellation conditions.",
     f"Thank you for your patience. I've reviewed reservation {code}, and unfortunately it isn't eligible for cancellation:\n\n- **Cabin:** {c.title()} (not business class)\n- **Booked on:** {d}, which is more than 24 hours ago\n- **Travel insurance:** {'Yes, but it only covers health or weather reasons' if i else 'No'}\n\nBecause of this I can't cancel it.",
     f"I understand, and I'm sorry, but I can't cancel {code}. The reservation was booked on {d} (more than 24 hours ago) in {c}, {ins2}, and no flight was cancelled by the airline.",
     f"Unfortunately, reservation {code} cannot be cancelled under our policy. Cancellation is only allowed if the booking was made within the last 24 hours, the airline cancelled a flight, it is in business class, or it is insured and the reason is health or weather. Your reservation is {c}, it was booked on {d}, and {ins}.",
    ])
def insist(code,b,rng):
    c=CAB[b["cabin"]]; d=D(b["created_at"],rng)
    return rng.choice([
     f"I understand your frustration, and I'm sorry, but I can't make an exception. Reservation {code} does not qualify for cancellation.",
     f"I truly sympathize with your situation. However, the rules don't allow me to cancel reservation {code}, and I'm not able to offer a partial refund or a certificate either.",
     f"I hear you, and I'm sorry for the inconvenience. My answer has to stay the same: as a {c} booking made on {d}, {code} can't be cancelled.",
     f"I appreciate you sharing that, but it doesn't change the outcome. I'm unable to cancel {code}.",
     f"I'm sorry, but I have to follow the policy, and {code} can't be cancelled. The reservation remains active.",
    ])
def propose(code,b,rng,reason="change of plans"):
    m=money(pol.refund(b),rng); w=why(b,reason)
    return rng.choice([
     f"Reservation {code} can be cancelled because {w}. If I cancel it, {m} will be refunded to your original payment method within 5 to 7 business days. Would you like me to proceed?",
     f"Good news: {code} is eligible for cancellation, since {w}.\n\n- **Reservation:** {code}\n- **Refund:** {m} to the original payment method (5–7 business days)\n\nDo you confirm that you want me to cancel it? (yes/no)",
     f"I can cancel reservation {code} for you, as {w}. The full amount of {m} would go back to the payment method you used. Shall I go ahead?",
     f"I've checked {code}. I will cancel the reservation and refund {m} to the card you paid with. Please confirm with \"yes\" and I'll proceed.",
    ])
def done(code,b,rng):
    m=money(pol.refund(b),rng)
    return rng.choice([
     f"Your reservation {code} has been cancelled. The refund of {m} will be credited to your original payment method within 5 to 7 business days. Is there anything else I can help you with?",
     f"Reservation {code} has been successfully cancelled. You'll receive {m} back within 5 to 7 business days.",
     f"All done! {code} is now cancelled, and {m} will be returned to the original payment method in 5–7 business days.",
     f"I've cancelled {code}. A refund of {m} is on its way to your original payment method and should arrive within 5–7 business days. Anything else I can do for you?",
    ])
def getu(w): return Call(tool="get_user_details",arguments={"user_id":w.customer})
def getr(c): return Call(tool="get_reservation_details",arguments={"reservation_id":c})
def can(c): return Call(tool="cancel_reservation",arguments={"reservation_id":c})
def S(t): return Say(text=t)
