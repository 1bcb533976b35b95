from lib2 import *
import trace_gym.score as TS
import datetime
def F(w):
    b=w.reservations[w.asked]; old=b['flights'][0]; n=len(b['passengers']); d=w.day
    fl=lambda x:w.flights[x]['dates'][d]; return b,old,n,fl
def cause(w,k):
    b,old,n,fl=F(w); st=w.steps; t=[]
    for x in [y for y in w.branches if y]:
        o=fl(x); p=o['prices']['business']; s=o['available_seats']['business']
        if 'difference' in st: t.append(f"the total difference for {x} is (${p} - ${old['price']}) x {n} = ${(p-old['price'])*n}")
        elif 'insured' in st: t.append(f"your trip {'is' if b['insurance']=='yes' else 'is not'} insured")
        elif 'costs' in st: t.append(f"a business seat on {x} costs ${p}, which is {'within' if p<=w.limit else 'above'} your limit of ${w.limit}")
        if 'enough' in st: t.append(f"{x} has {s} business seat{'s'*(s!=1)} for the {n} of you")
        if x==w.right: break
    return t
def pl(k,full=True):
    def f(w):
        b,old,n,fl=F(w); amt=w.owed[w.right]; fare=w.offered[w.named]; c=w.asked; card=w.users[w.customer]['payment_methods'][w.card]
        cd=[w.card,f"your credit card ending in {card['last_four']}"][k%2]
        dt=datetime.date.fromisoformat(w.day); day=[w.day,f"{dt:%B} {dt.day}"][k%2]
        yield Call('get_reservation_details',{'reservation_id':c})
        yield Call('search_direct_flight',{'origin':b['origin'],'destination':b['destination'],'date':w.day})
        why='; '.join(cause(w,k)); Why=why[0].upper()+why[1:]
        if w.right:
            do=[f"move reservation {c} to flight {w.right} on {day} in business class and charge the difference of ${amt} to {cd}",f"change {c} to {w.right} on {day}. The total you pay is ${amt}, charged to {cd}",f"move your trip to {w.right}; you would pay ${amt} in total ({cd})"][k%3]
            fin=[f"Done! Reservation {c} has been moved to flight {w.right} on {day}. ${amt} has been charged to {cd}.",f"Your trip is now on {w.right} on {day}. Total charged: ${amt} to {cd}. The business fare of {w.named} is ${fare} per person.",f"All set! {c} has been changed to {w.right} ({day}). You paid a total of ${amt} for the difference. Is there anything else I can help you with?",f"I've moved your trip to {w.right}. The price difference of ${amt} in total was charged to {cd}."][k%4]
        else:
            do=[f"cancel reservation {c} and refund ${amt} to the original payment method",f"cancel {c}. The total refund is ${amt}, within 5 to 7 business days",f"cancel your trip; you would get back ${amt} in total"][k%3]
            fin=[f"Done! Reservation {c} has been cancelled, and ${amt} will be refunded within 5 to 7 business days.",f"Your trip {c} is cancelled. Total refund: ${amt}. The business fare of {w.named} is ${fare} per person.",f"All set! {c} has been cancelled. You get back ${amt} in total. Is there anything else I can help you with?",f"I've cancelled your trip. The full ${amt} will go back to what you paid with."][k%4]
        head=[f"Here's what I found: {w.named} on {day} costs **${fare}** per person in business class.",f"Flight {w.named} on {day}: business class is ${fare} per person.",f"The business fare for {w.named} on {day} is ${fare} per passenger."][k%3]
        yield Say(text=f"{head}\n\n"+(f"{Why}. " if full else '')+f"So, following your instructions, I would {do}.\n\nWould you like me to proceed?")
        if w.right: yield Call('update_reservation_flights',w.deed(w.right))
        else: yield Call('cancel_reservation',w.deed(''))
        yield Say(text=fin)
    return f
def tablev(w):
    b,old,n,fl=F(w); amt=w.owed[w.right]; c=w.asked
    yield Call('get_reservation_details',{'reservation_id':c})
    yield Call('search_direct_flight',{'origin':b['origin'],'destination':b['destination'],'date':w.day})
    xs=[x for x in w.branches if x]
    t="| Flight | Business fare per person | Business seats | Total difference |\n|---|---|---|---|\n"+'\n'.join(f"| {x} | ${w.offered[x]} | {fl(x)['available_seats']['business']} | ${w.owed[x]} |" for x in xs)
    yield Say(text=f"Here are the flights on {w.day}:\n\n{t}\n\nBased on your instructions, I would "+(f"move {c} to {w.right} and charge ${amt} to {w.card}." if w.right else f"cancel {c}, and you would get ${amt} back in total.")+" Shall I proceed?")
    if w.right: yield Call('update_reservation_flights',w.deed(w.right))
    else: yield Call('cancel_reservation',w.deed(''))
    yield Say(text=f"It's done: {c} is "+(f"now on {w.right}, and ${amt} was charged to {w.card}." if w.right else f"cancelled and ${amt} will be refunded to your original payment method."))
def calcv(w):
    b,old,n,fl=F(w); amt=w.owed[w.right]; c=w.asked
    yield Call('get_reservation_details',{'reservation_id':c})
    yield Call('search_direct_flight',{'origin':b['origin'],'destination':b['destination'],'date':w.day})
    if w.right: t=f"You currently paid ${old['price']} per person; {w.right} costs ${w.offered[w.right]} per person in business, so the difference is ${w.offered[w.right]-old['price']} per person, or ${amt} in total for {n} passenger{'s'*(n>1)}, charged to {w.card}."
    else: t=f"I would cancel {c} and you'd get a full refund of ${amt}."
    yield Say(text=f"{w.named} costs ${w.offered[w.named]} per person in business class on {w.day}. {t} Shall I go ahead?")
    if w.right: yield Call('update_reservation_flights',w.deed(w.right))
    else: yield Call('cancel_reservation',w.deed(''))
    yield Say(text=f"It's done: {c} is "+(f"now on {w.right}. You pay ${amt} in total." if w.right else f"cancelled. You get back ${amt} in total."))
V={f'v{k}':pl(k) for k in range(6)}|{'short0':pl(0,False),'short3':pl(3,False),'table':tablev,'calc':calcv}
if __name__=='__main__': table('tau2_conditional_instructions',[0,1,2,3],V,n=50)
