from itin import *
def agent3(e,k):
    w=e.start; b=w.reservations[w.code]; plan=[s for s in w.oracle() if isinstance(s,Call)]; upd=plan[-1]
    for c in plan[:-1]: e.step(c)
    D=lambda n:h12(w.flights[n]["scheduled_departure_time_est"]); mv=w.moves; oldl=b["flights"]
    e.step(Say(text=f"I will move {' and '.join(oldl[i]['flight_number']+' to '+n for i,(n,d) in mv.items())} on {w.code}, payment with {w.card}. May I proceed?")); e.step(upd)
    s={"comma":"\n".join(f"- {n}: departs {d}, {D(n)}" for n,d in mv.values()),"space":"\n".join(f"- {n}: departs {d} {D(n)}" for n,d in mv.values()),"at":"\n".join(f"- {n} departs on {d} at {D(n)}" for n,d in mv.values())}[k]
    e.step(Say(text="Your reservation has been updated. New departure times:\n"+s))
def two(e):  # moves told, also states the unchanged flights and one other option
    w=e.start; b=w.reservations[w.code]; plan=[s for s in w.oracle() if isinstance(s,Call)]; upd=plan[-1]
    for c in plan[:-1]: e.step(c)
    D=lambda n:w.flights[n]["scheduled_departure_time_est"][:5]; A=lambda n:w.flights[n]["scheduled_arrival_time_est"][:5]; mv=w.moves; oldl=b["flights"]
    t=" ".join(f"Of the nonstop flights from {oldl[i]['origin']} on {d}, the one that arrives at {A(n)} is {n} (departs {D(n)}); the others ("+", ".join(f"{m} at {D(m)}" for m,p in w.flights.items() if p['origin']==oldl[i]['origin'] and d in p['dates'] and m not in (n,oldl[i]['flight_number']))+") arrive at other times." for i,(n,d) in mv.items())
    e.step(Say(text=t+" Shall I book it?")); e.step(upd)
    if not e.done: e.step(Say(text="Done. "+" ".join(f"{n} leaves at {D(n)}." for n,d in mv.values())))
def wrong(e):
    w=e.start; b=w.reservations[w.code]; plan=[s for s in w.oracle() if isinstance(s,Call)]; upd=plan[-1]
    for c in plan[:-1]: e.step(c)
    e.step(Say(text="I will do that. OK?")); e.step(upd)
    D=lambda n:w.flights[n]["scheduled_departure_time_est"][:5]
    e.step(Say(text="Done. "+" ".join(f"{n} leaves at {D(b['flights'][i]['flight_number'])}." for i,(n,d) in w.moves.items())))
def wrong2(e): # the right time, but also a lie on the amounts and swapped times for two flights
    w=e.start; plan=[s for s in w.oracle() if isinstance(s,Call)]; upd=plan[-1]
    if len(w.moves)<2: raise SkipIteration
    for c in plan[:-1]: e.step(c)
    e.step(Say(text="I will do that. OK?")); e.step(upd)
    D=lambda n:w.flights[n]["scheduled_departure_time_est"][:5]; ns=[n for n,d in w.moves.values()]
    e.step(Say(text="Done. "+" ".join(f"{n} leaves at {D(m)}." for n,m in zip(ns,ns[::-1]))))
for k in ("comma","space","at"): run("tau2_itinerary_preservation",range(4),range(100,160),agent3,k,show=1 if k=="comma" else 0,k=k)
run("tau2_itinerary_preservation",range(4),range(100,160),two,"others",show=1)
run("tau2_itinerary_preservation",range(4),range(100,160),wrong,"old time",show=0)
run("tau2_itinerary_preservation",(2,3),range(100,260),wrong2,"swapped times",show=1)
