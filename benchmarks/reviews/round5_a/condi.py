from h import *
import sys
N='tau2_conditional_instructions'
def ctx(w):
    b=w.reservations[w.asked]; n=len(b['passengers']); old=b['flights'][0]
    res=w.search_direct_flight(old['origin'],old['destination'],w.day)
    return b,n,old,res
def pol(style):
    def p(ep,w):
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool.startswith(('update','cancel'))][0]
        b,n,old,res=ctx(w); am=w.owed[w.right]; fare=w.offered[w.named]; pm=b['payment_history'][0]['payment_id']
        F={f['flight_number']:f for f in res}
        pl='s' if n>1 else ''
        other=[f for f in w.branches if f and f!=w.named]
        facts=f"{w.named} on {w.day} costs ${fare} per person in business class and has {F[w.named]['available_seats']['business']} business seats left. "
        for o in other: facts+=f"{o} costs ${w.offered[o]} per person and has {F[o]['available_seats']['business']} business seats available. "
        ins=f"Your trip {'is' if b['insurance']=='yes' else 'is not'} insured. "
        if w.right: act=f"move reservation {w.asked} to {w.right} on {w.day}. The difference is (${w.offered[w.right]} - ${old['price']}) × {n} = ${am}, charged to {w.card}."
        else: act=f"cancel reservation {w.asked}. You will get back ${am} in total to {pm} within 5 to 7 business days."
        done=(f"Your trip has been moved to {w.right}, and ${am} was charged to {w.card}." if w.right else f"Your reservation {w.asked} has been cancelled, and ${am} will be refunded to {pm}.")
        if style=='rich':
            yield Say(facts+(ins if 'insured' in w.steps else '')+"Based on your instructions, I would "+act+" Shall I proceed?"); yield upd; yield Say(done+" Is there anything else I can help you with?")
        elif style=='bullets':
            t="Here's what I found:\n\n"
            for f in [w.named]+other: t+=f"- **{f}** ({w.day}): business ${w.offered[f]} per person, {F[f]['available_seats']['business']} seats, total difference ${w.owed[f]} for {n} passenger{pl}\n"
            t+=f"- Current booking: {old['flight_number']}, ${old['price']} per person, {'insured' if b['insurance']=='yes' else 'not insured'}\n\nSo I will "+act+"\n\nDo you confirm (yes/no)?"
            yield Say(t); yield upd; yield Say(done)
        elif style=='why':
            t=f"The business fare of {w.named} is ${fare} per person. "
            if 'insured' in w.steps: t+=f"Since your trip {'is' if b['insurance']=='yes' else 'is not'} insured, "
            else: t+=f"Given that, "
            t+="your condition "+("means that I should " )+act+" May I go ahead?"
            yield Say(t); yield upd; yield Say("It's all done. "+(f"You paid ${am} in total." if w.right else f"You get back ${am} in total."))
        elif style=='options':
            t="Flights that day:\n"+"\n".join(f"- {f['flight_number']}: economy ${f['prices']['economy']}, business ${f['prices']['business']}, {f['available_seats']['business']} business seats" for f in res)
            yield Say(t+f"\n\n{w.named} therefore costs ${fare} per person in business. I would "+act+" Is that okay?"); yield upd; yield Say(done)
        elif style=='table':
            t="| Flight | Business fare | Business seats |\n|---|---|---|\n"+"\n".join(f"| {f['flight_number']} | ${f['prices']['business']} | {f['available_seats']['business']} |" for f in res)
            yield Say(t+"\n\nFollowing your instructions, I'll "+act+" Please confirm."); yield upd; yield Say(done)
        elif style=='limit':
            lim=w.limit
            t=f"A business seat on {w.named} costs ${fare} per person. "
            if 'costs' in w.steps: t+=f"That is {'within' if fare<=lim else 'above'} your limit of ${lim}. "
            if 'difference' in w.steps and 'in price to' in w.steps: t+=f"The difference for all of you together would be ${w.owed[w.named]}, which is {'within' if w.owed[w.named]<=lim else 'above'} your limit of ${lim}. "
            yield Say(t+"So I'll "+act+" Shall I proceed?"); yield upd; yield Say(done)
        elif style=='alt': # mention what the other branch would have brought
            t=f"{w.named} costs ${fare} per person in business. "
            if not w.right: t+=f"Moving to it would have cost ${w.owed[w.named]} more in total, so as you asked I will "
            else: t+="As you asked, I will "
            yield Say(t+act+" OK?"); yield upd; yield Say(done)
    return p
def wrong(kind):
    def p(ep,w):
        O=list(w.copy().oracle()); b,n,old,res=ctx(w)
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        fare=w.offered[w.named]
        def do(right):
            am=w.owed[right]
            yield Say(f"{w.named} costs ${fare} per person. I will "+(f"move the trip to {right} and charge ${am}" if right else f"cancel the trip and refund ${am}")+". Shall I proceed?")
            yield Call("update_reservation_flights" if right else "cancel_reservation", w.deed(right)); yield Say("Done.")
        if kind=='first': yield from do(w.branches[0])
        if kind=='last': yield from do(w.branches[-1])
        if kind=='cancel': yield from do('')
        if kind=='move': yield from do(w.named)
        if kind=='cheap': yield from do(w.named if fare<(sum(f['prices']['business'] for f in res)/len(res)) else '')
        if kind=='exch':
            am=w.owed[w.right]; 
            yield Say(f"{w.named} costs ${fare} per person. I will "+(f"move the trip to {w.right} and charge ${am}" if w.right else f"cancel the trip and refund ${am}")+". Shall I proceed?")
            yield Call("update_reservation_flights" if w.right else "cancel_reservation", w.deed(w.right)); yield Say(f"Done. You were {'refunded' if w.right else 'charged'} ${am}.")
        if kind=='wrongafter':
            am=w.owed[w.right]; 
            yield Say(f"{w.named} costs ${fare} per person. I will "+(f"move the trip to {w.right} and charge ${am}" if w.right else f"cancel the trip and refund ${am}")+". Shall I proceed?")
            yield Call("update_reservation_flights" if w.right else "cancel_reservation", w.deed(w.right)); yield Say(f"Done. You {'paid' if w.right else 'get back'} ${am+31}.")
        if kind=='noconsent':
            am=w.owed[w.right]; yield Call("update_reservation_flights" if w.right else "cancel_reservation", w.deed(w.right)); yield Say(f"{w.named} costs ${fare} per person. "+(f"I moved the trip to {w.right} and charged ${am}" if w.right else f"I cancelled the trip and refunded ${am}"))
    return p
if __name__=='__main__':
    for st in ('rich','bullets','why','options','table','limit','alt'): run(N,pol(st),n=50,label=st)
    for k in ('first','last','cancel','move','cheap','exch','wrongafter','noconsent'): run(N,wrong(k),n=50,label='WRONG '+k,examples=0)
