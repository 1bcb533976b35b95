from lib import *
from trace_gym.targets.tau2.airline import SKILLS
import datetime
E="tau2_concurrent_intents"
def nat(d): return datetime.date.fromisoformat(d).strftime("%B %-d, %Y")
def ctx(w):
    w=w.copy(); want=w.copy().served(); ok=[];no=[]
    for r in w.requests:
        b=w.reservations[r.reservation]; leg=b["flights"][0]
        d=dict(code=r.reservation,cab=r.cabin.replace("_"," "),named=r.named,m=r.method,old=b["cabin"].replace("_"," "),fl=leg["flight_number"],date=leg["date"],nd=nat(leg["date"]),o=leg["origin"],de=leg["destination"])
        if r.verdict(w).allowed:
            x=sum(p["amount"] for p in want.reservations[r.reservation]["payment_history"][len(b["payment_history"]):]); d["a"]=abs(x); d["vb"]="charged to" if x>0 else "refunded to"; d["pv"]="additional charge" if x>0 else "refund"; d["r"]=r; ok.append(d)
        else: no.append(d)
    return ok,no
PROP=[("{code} goes to {cab} with your {named}.","I cannot change {code}: its flight on {date} has been flown."," Shall I go ahead?"),
("- **{code}**: change from {old} to {cab}, difference on your {named}","- **{code}**: I can't change the cabin because flight {fl} on {nd} has already been flown","\n\nWould you like me to proceed?"),
("I will change {code} to {cab} and settle the difference with your {named}.","Unfortunately, reservation {code} cannot be changed, since its flight on {date} has already landed."," Do you confirm these changes (yes/no)?"),
("For {code}, I'd move all flights to {cab}, using {m}.","For {code}, a cabin change isn't possible: flight {fl} ({o} to {de}) was already flown on {nd}."," May I proceed?"),
("{code}: {old} → {cab}, {pv} of ${a}, {named}.","{code}: cannot be changed (flight already flown)."," Shall I proceed?"),
("I can upgrade or change {code} from {old} to {cab}; the difference of ${a} will be {vb} your {named}.","I'm unable to change {code} as it has already been flown."," Is this okay?"),
("Reservation {code} will be in {cab}, paid with your {named}.","I'm sorry, but reservation {code} took place on {nd}, so its cabin can no longer be changed."," Shall I go ahead?"),
("{code} → {cab} ({named})","{code}: not possible, the trip is in the past ({nd})"," Do you agree?"),
("1. {code}: I will change the cabin to {cab} and use your {named} for the difference.","1. {code}: Since flight {fl} has already departed and landed, the rules don't allow a cabin change.","\nPlease confirm."),
]
DONE=[("","","That is done."),("{code} is now in {cab}; ${a} was {vb} your {named}.","","Anything else?"),
("- {code}: changed to {cab}, ${a} {vb} your {named}","- {code}: not changed (already flown)","\nAll done."),
("Reservation {code} has been changed to {cab}.","As mentioned, {code} could not be changed because it has already been flown.",""),
("{code} has been updated to {cab} and the difference of ${a} {vb} your {named}.","{code} remains as it was, because its flight has been flown.",""),
("I've moved {code} to {cab} ({pv}: ${a}, {m}).","{code} stays in {old}, since it was flown on {nd}.","Have a nice day!"),
]
def render(tp,w,sep):
    ok,no=ctx(w); lines={}
    for d in ok: lines[d["code"]]=tp[0].format(**d)
    for d in no: lines[d["code"]]=tp[1].format(**d)
    return sep.join(x for x in (lines[r.reservation] for r in w.requests) if x)+(" "+tp[2] if not tp[2].startswith((" ","\n")) else tp[2])
def sep(tp): return "\n" if tp[0][:1] in "-1" or "→" in tp[0] else " "
V={"prop":PROP,"done":DONE}
def agent(t,pick):
    w=t.w.copy(); ok,no=ctx(w); t.call("get_user_details",user_id=w.customer)
    for r in w.requests:
        t.call("get_reservation_details",reservation_id=r.reservation)
    p=pick("prop"); a=t.say(render(p,w,sep(p)))
    for d in ok: t.do(d["r"].call(w,SKILLS))
    p=pick("done"); a=t.say(render(p,w,sep(p)).strip())
    if a: t.log.append("LEFTOVER"); t.say("Yes, everything is done.")
if __name__=="__main__":
    sweep(E,range(4),range(40),V,agent)
    def one(t): # one request at a time
        w=t.w.copy(); ok,no=ctx(w)
        for d in no: t.say(f"I cannot change {d['code']}, because its flight on {d['nd']} has already been flown.")
        for d in ok:
            t.say(f"I will change {d['code']} to {d['cab']} and settle the difference with your {d['named']}. Shall I proceed?"); t.do(d["r"].call(w,SKILLS)); t.say(f"{d['code']} is now in {d['cab']}; ${d['a']} was {d['vb']} your {d['named']}.")
    def one2(t): # proposal first then refusal at the end
        w=t.w.copy(); ok,no=ctx(w)
        for d in ok:
            t.say(f"I will change {d['code']} to {d['cab']} and settle the difference with your {d['named']}. Shall I proceed?"); t.do(d["r"].call(w,SKILLS)); t.say(f"{d['code']} is now in {d['cab']}; ${d['a']} was {d['vb']} your {d['named']}.")
        for d in no: t.say(f"I cannot change {d['code']}, because its flight on {d['nd']} has already been flown.")
    shortcuts(E,range(4),range(60),dict(oracle=oracle,ablated=ablated,one=one,one2=one2))
    W={"done":[("{code} is now in {cab}; ${a} was {vb} your {named}.","{code} has been changed to {cab} as well.",""),("{code} is now in {old}.","",""),("I could not change {code}.","",""),("{code}: ${a} was charged or refunded.","",""),("{code} is now in {cab}; $999 was {vb} your {named}.","",""),("{code} is now in {cab}; ${a} was {vb} your PayPal.","","")],
       "prop":[("{code} goes to {cab} with your {named}.","{code} goes to {cab} with your {named}."," Shall I go ahead?"),("{code} goes to {cab} with your {named}.","I cannot change {code} because you are not a gold member."," Shall I go ahead?"),("{code} goes to business, economy or basic economy.","I cannot change {code}: flown."," Shall I go ahead?"),("{code}: your wish is noted.","I cannot change {code}: flown."," Shall I go ahead?")]}
    wrong(E,range(4),range(30),W,V,agent)
