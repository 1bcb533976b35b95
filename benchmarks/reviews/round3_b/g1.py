from h import *
from v1 import policy, CAB
n='tau2_aggregation'
def info(ep):
    w=ep.start; B=w.reservations; paid={c:policy.refund(b) for c,b in B.items()}; ch=[r.reservation for r in w.requests]
    order=w.users[w.customer]['reservations']; asked=[w.named] if w.named else order
    return w,B,paid,ch,asked,sum(paid[c] for c in asked),sum(paid[c] for c in ch)
def why(w):
    return {'most':'the trip for which you paid the most','least':'the trip for which you paid the least','people':'the trip with the most travelers'}.get(w.rule,f"the trip(s) that cost {'more' if w.rule=='over' else 'less'} than ${w.limit}"+(f" with at least {w.heads} travelers" if w.heads else ''))
def mk(v):
    def f(t,k,ep):
        w,B,paid,ch,asked,tot,ref=info(ep); P=lambda c:len(B[c]['passengers'])
        J=' and '.join(ch); s='s' if len(ch)>1 else ''
        if 'Do you agree' in t:
            lst='\n'.join(f"- {c}: ${paid[c]} ({P(c)} passenger{'s'*(P(c)>1)})" for c in asked)
            if v==0: return f"I've reviewed your reservation{'s' if len(asked)>1 else ''}. Here's what you paid:\n\n{lst}\n\n**Total paid: ${tot}**\n\n"+(f"{why(w)[0].upper()+why(w)[1:]}: {J}. " if not w.named else '')+f"Since {'it is' if len(ch)==1 else 'they are'} insured and you are ill, {'it' if len(ch)==1 else 'they'} can be cancelled. The total refund would be ${ref}, returned to the original payment method(s) within 5 to 7 business days.\n\nWould you like me to proceed with cancelling {J}? (yes/no)"
            if v==1: return f"In total, you've paid ${tot} for {'this trip' if w.named else 'all your trips'}. "+(f"{J} {'is' if len(ch)==1 else 'are'} {why(w)}. " if not w.named else '')+f"If I cancel {J}, you'll get back ${ref} in total. Shall I go ahead?"
            if v==2: return "| Reservation | Passengers | Paid |\n|---|---|---|\n"+'\n'.join(f"| {c} | {P(c)} | ${paid[c]} |" for c in asked)+f"\n| **Total** | | **${tot}** |\n\nI would cancel the following:\n"+'\n'.join(f"- {c} – refund ${paid[c]}" for c in ch)+f"\n\nTotal refund: ${ref}. Do you confirm?"
            if v==3: return f"You have paid a total of {tot} dollars so far ("+' + '.join(str(paid[c]) for c in asked)+f"). The trip{s} to cancel: "+', '.join(f"{c} ({paid[c]} dollars)" for c in ch)+f". You would receive {ref} dollars back. Please confirm."
        if 'It is cancelled' in t: return [f"Reservation{s} {J} {'has' if len(ch)==1 else 'have'} been cancelled. A total of ${ref} will be refunded within 5 to 7 business days.",f"Done! {J} {'is' if len(ch)==1 else 'are'} cancelled and you'll get ${ref} back. As mentioned, you paid ${tot} for {'this trip' if w.named else 'all your trips'} before the refund.",f"The cancellation{s} went through. Total refund: ${ref}.",f"All done. I hope you feel better soon!"][v]
        return ["Yes, everything is done. Is there anything else I can help you with?","Yes, that's everything. Get well soon!",f"Yes. You paid ${tot} in total, and ${ref} will be refunded.","Yes, all done."][v]
    return f
if __name__=='__main__':
  for l in range(4):
    for v in range(4): rate(n,l,mk(v),ex=1,label=f'v{v}')
