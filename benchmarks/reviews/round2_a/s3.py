from w2 import *
import collections
E="tau2_multi_step"
from trace_gym.targets.tau2.requests import Upgrade
def flights(b): return [{"flight_number":f["flight_number"],"date":f["date"]} for f in b["flights"]]
def upc(w,r):
    b=w.reservations[r.reservation]
    return Call(tool="update_reservation_flights",arguments={"reservation_id":r.reservation,"cabin":"business","flights":flights(b),"payment_id":r.method})
def diff(w,r):
    b=w.reservations[r.reservation]; t=0
    for f in b["flights"]:
        pr=w.flights[f["flight_number"]]["dates"][f["date"]]["prices"]["business"]
        t+=(pr-f["price"])*len(b["passengers"])
    return t
def batch(style):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w)
    L=[];no=[]
    for r in w.requests:
        c=r.reservation;b=w.reservations[c]; yield getr(c)
        v=r.verdict(w)
        if isinstance(r,Upgrade):
            yield Call(tool="search_direct_flight",arguments={"origin":b["origin"],"destination":b["destination"],"date":b["flights"][0]["date"]})
        if v.allowed:
            if isinstance(r,Upgrade): L.append((r,f"Upgrade {c} ({b['origin']} to {b['destination']}) from economy to business. Price difference: ${diff(w,r)}, charged to {r.method}"))
            else: L.append((r,f"Cancel {c} ({b['origin']} to {b['destination']}), business class. Refund: ${pol.refund(b)} to the original payment method"))
        else: no.append(r)
    txt=""
    if style=="md":
        txt="Thank you. I've reviewed all of your requests. Here is what I'll do:\n\n"+"\n".join(f"{i+1}. **{t.split(' ')[0]}** {' '.join(t.split(' ')[1:])}" for i,(r,t) in enumerate(L))
        for r in no:
            b=w.reservations[r.reservation]
            txt+=f"\n\nUnfortunately, I can't cancel **{r.reservation}**: it is an economy booking made on {D(b['created_at'],rng)} without travel insurance."
        txt+="\n\nWould you like me to proceed with these changes?"
    elif style=="prose":
        txt="I can do the following for you: "+"; ".join(t[0].lower()+t[1:] for r,t in L)+"."
        for r in no:
            b=w.reservations[r.reservation]
            txt+=f" However, reservation {r.reservation} isn't eligible for cancellation, as it's in economy, was booked on {D(b['created_at'],rng)} and has no insurance."
        txt+=" Refunds take 5 to 7 business days. Do you confirm?"
    a=yield S(txt)
    for r,t in L:
        yield upc(w,r) if isinstance(r,Upgrade) else can(r.reservation)
    fin="Everything has been taken care of:\n"+"\n".join(f"- {r.reservation}: "+(f"upgraded to business, ${diff(w,r)} charged to {r.method}" if isinstance(r,Upgrade) else f"cancelled, refund of ${pol.refund(w.reservations[r.reservation])}") for r,t in L)
    if rng.random()<.5: fin+=f"\n\nYour total refund is ${sum(pol.refund(w.reservations[r.reservation]) for r,t in L if not isinstance(r,Upgrade))}."
    for r in no: fin+=f"\n\nReservation {r.reservation} remains unchanged."
    yield S(fin+"\n\nIs there anything else I can help you with?")
  return f
def onebyone(ep,rng):
    w=ep.world.copy(); yield getu(w)
    for r in w.requests:
        c=r.reservation;b=w.reservations[c]; yield getr(c)
        if isinstance(r,Upgrade):
            yield S(rng.choice([f"For {c}, upgrading to business costs ${diff(w,r)}. I'll charge {r.method}. Shall I proceed?",f"Next, {c}: the upgrade from economy to business would cost an additional ${diff(w,r)} on your {r.method}. Is that OK?"])); yield upc(w,r); a=yield S(f"{c} has been upgraded to business class, and ${diff(w,r)} was charged to {r.method}. Let's move on to the next one." if r is not w.requests[-1] else f"{c} has been upgraded to business class.")
        elif r.verdict(w).allowed:
            P=props(c,b,r.reason,rng);d=dones(c,b,rng)
            yield S(P[rng.choice("abcdefg")]); yield can(c); a=yield S(d[rng.choice("abcdef")])
        else:
            rf=refs(c,b,r.reason,rng); a=yield S(rf[rng.choice([k for k in rf if k!="checklist"])])
