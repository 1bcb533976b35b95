from lib import *
import datetime
E="tau2_seat_availability"
def nat(d): return datetime.date.fromisoformat(d).strftime("%B %-d, %Y")
def ampm(t): h,m=int(t[:2]),t[3:5]; return f"{(h-1)%12+1}:{m} {'AM' if h<12 else 'PM'}"
def found(w):
    b=w.reservations[w.code]; out=[]
    for leg,dates in zip(b["flights"],w.days):
        out.append([{**f,"date":on} for on in dates for f in w.search_direct_flight(leg["origin"],leg["destination"],on)])
    return out
def ctx(w):
    w=w.copy(); new=w.picks(True); b=w.reservations[w.code]; n=len(b["passengers"]); F=found(w); cab=w.cabin
    ways=[]
    for f,fs in zip(new,F):
        alts=[g for g in fs if g["flight_number"]!=f["flight_number"]]
        full=[g for g in alts if g["available_seats"][cab]<n and g["date"]==f["date"] and g["prices"][cab]<f["prices"][cab]]
        dear=[g for g in alts if g["available_seats"][cab]>=n and g["date"]==f["date"]]
        ways.append(dict(fl=f["flight_number"],date=f["date"],nd=nat(f["date"]),t=f["scheduled_departure_time_est"][:5],ap=ampm(f["scheduled_departure_time_est"]),ta=f["scheduled_arrival_time_est"][:5],o=f["origin"],d=f["destination"],p=f["prices"][cab],s=f["available_seats"][cab],full=full,dear=dear,alts=alts))
    want=w.copy(); want.update_reservation_flights(w.code,cab,[{"flight_number":f["flight_number"],"date":f["date"]} for f in new],w.card)
    d=want.reservations[w.code]["payment_history"][-1]["amount"]
    return dict(code=w.code,cab=cab,card=w.card,n=n,d=abs(d),vb="charged to" if d>0 else "refunded to"),ways,new
def mk(head,item,tail,sep=" "):
    def f(w):
        c,ws,_=ctx(w); return head.format(**c)+sep.join((item.format(**{**c,**x}) if isinstance(item,str) else item(c,x)) for x in ws)+tail.format(**c)
    return f
def withfull(c,x):
    pre="".join(f"Flight {g['flight_number']} at {g['scheduled_departure_time_est'][:5]} is cheaper (${g['prices'][c['cab']]}) but has only {g['available_seats'][c['cab']]} seats left in {c['cab']}, which is not enough for {c['n']}. " for g in x["full"])
    return pre+f"The cheapest flight with enough seats on {x['date']} is {x['fl']}, leaving at {x['t']}, for ${x['p']} per person."
def listall(c,x):
    return "\n".join(f"- {g['flight_number']} on {g['date']} at {g['scheduled_departure_time_est'][:5]}: ${g['prices'][c['cab']]}, {g['available_seats'][c['cab']]} seats" for g in sorted(x["alts"]+[dict(flight_number=x['fl'],date=x['date'],scheduled_departure_time_est=x['t'],prices={c['cab']:x['p']},available_seats={c['cab']:x['s']})],key=lambda g:(g['date'],g['prices'][c['cab']])))+f"\n\nThe cheapest one with enough seats for {c['n']} is {x['fl']} on {x['date']}, departing at {x['t']}."
V={"prop":[mk("To confirm, I would move {code} to ","{fl} on {date}, which leaves at {t}",", in {cab}. The difference goes to {card}. Shall I proceed?"," and "),
mk("The cheapest nonstop option with room for all {n} of you:\n","- Flight {fl}, {o} to {d}, {nd}, departs {ap} EST, ${p} per person in {cab}","\n\nThe difference of ${d} would be {vb} {card}. Would you like me to book it?","\n"),
mk("I found flight{n} ".replace("{n}",""),"{fl} from {o} to {d} on {nd}, departing at {t} and arriving at {ta}, at ${p} per passenger in {cab}",". I'll change {code} for all {n} travelers and settle the difference with {card}. Do you confirm?"," and "),
mk("",withfull,"\n\nI would move everyone on {code} to it in {cab} and put the difference on {card}. Shall I proceed?","\n\n"),
mk("Here is what I found:\n\n",listall,"\n\nShall I move {code} to it in {cab}, with the difference on {card}?","\n\n"),
mk("","Your new flight would be {fl} on {date}: it leaves at {ap} and arrives at {ta}. There are {s} seats left in {cab} for your party of {n}."," The difference of ${d} is {vb} {card}. Is that okay?"),
mk("I will change {code} as follows: ","{fl}, {o}-{d}, {date}, {t} (${p} each)",". Cabin: {cab}. Payment: {card}. Do you agree?","; "),
mk("",lambda c,x: f"On {x['nd']}, "+(f"the cheaper flight{'s' if len(x['full'])>1 else ''} {', '.join(g['flight_number'] for g in x['full'])} {'do' if len(x['full'])>1 else 'does'} not have enough seats for {c['n']} passengers, so " if x['full'] else "")+f"the cheapest available nonstop flight is {x['fl']}, which departs at {x['t']}."," I'd book that in {cab} and settle the difference with {card}. May I proceed?"),
mk("",lambda c,x: f"The cheapest suitable flight is {x['fl']} on {x['date']}, departing at {x['t']} (${x['p']} per person)."+"".join(f" The next option, {g['flight_number']} at {g['scheduled_departure_time_est'][:5]}, costs ${g['prices'][c['cab']]}." for g in sorted(x["dear"],key=lambda g:g['prices'][c['cab']])[:1])," I'll move {code} to the cheapest, in {cab}, on {card}. Shall I proceed?"),
mk("",lambda c,x: "".join(f"{g['flight_number']} ({g['scheduled_departure_time_est'][:5]}, ${g['prices'][c['cab']]}) is sold out for a group of {c['n']}. " for g in x["full"])+f"{x['fl']} leaves on {x['date']} at {x['t']} and has enough seats."," I will book it in {cab} with {card}. OK?"),
mk("",lambda c,x: (f"There is no flight with {c['n']} {c['cab']} seats on the first date, so I looked at {x['nd']}. " if 0 else "")+f"Departure: {x['ap']} on {x['nd']} with flight {x['fl']}."," Fare difference {vb} {card}: ${d}. Shall I book it in {cab}?"),
],
"done":[mk("All done: {code} is changed.","",""),mk("Your reservation {code} has been changed. ","You now fly with {fl} on {nd}, leaving at {ap}."," The difference of ${d} was {vb} {card}."),
mk("Done! New itinerary:\n","- {fl} {o} → {d}, {date}, {t}–{ta}, {cab}","\n\n${d} was {vb} {card}.","\n"),
mk("All {n} passengers on {code} are now booked on ","{fl} ({date})",". The difference was ${d} ({vb} {card})."," and ")]}
def agent(t,pick):
    w=t.w.copy(); c,ws,new=ctx(w); t.call("get_reservation_details",reservation_id=w.code)
    for leg,dates in zip(w.reservations[w.code]["flights"],w.days):
        for on in dates: t.call("search_direct_flight",origin=leg["origin"],destination=leg["destination"],date=on)
    t.say(pick("prop")(w))
    t.call("update_reservation_flights",reservation_id=w.code,cabin=w.cabin,flights=[{"flight_number":f["flight_number"],"date":f["date"]} for f in new],payment_id=w.card)
    a=t.say(pick("done")(w))
    if a: t.say("Yes, it is done.")
if __name__=="__main__": sweep(E,range(4),range(30),V,agent)
