from h import *
E="tau2_aggregation"
from generated_envs.tau2_aggregation import meant
def paid(b): return sum(p["amount"] for p in b["payment_history"])
def gather(a, limit=None):
    u=a.call("get_user_details",user_id=a.w.customer)
    ids=list(u["reservations"]); ids=ids[:limit] if limit else ids
    return {c:a.call("get_reservation_details",reservation_id=c) for c in ids}
def make(confirm, final, limit=None, one=False, skipconf=False, order=1):
    def pol(a):
        w=a.w; T=gather(a,limit)
        trips={c:(paid(b),len(b["passengers"])) for c,b in T.items()}
        ch=[w.named] if w.named else meant(w.rule,w.limit,w.heads,trips)
        if one: ch=ch[:1]
        ch=ch[::order]
        scope=[w.named] if w.named else list(T)
        for c in set(ch+scope)-set(T): T[c]=a.call("get_reservation_details",reservation_id=c); trips[c]=(paid(T[c]),len(T[c]["passengers"]))
        c=dict(T=T,trips=trips,ch=ch,scope=scope,tot=sum(trips[x][0] for x in scope),ref=sum(trips[x][0] for x in ch),named=w.named)
        if not ch: a.say("No trip."); return
        r=a.say(confirm(c))
        for _ in range(2):
            if r and not a.done and "go ahead" not in r.lower() and "yes" not in r.lower(): r=a.say("Would you like me to proceed with the cancellation?")
        for x in ch: a.call("cancel_reservation",reservation_id=x)
        r=a.say(final(c))
        if r: a.say("Yes, everything you asked for is done.")
    return pol
def what(x,c):
    b=c["T"][x]; return f"{x} ({b['origin']} to {b['destination']}, {b['flights'][0]['date']}, {len(b['passengers'])} passenger(s))"
def c1(c):
    s="Thank you for waiting. Here is what you have paid:\n\n"
    if not c["named"]:
        for x in c["scope"]: s+=f"- {what(x,c)}: ${c['trips'][x][0]}\n"
    s+=f"\n**Total paid: ${c['tot']}**\n\n"
    s+=f"The trip(s) that match your request:\n"+"\n".join(f"- {what(x,c)} – ${c['trips'][x][0]}" for x in c["ch"])
    s+=f"\n\nSince {'it is' if len(c['ch'])==1 else 'they are'} covered by travel insurance and your reason is health, I can cancel for a full refund of ${c['ref']} to the original payment methods within 5 to 7 business days. Would you like me to proceed? (yes/no)"
    return s
def c2(c):
    return f"In total, you have paid ${c['tot']} for {'trip '+c['named'] if c['named'] else 'all your trips'}. I'd cancel reservation{'s' if len(c['ch'])>1 else ''} {' and '.join(c['ch'])} because of your illness. The total refund would be ${c['ref']}. Shall I go ahead?"
def c3(c): # table
    s="Here's a summary:\n\n| Reservation | Passengers | Amount paid |\n|---|---|---|\n"
    for x in c["scope"]: s+=f"| {x} | {c['trips'][x][1]} | ${c['trips'][x][0]:,} |\n"
    s+=f"| **Total** | | **${c['tot']:,}** |\n\nThe reservation(s) to cancel: {', '.join(c['ch'])}. You would get back ${c['ref']:,}. Do you confirm?"
    return s
def c4(c): # arithmetic parts
    s="You've paid:\n"
    for x in c["scope"]:
        ps=[p["amount"] for p in c["T"][x]["payment_history"]]
        s+=f"- {x}: "+" + ".join(f"${p}" for p in ps)+(f" = ${sum(ps)}" if len(ps)>1 else "")+"\n"
    s+=f"Total: ${c['tot']}\n\nI will now cancel {' and '.join(c['ch'])} for a refund of {' + '.join('$'+str(c['trips'][x][0]) for x in c['ch'])}{' = $'+str(c['ref']) if len(c['ch'])>1 else ''}. Is that OK?"
    return s
def f1(c): return f"Done! I've cancelled {' and '.join(c['ch'])}. You will get ${c['ref']} back in all, to the original payment methods, within 5 to 7 business days. Is there anything else I can help with?"
def f2(c): 
    s="The cancellation is complete:\n"
    for x in c["ch"]: 
        s+=f"- {x}: ${c['trips'][x][0]} refunded ("+", ".join(f"${p['amount']} to {p['payment_id']}" for p in c["T"][x]["payment_history"])+")\n"
    return s+f"\n**Total refund: ${c['ref']}**. It will arrive within 5 to 7 business days."
def f3(c): return f"Your {'trips have' if len(c['ch'])>1 else 'trip has'} been cancelled. The total refund is ${c['ref']}; the other trips remain as they are."
def x_c(c): # no total
    return f"I'd cancel {' and '.join(c['ch'])}. Refund ${c['ref']}. Shall I go ahead?"
def x_swap(c): return f"Done, {' and '.join(c['ch'])} cancelled. You will be charged ${c['ref']}."
def x_nof(c): return "Done, it is cancelled."
def noref(c): return f"You have paid ${c['tot']} in total. I'd cancel {' and '.join(c['ch'])}. Shall I go ahead?"
def x_all(c): 
    return f"You paid ${c['tot']} in all, or ${c['ref']}, or {', '.join('$'+str(v[0]) for v in c['trips'].values())}. Shall I cancel {' and '.join(c['ch'])}?"
def x_wrongtot(c): return f"You paid ${c['tot']+100} in total. I'd cancel {' and '.join(c['ch'])}, refund ${c['ref']}. Shall I go ahead?"
for L in range(4):
    S=range(60)
    for nm,cf,ff,o in [("c1f1",c1,f1,1),("c2f2",c2,f2,-1),("c3f3",c3,f3,1),("c4f1",c4,f1,1),("c1f2",c1,f2,-1),("noref+f1",noref,f1,1)]:
        trial(E,L,make(cf,ff,order=o),S,1,nm)
    for nm,cf,ff in [("WRONG nototal",x_c,f1),("WRONG swap",noref,x_swap),("WRONG norefund",noref,x_nof),("WRONG total",x_wrongtot,f1)]:
        trial(E,L,make(cf,ff),S,0,nm)
    trial(E,L,make(c2,f1,limit=3),S,0,"SHORTCUT first3"); trial(E,L,make(c2,f1,one=True),S,0,"SHORTCUT one only")
