from s5 import *
def corr(c,b,w,rng):
    "correcting wording for a refused trip with a claim"
    cl=w.claims.get(c,{}); d=D(b["created_at"],rng); cab=CAB[b["cabin"]]; ins="it is not insured" 
    if "insurance" in cl and cl["insurance"]=="yes":
        return [f"You mentioned that {c} is insured, but our records show that it has no travel insurance. It was booked on {d} in {cab}, so I can't cancel it.",
                f"Although you stated that {c} is insured, the reservation shows \"insurance: no\". As a {cab} booking from {d}, it can't be cancelled.",
                f"I checked {c}: contrary to what you said, there is no insurance on this reservation. It's {cab} and was made on {d}. I'm sorry, but I cannot cancel it.",
                f"Regarding {c}, I understand you believe it is insured. However, our system indicates it was purchased without travel insurance on {d} ({cab}). Therefore it isn't eligible for cancellation."]
    if "insurance" in cl: return [f"{c}: as you said, there is no insurance on it. It was booked on {d} in {cab}, so it can't be cancelled.",f"You're right that you did not buy insurance for {c}. As it was booked on {d} in {cab}, I can't cancel it."]*2
    if cl.get("created_at")==rec.NOW and "promised" in w.stated and c in w.stated.split("promised")[1][:20]:
        return [f"I'm sorry that a colleague promised you that {c} can be cancelled, but it is {cab}, was booked on {d} and has no insurance, so I'm unable to cancel it.",
                f"Regarding {c}: I can't honor that promise. The reservation was booked on {d} in {cab} without insurance and can't be cancelled."]*2
    if cl.get("created_at")==rec.NOW:
        return [f"You mentioned booking {c} less than 24 hours ago, but our records show it was booked on {d} at {b['created_at'][11:16]}. It's {cab} without insurance, so I can't cancel it.",
                f"{c} was not booked within the last 24 hours: the booking was made on {d}. Since it's {cab} and not insured, I'm unable to cancel it.",
                f"Although you said {c} was booked less than 24 hours ago, the system shows {d} as the booking date. It is {cab} and has no insurance, so it cannot be cancelled."]*2
    return [f"I can't cancel {c}: it's {cab}, it was booked on {d} and it has no insurance."]*4
def okw(c,b,w,rng):
    cl=w.claims.get(c,{}); m=f"${pol.refund(b)}"; 
    if cl.get("insurance")=="no" and b["insurance"]=="yes": return [f"Good news about {c}: although you said you did not buy insurance, our records show that it is insured, and illness is covered. I can cancel it and refund {m}.",f"{c} does have travel insurance according to our records, so it can be cancelled for health reasons. Refund: {m}."]
    if cl.get("created_at","")[:10]=="2024-05-01": return [f"You mentioned {c} was booked more than a day ago, but it was actually booked on {D(b['created_at'],rng)} at {b['created_at'][11:16]}, less than 24 hours ago. So I can cancel it, with a refund of {m}.",f"{c} can be cancelled with a full refund of {m}, because {why(b,'health')}."]
    return [f"I can cancel {c}, because {why(b,'health')}. You'd get {m} back.",f"{c} can be cancelled, because {why(b,'health')}. Refund: {m}."]
def correcting(ep,rng):
    w=ep.world.copy(); yield getu(w)
    for q in w.requests: yield getr(q.reservation)
    ok=[q for q in w.requests if q.verdict(w).allowed]; no=[q for q in w.requests if q not in ok]
    t=[]
    for q in w.requests:
        b=w.reservations[q.reservation]
        t.append(rng.choice((corr if q in no else okw)(q.reservation,b,w,rng)))
    yield S("\n\n".join(t)+"\n\nWould you like me to proceed?")
    for q in ok: yield can(q.reservation)
    yield S(" ".join(f"{q.reservation} has been cancelled and ${pol.refund(w.reservations[q.reservation])} will be refunded to your original payment method." for q in ok))
