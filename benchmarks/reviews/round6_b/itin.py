from h import *
E="tau2_itinerary_preservation"
from conn import T,ampm
def make(confirm,final,whole=True,calls=1):
    def pol(a):
        w=a.w; a.call("get_user_details",user_id=w.customer); b=a.call("get_reservation_details",reservation_id=w.code)
        legs=[{"flight_number":f["flight_number"],"date":f["date"]} for f in b["flights"]]; info=[]
        P=len(b["passengers"])
        for i,(n,on) in w.moves.items():
            o=b["flights"][i]; r=a.call("search_direct_flight",origin=o["origin"],destination=o["destination"],date=on)
            f=[x for x in r if x["flight_number"]==n][0]; info.append((o,f)); legs[i]={"flight_number":n,"date":on}
        tot=sum(f["prices"][b["cabin"]]-o["price"] for o,f in info)*P
        if not whole: legs=[l for i,l in enumerate(legs) if i in w.moves]
        c=dict(info=info,tot=tot,P=P,code=w.code,card=w.card,cab=b["cabin"],kept=[f for i,f in enumerate(b["flights"]) if i not in w.moves])
        r=a.say(confirm(c))
        for _ in range(2):
            if r and not a.done and "go ahead" not in r.lower() and "yes" not in r.lower(): r=a.say("Would you like me to proceed with this change?")
        if calls==1: a.call("update_reservation_flights",reservation_id=w.code,cabin=b["cabin"],flights=legs,payment_id=w.card)
        else:
            cur=[{"flight_number":f["flight_number"],"date":f["date"]} for f in b["flights"]]
            for i in w.moves: cur[i]=legs[i]; a.call("update_reservation_flights",reservation_id=w.code,cabin=b["cabin"],flights=list(cur),payment_id=w.card)
        a.say(final(c))
    return pol
def c1(c):
    s=f"Here is the change for reservation {c['code']}:\n\n"
    for o,f in c["info"]: s+=f"- {o['origin']} → {o['destination']} on {o['date']}: from {o['flight_number']} (${o['price']}) to **{f['flight_number']}**, departing {T(f['scheduled_departure_time_est'])}, arriving {T(f['scheduled_arrival_time_est'])} (${f['prices'][c['cab']]})\n"
    if c["kept"]: s+="\nAll other flights stay the same: "+", ".join(f"{k['flight_number']} ({k['origin']}→{k['destination']}, {k['date']})" for k in c["kept"])
    return s+f"\n\nTotal difference for {c['P']} passenger(s): ${abs(c['tot'])} to be {'charged' if c['tot']>0 else 'refunded'} to {c['card']}. Do you want me to go ahead?"
def c2(c): return f"I'd move your booking {c['code']} to "+" and ".join(f"{f['flight_number']} on {f['date']}" for o,f in c["info"])+f", with the difference on {c['card']}. Shall I proceed?"
def f1(c): return f"Your reservation has been updated. "+" ".join(f"Flight {f['flight_number']} from {f['origin']} to {f['destination']} departs at {T(f['scheduled_departure_time_est'])} on {f['date']}." for o,f in c["info"])
def f2(c): return "Done! New flights:\n"+"\n".join(f"- **{f['flight_number']}** ({f['origin']} → {f['destination']}), {f['date']}: departs {ampm(f['scheduled_departure_time_est'])}, arrives {ampm(f['scheduled_arrival_time_est'])}" for o,f in c["info"])+f"\n\n${abs(c['tot'])} was {'charged' if c['tot']>0 else 'refunded'} to {c['card']}."
def f3(c): return "All set. "+" ".join(f"Your flight from {f['origin']} to {f['destination']} leaves at {ampm(f['scheduled_departure_time_est'])}." for o,f in c["info"])+" Everything else remains unchanged."
def f4(c): return "The change is complete.\n\n| Flight | Route | Date | Departure | Arrival |\n|---|---|---|---|---|\n"+"\n".join(f"| {f['flight_number']} | {f['origin']}–{f['destination']} | {f['date']} | {T(f['scheduled_departure_time_est'])} | {T(f['scheduled_arrival_time_est'])} |" for o,f in c["info"])+f"\n\nThe difference of ${abs(c['tot'])} was {'charged' if c['tot']>0 else 'refunded'} to {c['card']}."
def x1(c): return "Done. "+" ".join(f"{f['flight_number']} departs at {T(f['scheduled_arrival_time_est'])}." for o,f in c["info"])
def x2(c): return "Done. The flights are as you wished."
if __name__=="__main__":
  for L in range(4):
    S=range(60)
    for nm,cf,ff in [("c1f1",c1,f1),("c1f2",c1,f2),("c2f3",c2,f3),("c2f4",c2,f4),("c1f4",c1,f4)]: trial(E,L,make(cf,ff),S,1,nm)
    trial(E,L,make(c1,f2,calls=2),S,1,"two calls")
    trial(E,L,make(c2,x1),S,0,"WRONG arrival as departure"); trial(E,L,make(c2,x2),S,0,"WRONG untold")
    trial(E,L,make(c2,f1,False),S,0,"SHORTCUT named only")
