from w2 import *
E="tau2_precondition"
KEYS=["short","alt_change","anything","howproceed","letme","nodoes","regret","hours","keep","wouldhave","checklist2"]
def refs2(c,b,reason,rng):
    d=refs(c,b,reason,rng); i=b["insurance"]=="yes"
    d["checklist2"]=f"I've checked reservation {c} against our cancellation policy:\n\n- **Booked within 24 hours:** No (booked on {D(b['created_at'],rng)})\n- **Cancelled by the airline:** No\n- **Business class:** No ({CAB[b['cabin']]})\n- **Insured for this reason:** {'No – your reason is not covered' if i else 'No insurance'}\n\nTherefore, I'm unable to cancel it."
    return d
def good(T=None,askalways=False,status=True):
  def f(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]
    a=None
    if "reason" in w.withheld or askalways:
        q=rng.choice(["Could you please tell me the reason for the cancellation?","To check whether it can be cancelled, may I ask why you want to cancel?","What is the reason for cancelling: a change of plans, health, weather, or an airline cancellation?","Before I proceed, please let me know the reason for your cancellation."])
        a=yield S(q); ep.reply1=a
    yield getu(w); yield getr(c)
    for f in b["flights"]: yield Call(tool="get_flight_status",arguments={"flight_number":f["flight_number"],"date":f["date"]})
    v=r.verdict(w)
    if v.transfer:
        if rng.random()<.5: yield S("Part of this trip has already been flown, so I can't cancel it myself. I'll transfer you to a human agent who can assist you further.")
        if not ep.done: yield Call(tool="transfer_to_human_agents",arguments={"summary":f"{c}: flight flown, customer wants to cancel."})
        return
    if v.allowed:
        P=props(c,b,r.reason,rng);d=dones(c,b,rng)
        yield S(P[rng.choice("abcdefg")]); yield can(c); yield S(d[rng.choice("abcdef")])
    else:
        rf=refs2(c,b,r.reason,rng); a=yield S(rf[T or rng.choice(KEYS)]); k=0
        while a and k<4: a=yield S(INS[rng.choice([x for x in INS if x not in("other","policy")])](c)); k+=1
  return f
table(E,range(4),120,{"good":good(),"askalways":good(askalways=True)},bad=2)
def always(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]; yield getr(c)
    yield S(props(c,b,r.reason,rng)["a"]); yield can(c); yield S(dones(c,b,rng)["a"])
def never(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]; yield getr(c)
    a=yield S(refs(c,b,r.reason,rng)["short"]);k=0
    while a and k<4: a=yield S(INS["exc"](c)); k+=1
def transferall(ep,rng):
    yield Call(tool="transfer_to_human_agents",arguments={"summary":"x"})
def both(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]; yield getr(c)
    yield S(refs(c,b,r.reason,rng)["short"]+f" I can cancel {c} and refund ${pol.refund(b)}. Shall I proceed?"); 
    if r.verdict(w).allowed: yield can(c)
    yield S("Done.")
def norefundamt(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]; yield getr(c)
    if not r.verdict(w).allowed: return
    yield S(f"I'll cancel {c} for you. Proceed?"); yield can(c); yield S(f"Your reservation {c} was cancelled. The full amount will be refunded within 5-7 business days.")
def wrongreason(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]; yield getr(c)
    if r.verdict(w).allowed: return
    oc="business" if b["cabin"]!="business" else "economy"; 
    a=yield S(f"I can't cancel {c}: it was booked on {b['created_at'][:10]}, it is {oc} and insurance is {'no' if b['insurance']=='yes' else 'yes'}."); k=0
    while a and k<4: a=yield S(INS["exc"](c)); k+=1
table(E,[1,3],80,{"always":always,"never":never,"transferall":transferall,"both":both},bad=0)
table(E,[1,3],80,{"norefundamt":norefundamt},bad=0,only=lambda ep: ep.world.requests[0].verdict(ep.world).allowed)
table(E,[1,3],80,{"wrongreason":wrongreason},bad=0,only=lambda ep: not ep.world.requests[0].verdict(ep.world).allowed)