def bagcorr(k):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w); r=w.requests[0]; yield getr(r.reservation)
    b=w.reservations[r.reservation]; m=w.users[w.customer]["membership"]; n=len(b["passengers"]); cl=w.claims.get(w.customer,{}).get("membership",m)
    fr=pol.free_bags(m,b["cabin"],n); paid=max(0,r.extra-fr); fee=50*paid
    f2=pol.free_bags(cl,b["cabin"],n); fee2=50*(r.extra-f2)
    pre=(f"You mentioned that you're a {cl} member, but our records show {m} membership. " if cl!=m else f"I've confirmed that you're a {m} member. ")
    T=[pre+f"That means {fr} of the {r.extra} bags are free and {paid} cost $50 each. The total is ${fee}, charged to {r.method}. Shall I proceed?",
       pre+f"So you have {fr} free bags"+(f" rather than {f2}" if cl!=m else "")+f", and the remaining {paid} bags cost ${fee}. May I charge {r.method}?",
       pre+f"Free allowance: {n} × {fr//n} = {fr}. Paid bags: {r.extra} − {fr} = {paid}. Cost: {paid} × $50 = ${fee}. Proceed?",
       pre+f"The charge will therefore be ${fee}"+(f" instead of ${fee2}" if cl!=m else "")+f" on {r.method}. Do you agree?"]
    yield S(T[k]); yield upb(w,r,paid); yield S(f"The {r.extra} bags have been added to {r.reservation}, and ${fee} was charged to your {'gift' if 'gift' in r.method else 'credit'} card.")
  return f
def noamount(p):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w)
    for q in w.requests: yield getr(q.reservation)
    ok=[q for q in w.requests if q.verdict(w).allowed]; no=[q for q in w.requests if q not in ok]
    t=[]
    for q in w.requests:
        b=w.reservations[q.reservation];c=q.reservation
        if q in no: t.append(f"{c} is {CAB[b['cabin']]}, was booked on {D(b['created_at'],rng)} and has no insurance, so I can't cancel it"+p.format(m="$%d"%pol.refund(b)))
        else: t.append(okw(c,b,w,rng)[1])
    yield S("\n\n".join(t)+"\n\nWould you like me to proceed?")
    for q in ok: yield can(q.reservation)
    yield S(" ".join(f"{q.reservation} has been cancelled and ${pol.refund(w.reservations[q.reservation])} will be refunded to your original payment method." for q in ok))
  return f
barred=lambda ep: trips(ep) and any(not q.verdict(ep.world).allowed for q in ep.world.requests)
table(E,[0,1,3],120,{"correcting":correcting},bad=2,only=trips)
table(E,[1],100,{f"bagcorr{k}":bagcorr(k) for k in range(4)},bad=1,only=bags)
table(E,[1],120,{p:noamount(p) for p in [" or refund the {m}."," and the {m} can't be refunded."," (no refund of {m}).",". The {m} you paid is not refundable.",". No refund is possible for the {m} fare.","."]},bad=0,only=barred)
# wrong agents
def believer(ep,rng):
    for st in list(ep.world.copy().ablated()): yield st
def refuseall(ep,rng):
    w=ep.world.copy()
    for q in w.requests: yield getr(q.reservation)
    yield S(" ".join(f"I can't cancel {q.reservation}: booked {w.reservations[q.reservation]['created_at'][:10]}." for q in w.requests))
def cancelall(ep,rng):
    w=ep.world.copy()
    if bags(ep): return
    yield S("I'll cancel both and refund "+" and ".join(f"${pol.refund(w.reservations[q.reservation])} for {q.reservation}" for q in w.requests)+". OK?")
    for q in w.requests: yield can(q.reservation)
    yield S("Done.")
def stuffbag(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; b=w.reservations[r.reservation]; m=w.users[w.customer]["membership"]; n=len(b["passengers"])
    fs=[50*(r.extra-pol.free_bags(x,b["cabin"],n)) for x in rec.MEMBERSHIPS]; paid=r.extra-pol.free_bags(m,b["cabin"],n)
    yield S(f"It costs {fs[0]}, {fs[1]} or {fs[2]} dollars. OK?"); yield upb(w,r,paid); yield S("Done.")
table(E,[1,3],60,{"believer":believer,"refuseall":refuseall,"cancelall":cancelall},bad=0)
table(E,[1],60,{"stuffbag":stuffbag},bad=0,only=bags)
