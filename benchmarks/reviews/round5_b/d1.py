from lib import *
import datetime
E="tau2_relative_date_reasoning"
def nat(d): return datetime.date.fromisoformat(d).strftime("%B %-d, %Y")
def wd(d): return datetime.date.fromisoformat(d).strftime("%A")
def ctx(w):
    w=w.copy(); wr=w.change(w.days); b=w.reservations[w.code]; aft=w.after(wr).reservations[w.code]; n=len(b["passengers"])
    a=aft["payment_history"][-1]["amount"]; m=w.users[w.customer]["payment_methods"][w.method]
    legs=[]
    for i,dd in zip(w.legs,w.days):
        o=b["flights"][i]; nw=aft["flights"][i]; on=records.day(dd)
        legs.append(dict(leg=("outbound","return")[i] if len(b["flights"])>1 else "",od=o["date"],nod=nat(o["date"]),date=on,nd=nat(on),sd=datetime.date.fromisoformat(on).strftime("%A, %B %-d"),wd=wd(on),ofl=o["flight_number"],fl=nw["flight_number"],op=o["price"],np=nw["price"],diff=abs(nw["price"]-o["price"]),up="higher" if nw["price"]>o["price"] else "lower",bk=b["created_at"][:10],nbk=nat(b["created_at"][:10]),t=w.flights[nw["flight_number"]]["scheduled_departure_time_est"][:5],o=o["origin"],d=o["destination"]))
    pays=a>0
    c=dict(code=w.code,a=abs(a),n=n,per=abs(a)//n,meth=w.method,mm=f"your card ending in {m['last_four']}" if "last_four" in m else "your gift card",vb="charged to" if pays else "refunded to",who="you pay" if pays else "you get back",wh2="additional charge" if pays else "refund",wh3="to pay" if pays else "back to you",cab=b["cabin"].replace("_"," "),
      of=sum(l["op"] for l in legs)*n,nf=sum(l["np"] for l in legs)*n,up="higher" if pays else "lower",mc="more expensive" if pays else "cheaper",tof=sum(f["price"] for f in b["flights"])*n,tnf=sum(f["price"] for f in aft["flights"])*n,credit="charged" if pays else "credited")
    return c,legs,wr
def mk(head,item,tail,sep=" and "):
    def f(w):
        c,ls,_=ctx(w); return head.format(**c)+sep.join(item.format(**{**c,**l}) for l in ls)+tail.format(**c)
    return f
V={"prop":[mk("The day that you describe is ","{date}",". I will move {code} to what flies then, in the same cabin, settled with {meth}. Shall I proceed?"),
mk("Your {cab} trip {code}: I would move ","the {leg} flight from {nod} to {sd} ({fl}, departing {t})",". The fare difference is ${a}, which {who}, on {mm}. Would you like me to proceed?"),
mk("I've worked out the dates:\n","- {leg} flight: {ofl} on {od} → {fl} on {date} ({wd})","\n\nThe difference of ${a} will be {vb} {meth}. Do you confirm?","\n"),
mk("","Your {leg} flight is booked for {nod}; you want {nd}, which is a {wd}. Flight {fl} leaves that day at {t}",". The difference would be ${a} ({wh2}) on {mm}. Shall I make this change?",". "),
mk("","The trip was booked on {nbk} and the {leg} flight is on {od}, so the new date is {date}",". I will change it in {cab} and use {mm} for the difference. Is that okay?",". "),
mk("I can change {code} as follows: ","{fl} from {o} to {d} on {nd} at ${np} per person instead of {ofl} on {nod} at ${op}",". For {n} passenger(s) that is a difference of ${a}, {vb} {mm}. Shall I go ahead?","; "),
],
"done":[mk("I have changed {code}. The difference of {a} dollars was {vb} {meth}.","",""),
mk("Your reservation {code} has been updated. ","The {leg} flight is now {fl} on {nd}",". ${a} has been {vb} {mm}."),
mk("Done! The fare difference is ${a}, and {who} this amount on {mm}.","",""),
mk("The change is complete:\n","- {leg}: {fl} on {date}","\n- Difference: ${a} ({wh2} to {meth})","\n"),
mk("All set. The new fare is ${a} {up} than the old one, so ${a} was {vb} {mm}.","",""),
mk("{code} is changed. The total difference is ${a} (${per} x {n} passengers), {vb} {mm}.","",""),
mk("{code} is changed. The old fare was ${of} and the new one is ${nf}, a difference of ${a}, which was {vb} {mm}.","",""),
mk("Your trip has been changed. The new flight is ${a} {mc} in total, so {who} ${a} via {mm}.","",""),
mk("The flight has been moved to ","{sd}",". Difference: ${a}, {credit} to {mm}."),
mk("Done. In total, {who} ${a}: ","the {leg} fare went from ${op} to ${np} per person",". It was {vb} {mm}."),
mk("{code} is updated. There is a {wh2} of ${a}, which went to {mm}.","",""),
mk("I've moved it to ","{nd} ({fl})",". The price difference was ${per} per passenger for {n} passenger(s), so ${a} has been {vb} {meth}."),
mk("I've made the change. The difference is ${a} {wh3}, settled with {mm}.","",""),
mk("The change is confirmed. **Difference:** ${a} – {who} it ({mm}).","",""),
mk("{code} is changed. The total for the flights went from ${tof} to ${tnf}, so {who} ${a} ({mm}).","",""),
]}
def agent(t,pick):
    w=t.w.copy(); c,ls,wr=ctx(w); t.call("get_user_details",user_id=w.customer); t.call("get_reservation_details",reservation_id=w.code)
    for l in ls: t.call("search_direct_flight",origin=l["o"],destination=l["d"],date=l["date"])
    t.say(pick("prop")(w)); t.do(wr); a=t.say(pick("done")(w))
    if a: t.log.append("FOLLOWUP"); t.say(mk("The difference is ${a}; {who} it.","","")(w))
if __name__=="__main__": sweep(E,range(3),range(40),V,agent)
