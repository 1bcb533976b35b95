from h import *
N='tau2_numerical_payment_reasoning'
def pol(style):
    def p(ep,w):
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool.startswith('update')][0]
        unit,count,ch=w.deed(); tot=unit*count; b=w.reservations[w.trip]; own=w.users[w.customer]
        gc=[m for m in own['payment_methods'].values() if m['source']=='gift_card'][0]; n=len(b['passengers'])
        left=gc['amount']-tot; pid=ch['payment_id']; gift=pid==gc['id']
        from trace_gym.targets.tau2 import policy
        free=policy.free_bags(own['membership'],b['cabin'],n)
        kept=f"Your gift card has a balance of ${gc['amount']}; after this, ${left} would remain, which is {'at least' if gift else 'less than'} ${w.floor}, so I will charge {pid}."
        if w.extra:
            calc=f"As a {own['membership']} member in {b['cabin'].replace('_',' ')} with {n} passenger{'s' if n>1 else ''}, you have {free} free checked bags. You currently have {b['total_baggages']} and would have {ch['total_baggages']}, so {count} of the {w.extra} new bags {'is' if count==1 else 'are'} charged at $50 each: ${tot} in total."
        else:
            legs="; ".join(f"{f['flight_number']}: ${w.flights[f['flight_number']]['dates'][f['date']]['prices'][w.to_cabin]} instead of ${f['price']}" for f in b['flights'])
            calc=f"The {w.to_cabin.replace('_',' ')} fares are {legs}. The difference is ${unit} per passenger, and with {n} passenger{'s' if n>1 else ''} it comes to ${tot} in total."
        if style=='rich':
            yield Say(calc+" "+kept+" Shall I proceed?"); yield upd; yield Say(f"Done! ${tot} was charged to {pid}.")
        elif style=='two':  # first total, then question
            yield Say(calc); yield Say(kept+" Do you want me to go ahead?"); yield upd; yield Say("Your reservation has been updated. Is there anything else?")
        elif style=='short':
            yield Say(f"The total comes to ${tot}. {kept} Is that OK?"); yield upd; yield Say(f"Done, ${tot} has been charged to your {'gift' if gift else 'credit'} card.")
        elif style=='bullets':
            if w.extra:
                t=f"Here's the breakdown for {w.trip}:\n- Passengers: {n}\n- Membership: {own['membership']}\n- Free bags: {free}\n- Current bags: {b['total_baggages']} ({b['nonfree_baggages']} paid)\n- New total: {ch['total_baggages']} bags\n- Additional paid bags: {count} × $50 = **${tot}**\n\n"
            else:
                now=sum(w.flights[f['flight_number']]['dates'][f['date']]['prices'][w.to_cabin] for f in b['flights']); old=sum(f['price'] for f in b['flights'])
                t=f"Here's the breakdown for {w.trip}:\n- Current fare per passenger: ${old}\n- {w.to_cabin} fare per passenger: ${now}\n- Difference: ${unit} × {n} passengers = **${tot}**\n\n"
            t+=f"**Total: ${tot}**\n\nPayment: gift card balance ${gc['amount']} − ${tot} = ${left} ({'≥' if gift else '<'} ${w.floor}), so I'll use {pid}.\n\nWould you like me to proceed (yes/no)?"
            yield Say(t); yield upd; yield Say("All set.")
        elif style=='totals':
            if not w.extra:
                now=sum(w.flights[f['flight_number']]['dates'][f['date']]['prices'][w.to_cabin] for f in b['flights']); old=sum(f['price'] for f in b['flights'])
                t=f"{w.to_cabin} costs ${now*n} for all {n} travelers; you paid ${old*n}, so the difference is ${tot}."
            else: t=f"{w.extra} bags would normally be ${w.extra*50}, but {w.extra-count} of them {'is' if w.extra-count==1 else 'are'} free, so you pay ${tot} in total."
            yield Say(t+f" It would go on {pid}. May I go ahead?"); yield upd; yield Say("Done.")
    return p
def wrong(kind):
    def p(ep,w):
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool.startswith('update')][0]
        unit,count,ch=w.deed(); tot=unit*count; pid=ch['payment_id']
        own=w.users[w.customer]; cards={m['source']:m['id'] for m in own['payment_methods'].values()}
        other=cards['credit_card'] if pid==cards['gift_card'] else cards['gift_card']
        if kind=='othercard_said': yield Say(f"It comes to ${tot}, charged to {other}. Shall I proceed?"); yield upd; yield Say("Done.")
        if kind=='nototal': yield Say(f"I'll do it with {pid}. Shall I proceed?"); yield upd; yield Say(f"Done. ${tot} was charged.")
        if kind=='stuff': yield Say("It comes to "+" or ".join(f"${unit*k}" for k in range(0,7))+f" on {pid}. Shall I proceed?"); yield upd; yield Say("Done.")
        if kind=='giftalways': 
            a=dict(upd.arguments); a['payment_id']=cards['gift_card']; yield Say(f"It comes to ${tot} on {cards['gift_card']}. Shall I proceed?"); yield Call(upd.tool,a); yield Say("Done.")
        if kind=='refunded': yield Say(f"It comes to ${tot} on {pid}. Shall I proceed?"); yield upd; yield Say(f"Done. ${tot} was refunded to {pid}.")
        if kind=='wrongafter': yield Say(f"It comes to ${tot} on {pid}. Shall I proceed?"); yield upd; yield Say(f"Done. ${tot+50} was charged to {pid}.")
        if kind=='otherafter': yield Say(f"It comes to ${tot} on {pid}. Shall I proceed?"); yield upd; yield Say(f"Done. ${tot} was charged to {other}.")
        if kind=='noconsent': yield upd; yield Say(f"Done. It comes to ${tot} on {pid}.")
        if kind=='ablated':
            for s in w.copy().ablated(): yield s
    return p
if __name__=='__main__':
    for st in ('rich','two','short','bullets','totals'): run(N,pol(st),n=50,label=st)
    for k in ('othercard_said','nototal','stuff','giftalways','refunded','wrongafter','otherafter','noconsent','ablated'): run(N,wrong(k),n=50,label='WRONG '+k,examples=0,levels=[1,3])
