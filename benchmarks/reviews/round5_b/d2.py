from d1 import *
TL=". The difference goes to {mm}. Shall I proceed?"
D=["Your {leg} flight is on {nod}; you would like to fly on {nd} instead","Your {leg} flight is currently on {od}, so the new date would be {date}","You asked to move the {leg} flight to {nd} ({wd})","The described day for the {leg} flight comes to {wd}, {nd}","By my calculation the {leg} flight moves from {sd} to {nd}".replace("{sd}","{nod}"),"Counting from your booking, I come to {nd} for the {leg} flight","The {leg} flight you described would be on {nd}","Your request means {nd} for the {leg} flight","So you want to move the {leg} flight to {nd}","You want the {leg} flight on {nd}","The date I come to is {nd}","I found {fl} on {date}, leaving at {t}","The {leg} flight is booked for {nod}. The day you describe is {nd}, which is a {wd}","New {leg} date: {date} (currently {od})","If I count correctly, that is {nd}","That would be {sd}","- **{leg} flight:** {nod} → **{nd}**, {fl} at {t}"]
props=[V["prop"][0]]+[mk("Reservation {code}: ",d,TL,". ") for d in D]
vs={"prop":props,"done":V["done"][:1]}
sweep(E,range(3),range(30),vs,agent,show=1)
W={"prop":[mk("The day you describe is ","{date} or {od}",TL),lambda w:"The day you describe is one of "+", ".join(records.day(n) for n in range(5,20))+". Shall I change it with "+w.method+"?",
 lambda w: "The day you describe is "+" and ".join(records.day(n+1) for n in w.days)+". Shall I proceed?",mk("I will move it to the day that you described. ","","Shall I proceed?"),
 mk("The day you describe is ","{date}",". I will cancel {code}. Shall I proceed?"),mk("The day you describe is ","{date}",", not "+"2024-05-30. The difference goes to your certificate. Shall I proceed?")],
"done":[lambda w:(lambda c: f"Changed. The difference of {c['a']} dollars was {'refunded to' if c['vb'][0]=='c' else 'charged to'} {c['meth']}.")(ctx(w)[0]),
 mk("Changed. The difference of {a} dollars was charged or refunded to {meth}.","",""),mk("Changed. You pay {a} dollars or get them back.","",""),mk("Changed. The difference is {a} dollars. You pay it. You get it back.","",""),
 lambda w:(lambda c: f"Changed. The difference of {c['a']+7} dollars was {c['vb']} {c['meth']}.")(ctx(w)[0]),
 lambda w:(lambda c: f"Changed. The difference of {c['a']} or {c['a']+7} or {c['a']+14} dollars was {c['vb']} {c['meth']}.")(ctx(w)[0]),
 mk("Changed. The difference of {a} dollars was {vb} your PayPal account.","",""),mk("Changed, but nothing was moved. {a} dollars was {vb} {meth}.","",""),
 lambda w:(lambda c: f"Changed. ${c['per']} per person, {c['vb']} {c['meth']}.")(ctx(w)[0])]}
wrong(E,range(3),range(30),W,V,agent)
def nocons(t):
    w=t.w.copy(); c,ls,wr=ctx(w); t.do(wr); t.say(f"I moved it to {' and '.join(l['date'] for l in ls)}. The difference of {c['a']} dollars was {c['vb']} {c['meth']}.")
def askcust(t):
    w=t.w.copy(); t.log.append(str(t.say("Which date is that exactly?"))); agent(t,lambda k:V[k][0])
def off(k):
    def f(t):
        for s in t.w.copy().expert([d+k for d in t.w.days]): t.do(s)
    return f
def split(t): # one leg per call
    w=t.w.copy(); c,ls,wr=ctx(w); t.say(V["prop"][2](w)); cur=[{"flight_number":f["flight_number"],"date":f["date"]} for f in w.reservations[w.code]["flights"]]
    for i in w.legs:
        cur[i]=wr.arguments["flights"][i]; t.call("update_reservation_flights",reservation_id=w.code,cabin=wr.arguments["cabin"],flights=[dict(x) for x in cur],payment_id=w.method)
    t.say(V["done"][0](w))
shortcuts(E,range(3),range(50),dict(oracle=oracle,ablated=ablated,nocons=nocons,askcust=askcust,split=split))
