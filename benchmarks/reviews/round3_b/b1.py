from h import *
from trace_gym.targets.tau2 import policy
n='tau2_baggage_allowance'
CAB={'basic_economy':'basic economy','economy':'economy','business':'business'}
def mk(v):
    def f(t,k,ep):
        w=ep.start; due=w.bill(); tot=sum(d[2] for d in due.values()); u=w.users[w.customer]; mem=u['membership']; card=u['payment_methods'][w.card]; 
        C=[f"your card ({w.card})",w.card,f"your {card['brand']} ending in {card['last_four']}","your credit card"][v]
        L=[]
        for c,(total,paid,dol) in due.items():
            b=w.reservations[c]; p=len(b['passengers']); per=policy.free_bags(mem,b['cabin'],1); free=policy.free_bags(mem,b['cabin'],p); had=b['total_baggages']; was=b['nonfree_baggages']; more=total-had
            L.append((c,b,p,per,free,had,was,more,total,paid,dol))
        if 'To confirm' in t:
            if v==0:
                s=f"As a {mem} member, here's what I found:\n\n"
                for c,b,p,per,free,had,was,more,total,paid,dol in L:
                    s+=f"- Reservation {c} ({CAB[b['cabin']]}, {p} passenger{'s'*(p>1)}): {per} free checked bag{'s'*(per!=1)} per passenger, {free} free in total. You currently have {had}; adding {more} makes {total}. "
                    s+=f"{paid-was} additional bag(s) would be charged at $50 each = ${dol}.\n" if dol else "All of them are covered, so there is no charge.\n"
                return s+f"\nTotal cost: ${tot}, charged to {C}. Would you like me to proceed?"
            if v==1:
                s='; '.join(f"{c}: {more} added bag(s), {total} in total, {paid} of which are paid bags, so ${dol}" for c,b,p,per,free,had,was,more,total,paid,dol in L)
                return f"I can add the bags. {s}. The total for the added bags is ${tot}"+(f", to be charged to {C}" if tot else "")+". Do you confirm?"
            if v==2:
                s=' '.join(f"For reservation {c}, I'll add {more} checked bag{'s'*(more>1)} for a total of {total}. "+(f"{paid-was} of them {'are' if paid-was>1 else 'is'} beyond your free allowance, at $50 each, which comes to ${dol}." if dol else f"They fall within your free allowance, so they're free of charge.") for c,b,p,per,free,had,was,more,total,paid,dol in L)
                return s+(f" You'll pay ${tot} in all, using {C}." if len(L)>1 or tot else "")+" Shall I go ahead?"
            if v==3:
                s='\n'.join(f"| {c} | {more} | {total} | {free} | {paid} | ${dol} |" for c,b,p,per,free,had,was,more,total,paid,dol in L)
                return f"Here's a summary:\n\n| Reservation | Bags added | Total bags | Free allowance | Paid bags | Cost |\n|---|---|---|---|---|---|\n{s}\n\n**Total: ${tot}** charged to {C}. Please confirm (yes) and I'll add the bags."
        return [f"Your bags have been added. The total charge is ${tot}.",
          f"All done! {' and '.join(f'{x[0]} now has {x[8]} checked bags' for x in L)}. "+(f"${tot} was charged to {C}." if tot else "There was no charge: you pay $0 for the added bags."),
          f"Done. You were charged ${tot} in total for the added bags. Is there anything else I can help with?" if tot else "Done. The added bags are free, so you pay $0.",
          f"Both the update and the payment went through: {', '.join(f'{x[0]} ${x[10]}' for x in L)}; total ${tot}."][v]
    return f
def rateb(): 
  for l in range(4):
    for v in range(4): rate(n,l,mk(v),ex=2,label=f'v{v}')
if __name__=='__main__': rateb()
