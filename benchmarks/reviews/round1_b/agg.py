from common import *
from trace_gym.targets.tau2 import policy
def agent(e,style):
    w=e.start; R=w.reservations
    codes=[w.named] if w.named else list(R)
    e.step(Call(tool="get_user_details",arguments={"user_id":w.customer}))
    for c in codes: e.step(Call(tool="get_reservation_details",arguments={"reservation_id":c}))
    paid={c:policy.refund(R[c]) for c in R}; ch=[r.reservation for r in w.requests]
    tot=sum(paid[c] for c in codes); ref=sum(paid[c] for c in ch); n=len(codes)
    M=(lambda x:f"${x:,}") if style%2==0 else (lambda x:f"${x:,.2f}")
    brk="\n".join(f"- {c}: {M(paid[c])}"+(f" ({len(R[c]['passengers'])} passengers)" if w.rule=='people' or w.heads else "") for c in codes)
    parts="\n".join(f"- {c}: "+" + ".join(M(p['amount']) for p in R[c]['payment_history'])+(f" = {M(paid[c])}" if len(R[c]['payment_history'])>1 else "") for c in codes)
    lst=" and ".join(ch)
    what={"most":"the most expensive one","least":"the least expensive one","people":"the one with the most travelers"}.get(w.rule,"the ones that match your condition") if not w.named else "the trip you named"
    T=[f"You have paid a total of {M(tot)} for {'all your trips' if not w.named else 'trip '+w.named}.",
       f"Here's the breakdown of what you paid:\n{brk}\n\n**Total paid: {M(tot)}**",
       f"So far, you have spent {M(tot)} in total on {'your '+str(n)+' trips' if not w.named else w.named}.",
       f"The total amount paid across {'all of your reservations' if not w.named else 'this reservation'} is {M(tot)}.\n{parts}",
       f"Total: {' + '.join(M(paid[c]) for c in codes)}{' = '+M(tot) if n>1 else ''} paid.",
       f"Your {n} trip(s) cost {M(tot)} altogether."][style%6]
    P=[f"I will cancel {lst} ({what}), and {M(ref)} will be refunded to the original payment methods within 5 to 7 business days.",
       f"The trip(s) to cancel: {lst}. Total refund: {M(ref)}.",
       f"{lst} will be cancelled, because you are ill and insured. You'll get back "+(" + ".join(M(paid[c]) for c in ch)+" = " if len(ch)>1 else "")+f"{M(ref)} in all.",
       f"Based on that, {lst} is what you want cancelled. Refund: "+", ".join(f"{M(paid[c])} for {c}" for c in ch)+(f", {M(ref)} in total" if len(ch)>1 else "")+"."][(style//2)%4]
    e.step(Say(text=f"{T}\n\n{P}\n\nWould you like me to proceed?"))
    for c in ch: e.step(Call(tool="cancel_reservation",arguments={"reservation_id":c}))
    F=[f"Done! {lst} {'have' if len(ch)>1 else 'has'} been cancelled and you will receive {M(ref)} back.",f"The cancellation is complete. A total refund of {M(ref)} is on its way to your original payment methods. Is there anything else?",f"All set: {lst} cancelled."][style%3]
    if not e.done: u=user(e.step(Say(text=F)))
    if not e.done: e.step(Say(text="Yes, everything is done. Your total paid was "+M(tot)+f" and the refund is {M(ref)}."))
if __name__=="__main__":
    for st in range(12): run("tau2_aggregation",range(4),range(100,160),agent,f"{st}",show=1,style=st)
