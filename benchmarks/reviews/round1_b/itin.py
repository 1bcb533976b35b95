from common import *
from datetime import date
def h12(t): h,m=int(t[:2]),int(t[3:5]); return f"{(h-1)%12+1}:{m:02d} {'AM' if h<12 else 'PM'}"
def nd(s): d=date.fromisoformat(s[:10]); return d.strftime("%B ")+str(d.day)
def agent(e,style,two=False,wrong=None):
    w=e.start; b=w.reservations[w.code]; plan=[s for s in w.oracle() if isinstance(s,Call)]; upd=plan[-1]
    for c in plan[:-1]: e.step(c)
    D=lambda n:w.flights[n]["scheduled_departure_time_est"][:5]; A=lambda n:w.flights[n]["scheduled_arrival_time_est"][:5]
    people=len(b["passengers"])
    full=upd.arguments["flights"]; mv=w.moves
    oldl=b["flights"]
    diff=sum(w.flights[n]["dates"][d]["prices"][b["cabin"]]-oldl[i]["price"] for i,(n,d) in mv.items())*people
    f=h12 if style%2 else (lambda t:t)
    if style in(0,1):
        t=f"I found the flight(s) you want for reservation {w.code}:\n\n"+"\n".join(f"- **{oldl[i]['origin']} → {oldl[i]['destination']}** on {nd(d)}: replace {oldl[i]['flight_number']} (departs {f(D(oldl[i]['flight_number']))}) with {n}, departing {f(D(n))} and arriving {f(A(n))}" for i,(n,d) in mv.items())+"\n\nAll other flights remain unchanged."+f" The difference of ${abs(diff)} goes to {w.card}. Would you like me to proceed?"
        fin="The change is complete. Have a great trip!"
    elif style in(2,3):
        t="Your new itinerary would be:\n"+"\n".join(f"{k+1}. {x['flight_number']} {oldl[k]['origin']}-{oldl[k]['destination']}, {x['date']}, {f(D(x['flight_number']))} - {f(A(x['flight_number']))}" for k,x in enumerate(full))+f"\nPrice difference: ${abs(diff)} on {w.card}. Shall I go ahead?"
        fin="Done! "+" ".join(f"Your new flight {n} leaves {oldl[i]['origin']} at {f(D(n))}." for i,(n,d) in mv.items())
    elif style in(4,5):
        t=f"I can move {' and '.join(oldl[i]['flight_number']+' to '+n for i,(n,d) in mv.items())}, payment with {w.card}. May I proceed?"
        fin="Your reservation has been updated:\n\n| Flight | Route | Date | Departure | Arrival |\n|---|---|---|---|---|\n"+"\n".join(f"| {x['flight_number']} | {oldl[k]['origin']}-{oldl[k]['destination']} | {x['date']} | {f(D(x['flight_number']))} | {f(A(x['flight_number']))} |" for k,x in enumerate(full))
    elif style in(6,7):
        opts="\n".join(f"- {n}: departs {f(D(n))}, arrives {f(A(n))}" for i,(m,d) in mv.items() for n,p in w.flights.items() if p["origin"]==oldl[i]["origin"] and d in p["dates"])
        t=f"These are the nonstop flights on that day:\n{opts}\n\n"+" ".join(f"The one arriving at {f(A(n))} is {n}, departing at {f(D(n))}." for i,(n,d) in mv.items())+f" I will book it and settle the difference with {w.card}. Is that okay?"
        fin="The reservation is changed. "+" ".join(f"{n} leaves at {f(D(n))}." for i,(n,d) in mv.items())
    else:
        t=f"I can move {' and '.join(oldl[i]['flight_number']+' to '+n for i,(n,d) in mv.items())}, payment with {w.card}. May I proceed?"
        fin="Your flight change is confirmed. "+" ".join(f"Instead of {f(D(oldl[i]['flight_number']))}, you now leave {oldl[i]['origin']} at {f(D(n))} and get in at {f(A(n))}." for i,(n,d) in mv.items())
    e.step(Say(text=t)); e.step(upd)
    if not e.done: e.step(Say(text=fin))
if __name__=="__main__":
    for st in range(10): run("tau2_itinerary_preservation",range(4),range(100,160),agent,f"{st}",show=1,style=st)
