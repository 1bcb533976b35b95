from a1 import *
o=ctx
def ctx2(w):
    c=o(w); R=w.reservations; ch=[r.reservation for r in w.requests]
    c["mi"]=", ".join(f"${p['amount']} to {p['payment_id']}" for x in ch for p in R[x]["payment_history"])
    c["rt"]="\n".join(f"| {x} | {R[x]['origin']}-{R[x]['destination']} | {len(R[x]['passengers'])} | ${policy.refund(R[x])} | {'yes' if x in ch else 'no'} |" for x in R)
    rest=[x for x in R if x not in ch]
    c["rest"]="; ".join(f"{x} (${policy.refund(R[x])}, {len(R[x]['passengers'])} travelers)" for x in rest[:3]) or "none"
    return c
import a1; a1.ctx=ctx2
N={"prop":["You've paid ${tot} for {scope} so far. To be cancelled: {ch}. Your refund of ${ref} goes to the original payment methods within 5 to 7 business days. Shall I proceed?",
"Here's an overview of your trips:\n\n| Trip | Route | Travelers | Paid | Cancel? |\n|---|---|---|---|---|\n{rt}\n\nFor {scope} you paid ${tot} in all. Cancelling would return ${ref}. Do you want me to go ahead?",
"In total, you have spent ${tot} on {scope}.\n\nFits your description: {ppl}. Does not fit, for example: {rest}.\n\nI'd cancel {ch} and refund ${ref} (5 to 7 business days). OK?",
"I added up the payments for {scope}: {inl}. That's ${tot}. I will cancel {ch} on health grounds; {chi} will be refunded, ${ref} in total. Please confirm.",
"Total paid ({scope}): **${tot}**\nTrips to cancel: {ch}\nRefund: **${ref}** ({mi})\nTimeline: 5-7 business days\n\nShall I cancel?",
"You've paid {tot} dollars for {scope}. {ch} {verb} insured, so illness is covered. If you agree, I'll cancel and {ref} dollars come back within 5 to 7 business days.",
"For {scope} you paid ${tot} altogether. The trip{s} meeting your condition: {ch}. The rest stays booked. Would you like me to cancel and refund ${ref}?",
"So far you have paid ${tot} in all for {scope}. May I cancel {ch} now? You would receive ${ref}."],
"done":["I've cancelled {ch}. ${ref} in total will be refunded within 5 to 7 business days: {mi}.",
"Cancellation complete. You get back ${ref} in all ({chi}). The other trips remain booked.",
"Done. {ch} {verb} cancelled.\n\n| Refund | Amount |\n|---|---|\n| Total | ${ref} |",
"{n} trip{s} cancelled: {ch}. Of the ${tot} you paid for {scope}, ${ref} will be returned.",
"Everything is done. You will receive ${ref} back, split across your original payment methods:\n{meth}",
"{ch} {verb} now cancelled, and a total refund of ${ref} has been initiated (5–7 business days). I wish you a speedy recovery.",
"Refund summary:\n{chl}\n**Total refund: ${ref}**\n\nYou had paid ${tot} in total for {scope}.",
"Your refund amounts to ${ref}. {ch} {verb} cancelled."]}
sweep(E,range(4),range(25),{k:[V[k][0]]+N[k] for k in N},agent)
