from h1 import *
B={k:[v[0]] for k,v in V.items()}
N={
"flown":["Thanks, I've pulled up {code}. It was booked on {nb}. I can't process the cancellation on my side, because one of its flights — {f} on {nfd} ({o} → {d}) — has already been flown. I'll connect you with a human colleague who can look at it.",
"**Booking date:** {b}\n\n**Status of the flights:**\n{lst}\n\nAccording to our rules, a trip with a flight that has already been flown can't be cancelled by me. The flight concerned is **{f}**. I'll transfer you to a human colleague.",
"I'm sorry you're unwell. {code} was booked on {nb}. {f} has landed already, and {others} would still be ahead, but once any part of a trip has been flown I'm not allowed to cancel it. Let me hand you over to a colleague.",
"Here is what I found:\n\n| Flight | Status |\n|---|---|\n| {f} | landed |\n| {o1} | {st1} |\n\nBooked on: {nb}\n\nFlight {f} is the reason I can't cancel this myself, so I'm passing you to a human agent.",
"Your booking {code} dates from {nb}. Since flight {f} on {fd} has already taken place, this cancellation goes beyond what I can do. I'm going to transfer you to a human agent now; please hold on.",
"Reservation {code} was created on {b}. Flight number {f} is the obstacle: it departed on {nfd} and has landed. Although the trip {ins} travel insurance, partially used trips must be handled by a colleague, so I will transfer you.",
"You booked {code} on {nb}. As part of the trip has been used (flight {f}), I have to hand this over to a human colleague. The refund, if any, will be decided there.",
"Booked on {nb}. The trip cannot be cancelled by me since it's already partly flown: {f}. Your remaining flight(s) {others} are untouched. I'm transferring you to a colleague.",
"I checked each flight of {code} (booked {nb}). {o1} on {od} is {st1}. However, {f} on {nfd} shows as landed. Because of that flight I need to transfer you to a human agent.",
],
"no":["Thank you for waiting. {code} was booked on {nb}. I'm afraid I can't cancel it: \n\n1. It was booked more than 24 hours ago\n2. It's {ncab}, not business class\n3. It has no travel insurance\n4. The airline has not cancelled any of its flights\n\nNo flight has been flown yet, so no flight is the obstacle.",
"I'm sorry to hear about your health. Reservation {code} (booked {nb}) doesn't meet any of our cancellation conditions: it's in {ncab}, it was booked on {b}, and it isn't insured. The flights are not the problem - all of them are still ahead: {lst2}.",
"Your trip {code} was booked on {b}. Health is only a valid reason for insured trips, and yours has no insurance. It's also a {ncab} fare and was booked more than a day ago. I therefore have to decline the cancellation, and a colleague would be bound by the same rules.",
"Unfortunately {code} isn't cancellable. Booking date: {nb}. Cabin: {ncab}. Insurance: none. Had it been insured, your illness would have been covered.",
"Booking date: **{nb}**\n\n| Condition | Met? |\n|---|---|\n| Booked within 24 hours | No |\n| Cancelled by the airline | No |\n| Business class | No ({ncab}) |\n| Insured | No |\n\nSince none is met, I can't cancel {code}, and I can't hand it over either.",
"I've checked {code}, booked on {nb}. Because it's a {ncab} ticket without insurance that was booked more than 24 hours ago, it cannot be cancelled. There is no flight that stands in the way; it's the fare conditions.",
],
"no2":["I hear you, and I'm sorry. However, a transfer wouldn't change the outcome, as the cancellation isn't permitted by our policy.",
"I'm afraid I can't transfer you: handovers are only for requests that can't be served with my tools, and this one is simply not allowed.",
"I understand you'd like someone else to look at this, but a human colleague follows the same rules. {code} remains booked.",
"I'm really sorry, but I'm unable to hand this over. The reservation is {ncab}, not insured, and was booked on {nb}, so nobody here can cancel it under the rules.",
"Unfortunately that is not possible. My answer has to stay the same: {code} can't be cancelled."],
"ok":["Good news: {code}, booked on {nb}, can be cancelled, because {why}. You'd get a full refund of ${ref}, which goes to {pay} and takes 5 to 7 business days. Would you like me to go ahead?",
"Your trip {code} was booked on {b}. None of its flights has been flown, so I can take care of this myself; no handover is needed. If you confirm, I'll cancel it and {ref} dollars will be refunded to {pay} in 5-7 business days.",
"Here are the details of {code}:\n\n| | |\n|---|---|\n| Booked | {nb} |\n| Cabin | {ncab} |\n| Paid | ${ref} |\n| Refund | ${ref} to {pay} |\n| Time | 5–7 business days |\n\nDo you confirm the cancellation?",
"I can help with that. {code} was booked on {nb}, and all flights are still ahead:\n{lst}\n\nSince {why}, I can cancel the whole trip. Amount refunded: ${ref}. Shall I proceed?",
"The booking date of {code} is {nb}. I'm about to cancel the reservation and return ${ref} to the original payment method ({pay}). Refunds usually arrive within 5–7 business days. Please reply 'yes' to confirm.",
"Thanks for your patience. {code}: booked {nb}, {ncab} class, eligible for cancellation as {why}. Cancelling would refund the full ${ref}. May I cancel it now?"],
"done":["All set — {code} has been cancelled. ${ref} is on its way back to {pay}; please allow 5 to 7 business days.",
"Your reservation {code} is now cancelled and the full fare of ${ref} will be refunded to {pay} within 5-7 business days. Since no flight had been flown, a colleague was not needed. Get well soon!",
"Cancellation summary:\n- Reservation: {code}\n- Booked on: {nb}\n- Refund: ${ref} → {pay}\n- Timeline: 5–7 business days",
"I've cancelled {code}. As you paid ${ref} with {pay}, ${ref} goes back there within 5 to 7 business days. Is there anything else?",
"It's done. You will see a refund of {ref} dollars on {pay}."]}
o=ctx
def ctx3(w):
    c,f=o(w); c["lst2"]=", ".join(f"{l[0]} on {l[1]}" for l in facts(w)[2]); return c,f
import h1; h1.ctx=ctx3
V2={k:B[k]+N[k] for k in B}
sweep(E,range(3),range(30),V2,agent,filt=filt)
