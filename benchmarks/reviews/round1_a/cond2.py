from cond import *
def ex(k):
    def f(w,ep):
        x=F(w); yield from look(w)
        flights=[(n,v['dates'][w.day]) for n,v in w.flights.items() if w.day in v['dates']]
        tgt=w.right
        plan=(f"move {x['c']} to {tgt} and charge {x['card']} ${x['amt']} in total" if tgt else f"cancel {x['c']} and refund ${x['amt']} to your original payment method")
        other=[b for b in w.branches if b and b!=tgt]
        M=[
        "Here are the flights on "+w.day+":\n"+'\n'.join(f"- {n}: business ${o['prices']['business']}, {o['available_seats']['business']} seats" for n,o in flights)+f"\n\nSo {x['first']} costs ${x['fare']} per person in business class. I will {plan}. Shall I proceed?",
        f"Your current flight {x['oldfl']} cost ${x['old']} per person (${x['total']} paid in total). {x['first']} on {w.day} costs ${x['fare']} per person in business. I will {plan}. Shall I proceed?",
        f"{x['first']} costs ${x['fare']} per person in business class, which is {'within' if x['fare']<=w.limit else 'above'} your limit. "+(f"Had we moved to {other[0]}, the total difference would have been ${w.owed[other[0]]}. " if other else '')+f"So I will {plan}. Do you agree?",
        f"The business fare on {x['first']} ({w.day}) is ${x['fare']} per person, so ${x['fare']*x['n']} for {x['n']} travelers. "+f"I will {plan}. Do you agree?",
        f"{x['first']}: economy ${w.flights[x['first']]['dates'][w.day]['prices']['economy']}, business ${x['fare']} per person. I will {plan}. Confirm?",
        f"{x['first']} costs ${x['fare']} per person in business class. "+(f"You already paid ${x['total']}, the new total is ${x['newfare']*x['n']}, so you pay a difference of ${x['amt']} with {x['card']}. I'll move {x['c']} to {tgt}." if tgt else f"You paid ${x['total']}, and the full amount of ${x['amt']} will be refunded. I'll cancel {x['c']}.")+" Shall I proceed?",
        f"Since the trip is {'' if x['ins']=='yes' else 'not '}insured and {x['first']} is ${x['fare']} per person in business, I will {plan}. Is that okay?",
        f"1. {x['first']} on {w.day}: ${x['fare']} per person (business)\n2. Action: "+(f"move to {tgt}\n3. You pay: {x['n']} × ${x['newfare']-x['old']} = ${x['amt']}" if tgt else f"cancel the trip\n3. You get back: ${x['amt']}")+"\n\nShall I go ahead?",
        f"Only {w.flights[x['first']]['dates'][w.day]['available_seats']['business']} business seats are left on {x['first']}, where a seat costs ${x['fare']}. I will {plan}. Okay?",
        ]
        yield S(M[k]); yield wr(w); yield S("All done. Is there anything else I can help you with?")
    return f
study(E,range(4),range(60),{f'ex{k}':ex(k) for k in range(9)})
def sh(ch):
    def f(w,ep):
        r=ch(w); x=F(w); yield from look(w)
        amt=w.owed[r]
        yield S(f"{x['first']} costs {x['fare']} dollars a person. I'll "+(f"move {x['c']} to {r} and charge {amt} dollars" if r else f"cancel {x['c']} and refund {amt} dollars")+". Shall I proceed?")
        a=yield C('update_reservation_flights' if r else 'cancel_reservation',**w.deed(r))
        if 'Error' in (a or '') : 
            nxt=[b for b in w.branches if b!=r]
            r=nxt[0]; yield C('update_reservation_flights' if r else 'cancel_reservation',**w.deed(r)); amt=w.owed[r]
            yield S(f"Done: "+(f"charge {amt} dollars" if r else f"refund {amt} dollars"))
        yield S("Done.")
    return f
def fareonly(w):
    for b in w.branches:
        if not b: return b
        if w.offered[b]<=w.limit or 1==0: return b
    return w.branches[-1]
study(E,range(4),range(200),{'first':sh(lambda w:w.branches[0]),'second':sh(lambda w:w.branches[1]),'last':sh(lambda w:w.branches[-1]),'cancel':sh(lambda w:''),'move first flight':sh(lambda w:w.named),'fareonly':sh(fareonly),'insured->cancel':sh(lambda w:'' if w.reservations[w.asked]['insurance']=='yes' else w.named)},show=0)
# wrong statements
def wrong(k):
    def f(w,ep):
        x=F(w); yield from look(w); b=[y for y in w.owed if y!=w.right]
        other=w.owed[[y for y in w.branches if y!=w.right][0]]
        yield S(f"I'll do as you said. Shall I proceed?"); yield wr(w)
        yield S([f"{x['first']} costs {x['fare']} dollars a person. "+(f"You get {x['amt']} dollars back." if w.right else f"You pay {x['amt']} dollars."),
         f"{x['first']} costs {x['fare']} or {x['fare']+7} dollars a person. You pay or get back {x['amt']} dollars.",
         f"{x['first']} costs {x['fare']} dollars a person. You pay or get back {x['amt']} dollars.",
         f"{x['first']} costs {x['fare']} dollars a person. You pay {x['amt']} dollars and get {other} dollars back. You pay {other} dollars and get {x['amt']} dollars back.",
         f"{x['first']} costs {x['fare']} dollars a person. "+(f"I charged {x['amt']+50} dollars." if w.right else f"I refunded {x['amt']+50} dollars."),
         f"{x['first']} costs {x['fare']} dollars a person in economy class. "+(f"I charged {x['amt']} dollars and cancelled the trip." if w.right else f"I refunded {x['amt']} dollars and moved the trip to {x['first']}."),
         ][k])
    return f
study(E,[0,1,3],range(60),{f'wrong{k}':wrong(k) for k in range(6)},show=0)
