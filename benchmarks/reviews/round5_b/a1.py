from lib import *
E="tau2_aggregation"
def ctx(w):
    ch=[r.reservation for r in w.requests]; R=w.reservations; paid={c:policy.refund(b) for c,b in R.items()}
    asked=[w.named] if w.named else list(R)
    c=dict(ch=" and ".join(ch) if len(ch)<3 else ", ".join(ch[:-1])+" and "+ch[-1],tot=sum(paid[x] for x in asked),ref=sum(paid[x] for x in ch),n=len(ch),s="s" if len(ch)>1 else "",
     lst="\n".join(f"- {x}: ${paid[x]}" for x in asked),inl=", ".join(f"{x} ${paid[x]}" for x in asked),chl="\n".join(f"- {x}: ${paid[x]}" for x in ch),chi=" and ".join(f"${paid[x]} for {x}" for x in ch),sumx=" + ".join(f"${paid[x]}" for x in asked),
     ppl=", ".join(f"{x} ({len(R[x]['passengers'])} travelers, ${paid[x]})" for x in ch),meth="\n".join(f"- ${p['amount']} to {p['payment_id']}" for x in ch for p in R[x]["payment_history"]),scope=f"trip {w.named}" if w.named else "all your trips",verb="is" if len(ch)==1 else "are",
     tab="\n".join(f"| {x} | ${paid[x]} | {len(R[x]['passengers'])} |" for x in asked))
    return c
V={"prop":["You paid {tot} dollars in all. I am going to cancel {ch}, and {ref} dollars go back to the methods that paid. Do you agree?",
"You have paid a total of ${tot} for {scope}. The reservation{s} to cancel would be {ch}. The refund would be ${ref} in total. Would you like me to proceed with the cancellation?",
"I looked at {scope}:\n{lst}\n\n**Total paid: ${tot}**\n\nBased on your request, I would cancel:\n{chl}\n\nTotal refund: ${ref}. Do you want me to go ahead?",
"The total you have paid for {scope} is ${tot}. What you describe fits {ppl}. Since your bookings are insured and you are ill, I can cancel {ch}. Total refund: ${ref}. Shall I proceed?",
"In total you've paid ${tot} for {scope} ({inl}). I'll cancel {ch} and you'll get ${ref} back. Do you confirm?",
"You've spent {tot} dollars on {scope} so far. I can cancel {ch} because of your illness; you would get back {chi}, that is ${ref} in all. Shall I go ahead?",
"Total paid for {scope}: ${tot}.\n\nTo be cancelled: {ch}\nRefund: ${ref} (to the original payment methods)\n\nIs that okay?",
"{scope}: {sumx} = ${tot} in total.\n\nI will cancel {ch}. You get ${ref} back. May I proceed?",
"Here is an overview:\n\n| Trip | Paid | Travelers |\n|---|---|---|\n{tab}\n\nYou paid ${tot} in total. I would cancel {ch} and refund ${ref}. Do you agree?",
],
"done":["It is cancelled. Of the {tot} dollars that you paid, {ref} go back to the methods that paid.",
"{ch} {verb} cancelled. You will get a total of ${ref} back within 5 to 7 business days.",
"Done! I've cancelled {ch}. Total refund: **${ref}**. It will arrive in 5-7 business days. Get well soon!",
"The cancellation is complete:\n{chl}\n\nTotal refund: ${ref}.",
"Your cancellation went through. Refund breakdown:\n{meth}\n\nIn all, ${ref} come back to you.",
"I have cancelled {ch}. You'll be refunded {chi}, for a total of ${ref}.",
"All set. {ch} {verb} cancelled and ${ref} will be refunded. To recap, you had paid ${tot} for {scope}.",
"{ch} {verb} cancelled. The full ${ref} you paid for this will be returned.",
"Cancelled: {ch}. Refund in all: ${ref}, out of the ${tot} you paid in total.",
"I've cancelled {ch}. The total amount coming back to you is ${ref}, which is what you paid for the cancelled trip{s}.",
]}
def agent(t,pick):
    w=t.w.copy(); c=ctx(w); t.call("get_user_details",user_id=w.customer)
    for x in w.reservations: t.call("get_reservation_details",reservation_id=x)
    t.say(pick("prop").format(**c))
    for r in w.requests: t.call("cancel_reservation",reservation_id=r.reservation)
    a=t.say(pick("done").format(**c)); k=0
    while a and k<2: a=t.say("Yes, everything that you asked for is done."); k+=1
if __name__=="__main__":
    sweep(E,range(4),range(30),V,agent)
