from lib2 import *
from trace_gym.targets.tau2 import policy
def nm(w): return w.users[w.customer]['name']['first_name']
def facts(w):
    codes=[w.named] if w.named else w.users[w.customer]['reservations']
    allc=w.users[w.customer]['reservations']
    paid={c:policy.refund(w.reservations[c]) for c in allc}
    ch=[r.reservation for r in w.requests]
    return codes,paid,sum(paid[c] for c in codes),ch,sum(paid[c] for c in ch)
J=lambda l: l[0] if len(l)==1 else ', '.join(l[:-1])+' and '+l[-1]
def pl(k):
    def f(w):
        codes,paid,tot,ch,ref=facts(w)
        yield Call('get_user_details',{'user_id':w.customer})
        for c in codes: yield Call('get_reservation_details',{'reservation_id':c})
        many=len(ch)>1
        sc='trip '+w.named if w.named else 'all your trips together'
        pl_=lambda c: len(w.reservations[c]['passengers'])
        if k==0: t=f"Thank you, {nm(w)}. You have paid a total of ${tot:,} for {sc}.\n\nThe {'reservations' if many else 'reservation'} to be cancelled: {J(ch)}. You would receive a total refund of ${ref:,} to the original payment methods within 5 to 7 business days. Would you like me to proceed?"
        if k==1: t=f"Here's a summary of your trips:\n\n"+'\n'.join(f"- **{c}**: ${paid[c]} ({pl_(c)} passenger{'s'*(pl_(c)>1)})" for c in codes)+f"\n\n**Total paid: ${tot}**\n\nBased on this, I'd cancel {J(ch)}, with a total refund of ${ref}. Do you confirm (yes/no)?"
        if k==2: t=f"| Reservation | Amount paid | Passengers |\n|---|---|---|\n"+'\n'.join(f"| {c} | ${paid[c]} | {pl_(c)} |" for c in codes)+f"\n| **Total** | **${tot}** | |\n\nThe {'trips that match are' if many else 'trip that matches is'} {J(ch)}. Since {'they are' if many else 'it is'} insured and the reason is health, I can cancel {'them' if many else 'it'}, and you get back ${ref} in total. Shall I go ahead?"
        if k==3: t=f"In total, you've paid ${tot} so far. "+(' + '.join(f"${paid[c]}" for c in codes)+f" = ${tot}. " if len(codes)>1 else '')+f"I can cancel {J([f'{c} (${paid[c]})' for c in ch])}. The total refund will be ${ref}. Is that okay?"
        if k==4: t=f"You've paid ${tot} in total for {sc}.\n\nTo cancel:\n"+'\n'.join(f"{i}. {c} – refund ${paid[c]}" for i,c in enumerate(ch,1))+f"\n\nTotal refund: ${ref}\n\nPlease confirm (yes) to proceed."
        if k==5: t=f"You have spent ${tot} on {sc}. The {'trips' if many else 'trip'} {J(ch)} {'are' if many else 'is'} the one{'s'*many} you described, at {J(['$%d'%paid[c] for c in ch])}. If you agree, I will cancel {'them' if many else 'it'} and ${ref} will be refunded."
        yield Say(text=t)
        for c in ch: yield Call('cancel_reservation',{'reservation_id':c})
        fin=[f"{J(ch)} {'have' if many else 'has'} been cancelled. A total refund of ${ref:,} will be returned to your original payment methods within 5 to 7 business days. Is there anything else I can help you with?",
         f"Done! I've cancelled {J(ch)}. You will get back ${ref} in all.",
         "The cancellation is complete:\n"+'\n'.join(f"- {c}: refund of ${paid[c]}" for c in ch)+f"\n\nTotal refund: **${ref}**, within 5–7 business days.",
         f"All set! {'Both' if len(ch)==2 else 'The'} reservation{'s' if many else ''} ({J(ch)}) {'are' if many else 'is'} now cancelled, and ${ref} will be credited back to the payment methods you used.",
         "I've successfully cancelled "+J([f"{c} (${paid[c]})" for c in ch])+f". Your total refund is ${ref}. I wish you a speedy recovery!",
         f"Your {'trips have' if many else 'trip has'} been cancelled. Total paid for {sc}: ${tot}; total refund: ${ref}."][k]
        yield Say(text=fin)
    return f
V={f'v{k}':pl(k) for k in range(6)}
if __name__=='__main__': table('tau2_aggregation',[0,1,2,3],V,n=50)
