from conn import *
def agent2(e, mode):
    w=e.start; calls=[s for s in w.oracle() if isinstance(s,Call)]; upd=calls[-1]; f1,f2=upd.arguments["flights"]
    e.step(Say(text="Sure, let me look up your reservation and check the available flights."))
    for c in calls[:-1]: e.step(c)
    b=w.reservations[w.code]; k=b["flights"][1]; cab=b["cabin"]
    fl=w.flights; A=lambda n:fl[n]["scheduled_arrival_time_est"][:5]; D=lambda n:fl[n]["scheduled_departure_time_est"][:5]
    n1,n2,kn=f1["flight_number"],f2["flight_number"],k["flight_number"]; kept=kn==n2
    tempt=w.tempting[0]["flight_number"]
    stop=b["flights"][0]["destination"]
    opts=[n for n in fl if fl[n]["origin"]==stop]
    pre=""
    if tempt!=n1: pre=f"Unfortunately, the trip cannot be made with {tempt}: you would land in {stop} at {A(tempt)} or there are not enough seats, and no suitable onward flight is left. So I would use your second choice, {n1}. "
    if mode=="table":
        t="\n".join(f"| {n} | {D(n)} | {A(n)} | ${list(fl[n]['dates'].values())[0]['prices'][cab]} |" for n in opts)
        e.step(Say(text=f"{pre}These are the onward flights from {stop}:\n\n| Flight | Departs | Arrives | Price |\n|---|---|---|---|\n{t}\n\n{'Your booked flight '+kn+' can still be made, so I will keep it.' if kept else 'The cheapest one that fits is '+n2+' on '+f2['date']+'.'} It arrives at {A(n2)}. The new trip is {n1} on {f1['date']} and {n2} on {f2['date']}, settled with {w.card}. Shall I make this change?"))
        e.step(upd); e.step(Say(text=f"Your reservation {w.code} has been changed to {n1} and {n2}."))
    if mode=="reject":
        e.step(Say(text=f"{pre}{'You can keep '+kn+', which leaves at '+D(kn)+' and lands at '+A(kn)+'.' if kept else 'Your current onward flight '+kn+' (departing '+D(kn)+', arriving '+A(kn)+') will not work, so I would move you to '+n2+', departing '+D(n2)+' and landing at '+A(n2)+'.'} The change is settled with {w.card}. May I proceed?"))
        e.step(upd); e.step(Say(text="The change has been made. Have a nice trip!"))
    if mode=="twocalls":
        e.step(Say(text=f"{pre}I will change {w.code}: {n1} on {f1['date']}, then {n2} on {f2['date']} arriving {A(n2)}. Difference to {w.card}. OK?"))
        e.step(upd); e.step(Call(tool="get_reservation_details",arguments={"reservation_id":w.code})); e.step(Say(text=f"Your itinerary is now:\n- {n1}: {D(n1)} - {A(n1)}\n- {n2}: {D(n2)} - {A(n2)}\nEnjoy your trip!"))
    if mode=="exchanged":
        amt=None
        e.step(Say(text=f"I will change {w.code}: {n1}, then {n2}. OK?"))
        e.step(upd); am=e.world.reservations[w.code]["payment_history"][-1]["amount"]
        e.step(Say(text=f"Done. The onward flight lands at {A(n2)}. {abs(am)} dollars were {'refunded' if am>0 else 'charged'} to {w.card}."))
    if mode=="hedge":
        e.step(Say(text=f"I will change {w.code}: {n1}, then {n2}. OK?"))
        e.step(upd); e.step(Say(text=f"Done. The onward flight lands at {' or '.join(A(n) for n in opts[:3]+[n2])}."))
    if mode=="wrongtime":
        o=[n for n in opts if n not in(n2,kn)][0]
        e.step(Say(text=f"I will change {w.code}: {n1}, then {n2}. OK?"))
        e.step(upd); e.step(Say(text=f"Done. The onward flight lands at {A(o)}."))
        if not e.done: e.step(Say(text=f"It lands at {A(n2)}."))
def short(e, kind):
    """fixed shortcut plans"""
    w=e.start; b=w.reservations[w.code]; cab=b["cabin"]; k=b["flights"][1]; stop=b["flights"][0]["destination"]
    first=w.tempting[0]
    fl=w.flights; on=[(p["dates"][d]["prices"][cab],n,d) for n,p in fl.items() if p["origin"]==stop for d in p["dates"]]
    lt=[x for x in on if x[2]<=w.last]
    sec=[l for l in [w.right[0]]][0]
    if kind=="keep": t=[first,{"flight_number":k["flight_number"],"date":k["date"]}]
    if kind=="cheapest": x=min(lt); t=[first,{"flight_number":x[1],"date":x[2]}]
    if kind=="latest": x=max(lt,key=lambda x:(x[2],fl[x[1]]["scheduled_departure_time_est"])); t=[first,{"flight_number":x[1],"date":x[2]}]
    e.step(Say(text="I will change it to "+" and ".join(f["flight_number"] for f in t)+". Shall I proceed?"))
    e.step(Call(tool="update_reservation_flights",arguments={"reservation_id":w.code,"cabin":cab,"flights":t,"payment_id":w.card}))
    e.step(Say(text=f"Done. The onward flight lands at {fl[t[1]['flight_number']]['scheduled_arrival_time_est'][:5]}."))
S=range(100,160)
for m in ("table","reject","twocalls","exchanged","hedge","wrongtime"): run("tau2_connection_feasibility",(0,1,3),S,agent2,m,show=1,mode=m)
for m in ("keep","cheapest","latest"): run("tau2_connection_feasibility",range(4),S,short,m,show=0,kind=m)
