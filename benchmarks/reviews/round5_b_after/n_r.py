from r1 import *
o=ctx
def ctx(w):
    c=o(w); w=w.copy(); R=w.reservations
    c["tab"]="\n".join(f"| {x} | {y['origin']}→{y['destination']} | {y['flights'][0]['date']} | {y['cabin']} | ${policy.refund(y)} |" for x,y in R.items())
    c["parts"]=" + ".join(f"${p['amount']}" for p in R[c["code"]]["payment_history"])
    c["pm"]="\n".join(f"- ${p['amount']} to {p['payment_id']}" for p in R[c["code"]]["payment_history"])
    c["cands"]=", ".join(x for x,y in R.items() if (y["origin"],y["destination"])==(R[c["code"]]["origin"],R[c["code"]]["destination"]))
    return c
import r1; r1.ctx=ctx
N={"prop":["The trip you mean is {code} ({o}-{d}, {nd}). You'd receive ${ref} back within 5 to 7 business days. Shall I cancel it?",
"Here is what I found:\n\n| Trip | Route | Departure | Cabin | Paid |\n|---|---|---|---|---|\n{tab}\n\nThe one that fits your description is **{code}**. Since it's insured, I can cancel it for health reasons. Shall I go ahead?",
"Several of your trips go from {o} to {d}: {cands}. Of these, only {code} fits your description. I will cancel {code}, and ${ref} will be refunded in 5-7 business days. Do you confirm?",
"I've identified it: reservation number {code}, {cab}, departing on {date} with {mates}. As it is insured and you're not allowed to fly for medical reasons, it qualifies for a full refund ({parts} = ${ref}). May I proceed with the cancellation?",
"Your reservation number is {code}. Before I cancel it, please confirm that this is the right one: {o} to {d} on {nd}, {n} passenger(s). The refund of ${ref} would take 5 to 7 business days.",
"The number is {code}. It isn't in business class or booked in the last 24 hours, but the insurance covers illness. Should I cancel it?" ,
"That's {code}. Your refund would be:\n{pm}\n\nTotal: ${ref}. For comparison, {other} (${oref}) would not be affected. Would you like me to cancel {code}?",
"{code} is the one with the details that you gave me, not {other}, which departs on {odate}. If you're fine with it, I'll cancel {code}; the refund is paid within 5–7 business days to the original payment methods.",
"I found the reservation: {code}. None of its flights has been flown and it includes travel insurance, so a cancellation for health reasons is possible. Please reply \"yes\" if I should cancel it."],
"done":["{code} has been cancelled. Total refund: ${ref} ({parts}), to be returned within 5 to 7 business days.",
"Your trip is cancelled. The refund breaks down as follows:\n{pm}\n\nIn all you get ${ref} back.",
"The cancellation of {code} went through. You get {ref} dollars back, which is everything you paid for it. {other} stays booked.",
"Done: {code} cancelled, ${ref} refunded to the original payment method(s), 5–7 business days. I hope you feel better soon.",
"I've cancelled reservation {code}. You should see the ${ref} in your account in 5 to 7 business days.",
"| Reservation | Status | Refund |\n|---|---|---|\n| {code} | cancelled | ${ref} |",
"Reservation {code} is cancelled. Amount to be refunded: ${ref}. It was originally paid with {pay}.",
"The trip from {o} to {d} on {nd} has been cancelled and you will be refunded ${ref} in total."]}
sweep(E,range(3),range(25),{k:[V[k][0]]+N[k] for k in N},agent)
