from h import *
E="tau2_connection_feasibility"
def mins(t):
    d=0
    if "+" in t: t,p=t.split("+"); d=int(p)
    return d*1440+int(t[:2])*60+int(t[3:5])
def abs_(f,key): 
    import datetime
    return datetime.date.fromisoformat(f["date"]).toordinal()*1440+mins(f[key])
def make(confirm, final, mode="right", single=True):
    def pol(a):
        w=a.w; b=a.call("get_reservation_details",reservation_id=w.code)
        one,two=b["flights"]; cab=b["cabin"]; P=len(b["passengers"])
        fs={f["flight_number"]:f for f in a.call("search_direct_flight",origin=one["origin"],destination=one["destination"],date=one["date"])}
        on=[]
        for d in sorted({one["date"],w.last}): 
            on+= a.call("search_direct_flight",origin=two["origin"],destination=two["destination"],date=d) or []
        names=re.findall(r"HAT\d{3}",w.wording); ok=None
        for nm in names:
            f=fs[nm]
            if f["available_seats"][cab]<P: continue
            c=[o for o in on if abs_(o,"scheduled_departure_time_est")>abs_(f,"scheduled_arrival_time_est") and (o["available_seats"][cab]>=P or o["flight_number"]==two["flight_number"]) and o["date"]<=w.last]
            kept=[o for o in c if o["flight_number"]==two["flight_number"] and o["date"]==two["date"]]
            if kept or c: ok=(f,kept[0] if kept else min(c,key=lambda o:o["prices"][cab])); break
        if mode=="keep":
            k=[o for o in on if o["flight_number"]==two["flight_number"] and o["date"]==two["date"]]
            if not k: 
                k=[o for o in a.call("search_direct_flight",origin=two["origin"],destination=two["destination"],date=two["date"]) or [] if o["flight_number"]==two["flight_number"]]
            if not k: a.say("no"); return
            ok=(fs[names[0]],k[0])
        if mode=="cheapest":
            ok=(fs[names[0]],min([o for o in on if o["available_seats"][cab]>=P] or on,key=lambda o:o["prices"][cab]))
        if ok is None: a.say("Unfortunately that trip cannot be made."); return
        f,o=ok
        kept=o["flight_number"]==two["flight_number"] and o["date"]==two["date"]
        pf=f["prices"][cab]-one["price"]; po=0 if kept else o["prices"][cab]-two["price"]
        c=dict(f=f,o=o,one=one,two=two,kept=kept,tot=(pf+po)*P,P=P,cab=cab,code=w.code,card=w.card,lo=o["scheduled_arrival_time_est"],names=names,first=f["flight_number"]==names[0],fs=fs,on=on)
        r=a.say(confirm(c))
        for _ in range(2):
            if r and not a.done and "go ahead" not in r.lower() and "yes" not in r.lower(): r=a.say("Would you like me to proceed with this change?")
        fl=[{"flight_number":x["flight_number"],"date":x["date"]} for x in ok]
        a.call("update_reservation_flights",reservation_id=w.code,cabin=cab,flights=fl,payment_id=w.card)
        r=a.say(final(c))
    return pol
def T(t):
    return t[:5]+(" (next day)" if "+1" in t else "")
def ampm(t):
    h=int(t[:2]); return f"{(h-1)%12+1}:{t[3:5]} {'AM' if h<12 else 'PM'}"+(" the next day" if "+1" in t else "")
def c1(c):
    f,o=c["f"],c["o"]
    s="Here's what I found:\n\n" 
    if not c["first"]: s+=f"Your preferred flight {c['names'][0]} doesn't work for this trip, so I would use {f['flight_number']} instead.\n\n"
    s+=f"**First flight:** {f['flight_number']} {f['origin']}→{f['destination']} on {f['date']}, departs {T(f['scheduled_departure_time_est'])}, arrives {T(f['scheduled_arrival_time_est'])} (${f['prices'][c['cab']]})\n"
    s+=(f"**Onward flight (unchanged):** " if c["kept"] else "**New onward flight:** ")+f"{o['flight_number']} on {o['date']}, departs {T(o['scheduled_departure_time_est'])}, arrives {T(o['scheduled_arrival_time_est'])}"+("" if c["kept"] else f" (${o['prices'][c['cab']]})")
    if not c["kept"]: s+=f"\n\nYour current onward flight {c['two']['flight_number']} cannot be made with this arrival."
    s+=f"\n\nTotal {'additional cost' if c['tot']>0 else 'refund'}: ${abs(c['tot'])} for {c['P']} passenger(s), {'charged' if c['tot']>0 else 'refunded'} to {c['card']}.\n\nWould you like me to proceed?"
    return s
def c2(c): return f"I can change reservation {c['code']} to {c['f']['flight_number']} on {c['f']['date']} and {'keep' if c['kept'] else 'take'} {c['o']['flight_number']} on {c['o']['date']} for the onward flight, in {c['cab']}, with the difference on {c['card']}. Shall I proceed?"
def f1(c): return f"Your reservation {c['code']} has been updated. Your onward flight {c['o']['flight_number']} lands in {c['o']['destination']} at {T(c['lo'])} on {c['o']['date']}. Is there anything else I can help you with?"
def f2(c): return f"All set! Your new itinerary:\n- {c['f']['flight_number']}: {c['f']['date']}, {T(c['f']['scheduled_departure_time_est'])} – {T(c['f']['scheduled_arrival_time_est'])}\n- {c['o']['flight_number']}: {c['o']['date']}, {T(c['o']['scheduled_departure_time_est'])} – {T(c['o']['scheduled_arrival_time_est'])}\n\nYour onward flight lands at {T(c['lo'])}. The difference of ${abs(c['tot'])} has been {'charged' if c['tot']>0 else 'refunded'} to {c['card']}."
def f3(c): return f"Done! The onward flight {c['o']['flight_number']} arrives at {c['o']['destination']} at {ampm(c['lo'])}."
def f4(c): return f"The change is complete. {c['f']['flight_number']} arrives in {c['f']['destination']} at {ampm(c['f']['scheduled_arrival_time_est'])}; {c['o']['flight_number']} then departs at {ampm(c['o']['scheduled_departure_time_est'])} and lands at {ampm(c['lo'])}."
def x1(c): return f"Done. The onward flight departs at {T(c['lo'])}."
def x2(c): return f"Done. The onward flight lands at one of: "+", ".join(T(o['scheduled_arrival_time_est']) for o in c["on"])
def x3(c): return "Done."
if __name__=="__main__":
  for L in range(4):
    S=range(60)
    for nm,cf,ff in [("c1f1",c1,f1),("c1f2",c1,f2),("c2f3",c2,f3),("c2f4",c2,f4),("c1f4",c1,f4)]: trial(E,L,make(cf,ff),S,1,nm)
    for nm,cf,ff in [("WRONG departs",c2,x1),("WRONG stuffing",c2,x2),("WRONG untold",c2,x3)]: trial(E,L,make(cf,ff),S,0,nm)
    trial(E,L,make(c2,f1,"keep"),S,0,"SHORTCUT keep"); trial(E,L,make(c2,f1,"cheapest"),S,0,"SHORTCUT cheapest")
