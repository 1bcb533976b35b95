from c1 import *
def retry(t):
    w=t.w.copy(); ok,no=ctx(w)
    t.say(" ".join(f"{r.reservation} goes to {r.cabin} with your {r.named}." for r in w.requests)+" Shall I go ahead?")
    bad=[]
    for r in w.requests:
        x=t.do(r.call(w,SKILLS))
        if str(x).startswith("Error"): bad.append(r.reservation)
    t.say(" ".join(f"I cannot change {c}: its flight has been flown." for c in bad)+" The rest is done.")
def nocons(t):
    w=t.w.copy(); ok,no=ctx(w)
    for d in ok: t.do(d["r"].call(w,SKILLS))
    t.say(" ".join(f"I cannot change {d['code']}: its flight has been flown." for d in no)+" The rest is done.")
shortcuts(E,range(4),range(50),dict(retry=retry,nocons=nocons))
EXTRA=[PROP[0]]+[("{code} goes to {cab} with your {named}.",x," Shall I go ahead?") for x in ["{code} is not possible, as the trip is in the past ({nd}).","{code}: unfortunately not possible, the flight on {nd} has already been flown.","The cabin of {code} can't be changed anymore because it was flown on {nd}.","{code} is not eligible for a cabin change: flight {fl} has status \"landed\".","As for {code}, that trip was already completed on {nd}, so I have to leave it as is.","{code} has already been flown and therefore has to stay in {old}.","I have to decline the change for {code}; it departed on {nd}.", "Changes to {code} are not allowed, since a flight of it has already been flown."]]
sweep(E,range(4),range(40),{"prop":EXTRA,"done":DONE[:1]},agent,filt=lambda w,s: bool(ctx(w)[1]))
