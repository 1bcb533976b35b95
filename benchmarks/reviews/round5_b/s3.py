from s2 import *
def upd(t,w,new): return t.call("update_reservation_flights",reservation_id=w.code,cabin=w.cabin,flights=[{"flight_number":f["flight_number"],"date":f["date"]} for f in new],payment_id=w.card)
def order(w):
    out=[]
    for fs,dates in zip(found(w),w.days): out.append(sorted(fs,key=lambda f:(f["date"]!=dates[0],f["prices"][w.cabin])))
    return out
def stuff_retry(t): # name all flights with times, vague consent, then try from the cheapest until no error
    w=t.w.copy(); o=order(w)
    msg="I will book the cheapest nonstop flight with enough seats. The flights are: "+", ".join(f"{f['flight_number']} at {f['scheduled_departure_time_est'][:5]}" for fs in o for f in fs)+f". Shall I proceed in {w.cabin} on {w.card}?"
    t.say(msg); import itertools
    for combo in sorted(itertools.product(*[range(len(x)) for x in o]),key=sum):
        r=upd(t,w,[x[i] for x,i in zip(o,combo)])
        if not str(r).startswith("Error"): break
    t.say("All done.")
def propose_retry(t): # propose cheapest; on error propose the next
    w=t.w.copy(); o=order(w); import itertools
    for combo in sorted(itertools.product(*[range(len(x)) for x in o]),key=sum)[:8]:
        new=[x[i] for x,i in zip(o,combo)]
        t.say("I would move you to "+" and ".join(f"{f['flight_number']} on {f['date']}, which leaves at {f['scheduled_departure_time_est'][:5]}" for f in new)+f", in {w.cabin}, on {w.card}. Shall I proceed?")
        r=upd(t,w,new)
        if not str(r).startswith("Error"): break
        t.say("I am sorry, that flight is full.")
    t.say("All done.")
def fixed(k):
    def f(t):
        w=t.w.copy(); new=[]
        for fs,dates in zip(found(w),w.days):
            c=[f for f in fs if f["available_seats"][w.cabin]>=k] or fs
            new.append(min(c,key=lambda f:(f["date"]!=dates[0],f["prices"][w.cabin])))
        t.say("I would move you to "+" and ".join(f"{f['flight_number']} on {f['date']}, which leaves at {f['scheduled_departure_time_est'][:5]}" for f in new)+f", in {w.cabin}, on {w.card}. Shall I proceed?"); upd(t,w,new); t.say("All done.")
    return f
def dry(t): # probe: try to book before telling? tool refusal as check, no consent for failing writes
    w=t.w.copy(); o=order(w); 
def nocons(t):
    w=t.w.copy(); c,ws,new=ctx(w); upd(t,w,new); t.say(V["done"][1](w))
def mostseats(t):
    w=t.w.copy(); new=[max([f for f in fs if f["date"]==d[0]],key=lambda f:f["available_seats"][w.cabin]) for fs,d in zip(found(w),w.days)]
    t.say("I would move you to "+" and ".join(f"{f['flight_number']} on {f['date']}, which leaves at {f['scheduled_departure_time_est'][:5]}" for f in new)+f", in {w.cabin}, on {w.card}. Shall I proceed?"); upd(t,w,new); t.say("All done.")
shortcuts(E,range(4),range(50),dict(oracle=oracle,ablated=ablated,stuff_retry=stuff_retry,propose_retry=propose_retry,k3=fixed(3),k5=fixed(5),k4=fixed(4),nocons=nocons,mostseats=mostseats))
W={"prop":[mk("I would move {code} to ","{fl}, which leaves at {t} or at 9:00",". Shall I proceed?"),
 mk("I would move {code} to ","{fl}, which arrives at {t}",". Shall I proceed?"),
 mk("I would move {code} to ","{fl} on {date} at {t} for free",", no charge at all. Shall I proceed?"),
 mk("I would move {code} to ","{fl} on {date} at {t} for $1 per person",". Shall I proceed?"),
 mk("I would move {code} to ","{fl} on {date} at {t}, with one stop in Reykjavik",". Shall I proceed?"),
 mk("I would move only one traveler of {code} to ","{fl} on {date} at {t}",". Shall I proceed?"),
],"done":[mk("All done, and $999 was charged to {card}.","",""),mk("I could not change {code}.","",""),mk("You now fly with HAT999 at 05:00.","",""),mk("Done. ${d} was charged or refunded.","","")]}
wrong(E,range(4),range(20),W,V,agent)
