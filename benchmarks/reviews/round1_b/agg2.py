from agg import *
B={"none":"","colon":"- {c}: ${p}","paidfor":"- {c}: you paid ${p}","paid$":"- {c}: ${p} paid","inline":"${p} for {c}","table":"| {c} | ${p} |","amountpaid":"- {c} – amount paid: ${p}","cost":"- {c} cost ${p}"}
def ag(e,k,order="first"):
    w=e.start; R=w.reservations
    if w.named: raise SkipIteration
    for c in R: e.step(Call(tool="get_reservation_details",arguments={"reservation_id":c}))
    paid={c:policy.refund(R[c]) for c in R}; ch=[r.reservation for r in w.requests]; tot=sum(paid.values()); ref=sum(paid[c] for c in ch)
    rows=[B[k].format(c=c,p=paid[c]) for c in R] if k!="none" else []
    b=(", ".join(rows) if k=="inline" else "\n".join((["| Trip | Paid |","|---|---|"] if k=="table" else [])+rows))
    t1=f"You have paid ${tot} in total for all your trips"+(":\n\n"+b+"\n" if rows else ".")
    t2=f"I will cancel {' and '.join(ch)}, and ${ref} will be refunded to the original payment methods. Shall I proceed?"
    e.step(Say(text=t1+"\n\n"+t2))
    for c in ch: e.step(Call(tool="cancel_reservation",arguments={"reservation_id":c}))
    if not e.done: e.step(Say(text=f"Done! {' and '.join(ch)} {'have' if len(ch)>1 else 'has'} been cancelled and you will get a total refund of ${ref}."))
    if not e.done: e.step(Say(text="Yes, everything is done."))
def ag2(e,k):
    w=e.start; R=w.reservations
    if not w.named: raise SkipIteration
    c=w.named; e.step(Call(tool="get_reservation_details",arguments={"reservation_id":c})); p=policy.refund(R[c])
    T={"paid":f"You have paid ${p} for trip {c}.","cost":f"Trip {c} cost you ${p}.","totalcost":f"The total cost of trip {c} was ${p}.","charged":f"You were charged ${p} for trip {c}.","paidsofar":f"So far, you've paid a total of ${p} for {c}."}[k]
    e.step(Say(text=f"{T} If I cancel it, the full ${p} will be refunded to your original payment methods. Would you like me to proceed?"))
    e.step(Call(tool="cancel_reservation",arguments={"reservation_id":c}))
    if not e.done: e.step(Say(text=f"Trip {c} has been cancelled. You will receive a refund of ${p}."))
    if not e.done: e.step(Say(text="Yes, everything is done."))
for k in B: run("tau2_aggregation",range(4),range(100,180),ag,f"breakdown {k}",show=1 if k=="paidfor" else 0,k=k)
for k in ("paid","cost","totalcost","charged","paidsofar"): run("tau2_aggregation",(0,2),range(100,260),ag2,f"named {k}",show=1 if k=="totalcost" else 0,k=k)
