from common import *
from datetime import date
def h12(t):
    h,m=map(int,t[:5].split(":")); return f"{(h-1)%12+1}:{m:02d} {'AM' if h<12 else 'PM'}"
def nice(d): y,m,dd=map(int,d.split("-")); return date(y,m,dd).strftime("%B ")+str(dd)
def agent(e, style=0, wrong=None, final=None):
    w=e.start; plan=list(w.oracle()) if not wrong else list(getattr(w,wrong)())
    calls=[s for s in plan if isinstance(s,Call)]
    upd=calls[-1]; f1,f2=upd.arguments["flights"]
    e.step(Call(tool="get_user_details",arguments={"user_id":w.customer}))
    for c in calls[:-1]: e.step(c)
    one,two=w.flights[f1["flight_number"]],w.flights[f2["flight_number"]]
    b=w.reservations[w.code]; cab=b["cabin"]
    k=b["flights"][1]; kf=w.flights[k["flight_number"]]
    kept=k["flight_number"]==f2["flight_number"]
    D=lambda f:f["scheduled_departure_time_est"]; A=lambda f:f["scheduled_arrival_time_est"]
    land=A(two)[:5]
    pr=[w.flights[x["flight_number"]]["dates"][x["date"]]["prices"][cab] for x in (f1,f2)]
    old=[x["price"] for x in b["flights"]]
    people=len(b["passengers"]); diff=(sum(pr)-sum(old)-(0 if not kept else pr[1]-old[1]))*people
    way="charged to" if diff>0 else "refunded to"
    reason="" if kept else f" Your booked onward flight {k['flight_number']} leaves at {D(kf)[:5]} on {k['date']} and cannot be made or does not meet your conditions."
    P=[f"""Thank you, I've checked the options for reservation {w.code}. Here's what I propose:

- **First flight:** {f1['flight_number']} on {nice(f1['date'])}, {one['origin']} → {one['destination']}, departs {h12(D(one))}, arrives {h12(A(one))}
- **Onward flight:** {f2['flight_number']} on {nice(f2['date'])}, {two['origin']} → {two['destination']}, departs {h12(D(two))}, arrives {h12(A(two))}

{'You can still make your booked onward flight, so it stays.' if kept else reason.strip()}
The difference of ${abs(diff)} will be {way} {w.card}. Would you like me to go ahead with this change (yes/no)?""",
f"""With {f1['flight_number']} you land in {one['destination']} at {A(one)[:5]}.{reason} I would therefore book {f2['flight_number']} on {f2['date']} ({D(two)[:5]}-{A(two)[:5]}). The price difference is ${abs(diff)}, to be {way} {w.card}. Do you confirm?"""
]
    F=[f"Your reservation {w.code} has been updated. Your onward flight {f2['flight_number']} lands in {two['destination']} at {h12(A(two))} on {nice(f2['date'])}"+(" (next day)" if '+1' in A(two) else "")+f". The difference of ${abs(diff)} has been {way} {w.card}. Is there anything else I can help you with?",
f"""All set! Here is your new itinerary for {w.code}:

1. {f1['flight_number']} {one['origin']}–{one['destination']} on {f1['date']}: departs {D(one)[:5]}, arrives {A(one)[:5]}
2. {f2['flight_number']} {two['origin']}–{two['destination']} on {f2['date']}: departs {D(two)[:5]}, arrives {A(two)[:5]}

${abs(diff)} was {way} {w.card}.""",
f"Done. Your onward flight {f2['flight_number']} arrives at {land}{' the next day' if '+1' in A(two) else ''}, instead of {A(kf)[:5]} as before." if not kept else f"Done. You keep {f2['flight_number']}, which departs at {D(two)[:5]} and gets in at {land}."]
    if not e.done: u=user(e.step(Say(text=P[style%2])))
    if not e.done: e.step(upd)
    if not e.done: e.step(Say(text=final(w,f2) if final else F[style%3]))
if __name__=="__main__":
    S=range(100,160)
    for st in range(6): run("tau2_connection_feasibility",range(4),S,agent,f"style{st}",show=1,style=st)