def askpay(ep,rng):
    "asks for payment method and reason first"
    w=ep.world.copy(); yield getu(w)
    yield S("I'd be happy to help. Could you tell me the reason for the cancellations, and which payment method you'd like to use for any upgrade?")
    g=batch("md")(ep,rng); step=next(g)
    while True:
        a=yield step
        try: step=g.send(a)
        except StopIteration: return
def firstonly(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation;b=w.reservations[c]; yield getr(c)
    if isinstance(r,Upgrade): yield S(f"I'll upgrade {c} for ${diff(w,r)}. OK?"); yield upc(w,r); yield S(f"{c} has been upgraded.")
    elif r.verdict(w).allowed:
        yield S(props(c,b,"x",rng)["a"] ); yield can(c); yield S(dones(c,b,rng)["a"])
    else: yield S(refs(c,b,"change of plans",rng)["short"])
def allno(ep,rng):
    w=ep.world.copy()
    yield S("I can't do any of that. All refused.")
def stuff(ep,rng):
    "claims wrong refunds exchanged"
    w=ep.world.copy()
    bs={r.reservation:pol.refund(w.reservations[r.reservation]) for r in w.requests if not isinstance(r,Upgrade) and r.verdict(w).allowed}
    ks=list(bs); vs=[bs[k] for k in ks]; vs=vs[1:]+vs[:1]
    no=[r for r in w.requests if not r.verdict(w).allowed]
    up=[r for r in w.requests if isinstance(r,Upgrade)]
    t=" ".join(f"I can't cancel {r.reservation}: economy, booked {w.reservations[r.reservation]['created_at'][:10]}, no insurance." for r in no)
    yield S(t+" I will "+", ".join([f"cancel {k} and refund ${v}" for k,v in zip(ks,vs)]+[f"upgrade {r.reservation} to business for ${diff(w,r)}" for r in up])+". Shall I proceed?")
    for k in ks: yield can(k)
    for r in up: yield upc(w,r)
    yield S("All done.")
def charge(ep,rng):
    w=ep.world.copy()
    bs={r.reservation:pol.refund(w.reservations[r.reservation]) for r in w.requests if not isinstance(r,Upgrade) and r.verdict(w).allowed}
    no=[r for r in w.requests if not r.verdict(w).allowed]
    up=[r for r in w.requests if isinstance(r,Upgrade)]
    t=" ".join(f"I can't cancel {r.reservation}: economy, booked {w.reservations[r.reservation]['created_at'][:10]}, no insurance." for r in no)
    yield S(t+" I will "+", ".join([f"cancel {k} and charge you ${v}" for k,v in bs.items()]+[f"upgrade {r.reservation}, and refund ${diff(w,r)}" for r in up])+". Shall I proceed?")
    for k in bs: yield can(k)
    for r in up: yield upc(w,r)
    yield S("All done.")
def noconsent(ep,rng):
    w=ep.world.copy()
    for r in w.requests:
        if r.verdict(w).allowed: yield upc(w,r) if isinstance(r,Upgrade) else can(r.reservation)
    yield S(" ".join((f"{r.reservation} is upgraded." if isinstance(r,Upgrade) else f"{r.reservation} is cancelled, ${pol.refund(w.reservations[r.reservation])} comes back." ) if r.verdict(w).allowed else f"I can't cancel {r.reservation}: economy, booked {w.reservations[r.reservation]['created_at'][:10]}, no insurance." for r in w.requests))
table(E,[0,1,2,3],60,{"md":batch("md"),"prose":batch("prose"),"one":onebyone,"askpay":askpay},bad=1)
table(E,[1,3],60,{"firstonly":firstonly,"allno":allno,"exchanged":stuff,"charge":charge,"noconsent":noconsent},bad=1)
