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
