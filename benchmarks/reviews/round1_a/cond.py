from h import *
import datetime
E='tau2_conditional_instructions'
def F(w):
    b=w.reservations[w.asked]; ppl=len(b['passengers']); old=b['flights'][0]['price']
    d=datetime.date.fromisoformat(w.day)
    return dict(c=w.asked,fl=w.right,first=w.named,fare=w.offered[w.named],n=ppl,old=old,amt=w.owed[w.right],card=w.card,day=w.day,dayw=d.strftime('%B ')+str(d.day),paidby=b['payment_history'][0]['payment_id'],total=w.owed[''],ins=b['insurance'],b=b,
      newfare=w.offered.get(w.right), oldfl=b['flights'][0]['flight_number'], limit=w.limit)
def look(w,extra=True):
    b=w.reservations[w.asked]
    yield C('get_user_details',user_id=w.customer)
    yield C('get_reservation_details',reservation_id=w.asked)
    yield C('search_direct_flight',origin=b['origin'],destination=b['destination'],date=w.day)
def wr(w): return C('update_reservation_flights' if w.right else 'cancel_reservation',**w.deed(w.right))
def why(w):
    f=F(w); out=[]
    for x in [y for y in w.branches if y]:
        o=next(v for v in [w.flights[x]['dates'][w.day]])
        out.append(f"{x} has {o['available_seats']['business']} business seats left at ${o['prices']['business']} per person")
    return '; '.join(out)
def mv(w,k):
    f=F(w); d=f['newfare']-f['old'] if f['fl'] else 0
    if f['fl']:
        return [
f"The business fare for {f['first']} on {f['day']} is ${f['fare']} per person. Based on your instructions, I'll move reservation {f['c']} to flight {f['fl']} on {f['day']} in business class. The total price difference is ${f['amt']}, charged to {f['card']}. Shall I proceed?",
f"Here's what I found: {why(w)}. Your current flight cost ${f['old']} per person. So the condition for {f['fl']} is met, and I would move your trip to {f['fl']}. For {f['n']} passenger(s) the difference is {f['n']} x (${f['newfare']} - ${f['old']}) = ${f['amt']}, which will be charged to {f['card']}. Would you like me to go ahead?",
f"**Flight {f['first']}** on {f['dayw']}: ${f['fare']} per person in business class.\n\n**Plan:** Change {f['c']} to {f['fl']} on {f['dayw']}\n- Price difference: ${f['newfare']-f['old']} per person\n- Total: ${f['amt']} for {f['n']} traveler(s)\n- Payment: {f['card']}\n\nDo you confirm (yes/no)?",
f"{f['first']} costs ${f['fare']} per person in business. I'll move your trip to {f['fl']} and charge {f['card']} a total of ${f['amt']}. OK?",
f"I checked: {f['first']} on {f['day']} costs ${f['fare']} in business class per person. The trip is {'insured' if f['ins']=='yes' else 'not insured'}. According to your instructions I'd move {f['c']} to {f['fl']}; you'd pay an additional ${f['amt']} in total. May I proceed?"][k]
    return [
f"The business fare for {f['first']} on {f['day']} is ${f['fare']} per person. Based on your instructions, I'll cancel reservation {f['c']}. You'll get a refund of ${f['amt']} to {f['paidby']} within 5 to 7 business days. Shall I proceed?",
f"Here's what I found: {why(w)}. So the condition for moving isn't met, and I would cancel your trip {f['c']}. As it's a business class reservation, it can be cancelled. The full ${f['amt']} will be refunded to {f['paidby']}. Would you like me to go ahead?",
f"**Flight {f['first']}** on {f['dayw']}: ${f['fare']} per person in business class.\n\n**Plan:** Cancel {f['c']}\n- Refund: ${f['amt']} (original payment method)\n\nDo you confirm (yes/no)?",
f"{f['first']} costs ${f['fare']} per person in business. I'll cancel your trip and you get back ${f['amt']} in total. OK?",
f"I checked: {f['first']} on {f['day']} costs ${f['fare']} in business class per person. The trip is {'insured' if f['ins']=='yes' else 'not insured'}. According to your instructions I'd cancel {f['c']}; a total of ${f['amt']} would be refunded to the original payment method. May I proceed?"][k]
def fi(w,k):
    f=F(w)
    if f['fl']:
        return [f"Your reservation {f['c']} has been moved to flight {f['fl']} on {f['day']}. A total of ${f['amt']} has been charged to {f['card']}. Is there anything else I can help you with?",
        f"Done! You're now booked on {f['fl']} on {f['dayw']}. You paid ${f['amt']} in total.",
        "The change is complete. Is there anything else?",
        f"All set. {f['card']} was charged ${f['amt']}; the fare of {f['first']} is ${f['fare']} per person.",
        f"Your trip has been changed. Summary: {f['first']} business fare ${f['fare']} per person; total charged ${f['amt']}."][k]
    return [f"Your reservation {f['c']} has been cancelled. ${f['amt']} will be refunded to {f['paidby']} within 5 to 7 business days. Is there anything else I can help you with?",
        f"Done! Your trip is cancelled and you'll get ${f['amt']} back.","The cancellation is complete. Is there anything else?",
        f"All set. A refund of ${f['amt']} is on its way to {f['paidby']}; the fare of {f['first']} is ${f['fare']} per person.",
        f"Your trip has been cancelled. Summary: {f['first']} business fare ${f['fare']} per person; total refund ${f['amt']}."][k]
def ag(k,j):
    def f(w,ep):
        yield from look(w); yield S(mv(w,k)); yield wr(w); yield S(fi(w,j))
    return f
def endonly(j):
    def f(w,ep):
        x=F(w)
        yield from look(w)
        yield S((f"I'll move {x['c']} to {x['fl']} on {x['day']} in business class." if x['fl'] else f"I'll cancel {x['c']} as you instructed.")+" Shall I proceed?"); yield wr(w); yield S(fi(w,j))
    return f
if __name__=='__main__':
    for l in range(4):
        for k in range(5):
            print(l,'pre',k,[sum(play(E,l,s,ag(k,j))[0].score.success for s in range(50)) for j in range(5)])
        print(l,'endonly',[sum(play(E,l,s,endonly(j))[0].score.success for s in range(50)) for j in (3,4)])
