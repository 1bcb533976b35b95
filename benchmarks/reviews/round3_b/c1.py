from h import *
n='tau2_conditional_instructions'
def info(ep):
    w=ep.start; b=w.reservations[w.asked]; p=len(b['passengers']); old=b['flights'][0]; return w,b,p,old
def cond(w,b,p,old):
    s=w.steps
    out=[]
    for f in [x for x in w.branches if x]:
        av=w.flights[f]['dates'][w.day]['available_seats']['business']; fare=w.offered[f]
        if 'enough business seats' in s: out.append(f"{f} has {av} business seat{'s'*(av!=1)} available, {'enough' if av>=p else 'not enough'} for your party of {p}.")
        if 'a business seat on' in s: out.append(f"A business seat on {f} costs ${fare}, which is {'within' if fare<=w.limit else 'above'} your limit of ${w.limit}.")
        if 'difference in price' in s: out.append(f"The difference in price to {f} for all {p} of you is ${fare-old['price']} x {p} = ${w.owed[f]}, which is {'within' if w.owed[f]<=w.limit else 'more than'} your limit of ${w.limit}.")
    if 'insured' in s: out.append(f"Your trip is {'insured' if b['insurance']=='yes' else 'not insured'}.")
    return out
def mk(v):
    def f(t,k,ep):
        w,b,p,old=info(ep); R=w.right; A=w.owed[R]; c=w.asked; card=w.users[w.customer]['payment_methods'][w.card]
        C=[f"your credit card ending in {card['last_four']}",w.card,f"your {card['brand']} card ({w.card})","your credit card"][v]
        F=w.offered[w.named]; cs=cond(w,b,p,old)
        pm=b['payment_history'][0]['payment_id']
        if 'Shall I' in t:
            if v==0:
                s=f"Thank you for your patience. Here's what I found:\n\n- "+'\n- '.join(cs)+f"\n\n{w.named} on {w.day} costs ${F} per person in business class. "
                if R: s+=f"So, following your instructions, I will move the trip to {R} on {w.day}. The total difference to pay is ${A} (${w.offered[R]-old['price']} per person x {p}), charged to {C}."
                else: s+=f"So, following your instructions, I will cancel reservation {c}. You will be refunded ${A} to the original payment method."
                return s+"\n\nWould you like me to proceed? (yes/no)"
            if v==1:
                s=f"The business fare of {w.named} on {w.day} is {F} dollars per person. "+' '.join(cs)
                if R: s+=f" Therefore I'll change {c} from {old['flight_number']} on {old['date']} to {R} on {w.day} in business class. You originally paid ${old['price']} per person, and the new fare is ${w.offered[R]} per person, so the total you pay is ${A}, charged to {C}."
                else: s+=f" Therefore I'll cancel {c} and you'll get back ${A} in total within 5 to 7 business days."
                return s+" Do you confirm?"
            if v==2:
                s=f"**Fare:** {w.named} ({w.day}), business class: ${F} per person\n**Condition:** {' '.join(cs)}\n"
                if R: s+=f"**Action:** Move reservation {c} to {R} on {w.day} (business)\n**Total charge:** ${A} to {C}"
                else: s+=f"**Action:** Cancel reservation {c}\n**Total refund:** ${A} to the original payment method ({pm})"
                return s+"\n\nPlease confirm and I'll go ahead."
            if v==3:
                if R: return f"{' '.join(cs)} As per your instruction, I'll move the trip to {R}. {w.named} costs ${F} per person in business class"+(f" and {R} costs ${w.offered[R]}" if R!=w.named else '')+f". For {p} traveler{'s'*(p>1)}, the price difference is ${A} in total. Shall I go ahead?"
                return f"{' '.join(cs)} {w.named} costs ${F} per person in business class. As per your instruction, I'll cancel the trip; ${A} will be refunded. Shall I go ahead?"
        if R: return [f"Your trip {c} has been moved to {R} on {w.day}. ${A} was charged to {C}.",f"Done! Reservation {c} is now on {R} ({w.day}) in business class. The total charge of ${A} went to {C}. The business fare of {w.named} is ${F} per person.",f"Your reservation has been updated. You paid an additional ${A}.","All done! Is there anything else I can help you with?"][v]
        return [f"Reservation {c} has been cancelled. ${A} will be refunded to the original payment method within 5 to 7 business days.",f"Done! The trip {c} is cancelled, and you'll get ${A} back. The business fare of {w.named} on {w.day} is ${F} per person.",f"Your reservation has been cancelled. Total refund: ${A}.","All done! Is there anything else I can help you with?"][v]
    return f
if __name__=='__main__':
  for l in range(4):
    for v in range(4): rate(n,l,mk(v),ex=1,label=f'v{v}')
