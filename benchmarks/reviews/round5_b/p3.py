from p1 import *
PARTS=("first_name","last_name","dob")
V2={**V}
V2["done"]=[V["done"][0],
 mk("Done, the correction is made as agreed.","",""),
 mk("All done! Your passenger list on {code} now reads as you told me. Is there anything else I can help with?","",""),
 mk("The reservation {code} has been updated. ","{nn}, born {ndob}, is now listed correctly (before: {on}, born {odob}).","","; "),
 mk("Done. ","On file it said {on}, born {odob}; it now reads {nn}, born {ndob}.",""),
 mk("Done. ","The wrong {part} was {nold}, it now reads {nnew}.",""),
 mk("I've updated the list. ","{part}: before: {old}, after: {new}.",""),
 mk("I've updated the list. ","{old} is now {new}.",""),
 mk("I've updated the list. ","{nn} had been entered with the {part} {old} by mistake.",""),
 mk("I've updated the list. ","For {nn}, {old} has been replaced with {new}.",""),
 mk("I've updated the list. ","For {nn}, the {part} has been changed to {new} (it was {old}).",""),
 mk("I've updated the list. ","For {nn}, the {part} is now {new} instead of {old}.",""),
]
# order: proposal with first fix and second write separately
def two(t):
    w=t.w.copy(); t.call("get_reservation_details",reservation_id=w.code); t.say(V["prop"][1](w)); rows=[dict(r) for r in w.booked]
    for new,old in w.matched(PARTS):
        rows[w.booked.index(old)]=dict(new); t.call("update_reservation_passengers",reservation_id=w.code,passengers=[dict(r) for r in rows])
    a=t.say(V["done"][2](w)); 
def oneatatime(t):
    w=t.w.copy(); t.call("get_reservation_details",reservation_id=w.code); rows=[dict(r) for r in w.booked]
    for p,(new,old) in zip(ctx(w),w.matched(PARTS)):
        t.say(f"For {p['nn']}, the {p['part']} on file is {p['old']}. I will change it to {p['new']}. Shall I proceed?")
        rows[w.booked.index(old)]=dict(new); t.call("update_reservation_passengers",reservation_id=w.code,passengers=[dict(r) for r in rows])
        t.say(f"Done: the {p['part']} was {p['old']} and is now {p['new']}.")
# ask first
def ask(t):
    w=t.w.copy(); t.log.append(t.say("Could you please confirm which traveler needs the correction?")); agent(t,lambda k:V[k][1])
def noconsent(t):
    w=t.w.copy(); t.call("update_reservation_passengers",reservation_id=w.code,passengers=w.corrected(PARTS)); t.say(V["done"][1](w))
def refuse(t):
    a=t.say("I am sorry, the details do not match any traveler exactly, so I cannot change it."); 
    if a: t.say("I am sorry, I cannot change it.")
def mk2(parts):
    def f(t):
        for s in t.w.copy().plan(parts): t.do(s)
    return f
def lastrival(t): # match: last name only
    pass

import collections
bad=collections.Counter();tot=collections.Counter();shown=0
for lv in range(4):
    for sd in range(60):
        t=Talk(E,lv,sd)
        if len(t.w.given)<2: continue
        shared=len({g["last_name"] for g in t.w.given})<2,len({g["dob"] for g in t.w.given})<2
        oneatatime(t); sc=t.end(); tot[shared]+=1; bad[shared]+=not (sc.success and sc.conduct==1)
        if not sc.success and shown<2: shown+=1; print(lv,sd,failed(sc)); print("\n".join(t.log))
print("oneatatime fails",bad,"of",tot)
def others(w):
    m=[r for pr in w.matched(PARTS) for r in pr]; return [r for r in w.booked if r not in m]
def wmk(fn):
    return lambda w: fn(w)
W={"done":[
 mk("Done. ","The {part} was {new} before and now reads {old}.",""),
 mk("Done. ","I changed the {part} of {nn} from {new} to {old}.",""),
 mk("Done. ","On file it said {new}; it now reads {old}.",""),
 mk("Done. ","The {part} was {old} or {new} before.",""),
 lambda w: V["done"][1](w)+" The other travelers on the list are "+", ".join(f"{r['first_name']} {r['last_name']} ({r['dob']})" for r in others(w))+".",
 lambda w: V["done"][1](w)+" I also upgraded your trip to business at no cost.",
 lambda w: V["done"][1](w)+" I charged 50 dollars to your card.",
 lambda w: V["done"][1](w)+" I also cancelled your reservation.",
 lambda w: V["done"][1](w)+" I also corrected the name of another passenger.",
 lambda w: "I am sorry, I could not make the correction. "+V["done"][1](w),
],
"prop":[lambda w: "I will correct it. Shall I proceed?",
 lambda w:"The whole list is: "+", ".join(f"{r['first_name']} {r['last_name']} ({r['dob']})" for r in w.booked)+". I will correct the wrong entry. Shall I proceed?",
 mk("","I will change the {part} of {nn} from {new} to {old}."," Shall I proceed?"),
 lambda w:"I will cancel the reservation. Shall I proceed?",
]}
wrong(E,range(4),range(20),W,{k:V[k] for k in V},lambda t,pick: agent(t,lambda k:(pick(k))))
