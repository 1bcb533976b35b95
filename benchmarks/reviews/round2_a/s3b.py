exec(open("s3.py").read().split("table(E")[0])
def overview(fmt):
  "states true details of every reservation first, then acts in one go"
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w); 
    lines=[]
    for r in w.requests:
        c=r.reservation;b=w.reservations[c]; yield getr(c)
        act="upgrade to business" if isinstance(r,Upgrade) else ("eligible for cancellation, refund $%d"%pol.refund(b) if r.verdict(w).allowed else "cannot be cancelled")
        if fmt=="list": lines.append(f"- **{c}** ({b['origin']} → {b['destination']}): {CAB[b['cabin']]}, booked on {D(b['created_at'],rng)}, {'no ' if b['insurance']=='no' else ''}travel insurance – {act}")
        else: lines.append(f"{i+1 if (i:=len(lines)) is not None else 0}. Reservation {c}: cabin {CAB[b['cabin']]}, booking date {D(b['created_at'],rng)}, insurance {b['insurance']}. Result: {act}.")
    no=[r for r in w.requests if not r.verdict(w).allowed]
    t="I've looked up all of your reservations:\n\n"+"\n".join(lines)
    if no: t+=f"\n\nUnfortunately I can't cancel {no[0].reservation}, because it's in economy, was not booked within the last 24 hours and has no insurance."
    yield S(t+"\n\nShall I proceed with the others?" if no else t+"\n\nShall I proceed?")
    for r in w.requests:
        if r.verdict(w).allowed: yield upc(w,r) if isinstance(r,Upgrade) else can(r.reservation)
    yield S("All of that has been done. Refunds take 5 to 7 business days.")
  return f
def oneb(ep,rng):
    w=ep.world.copy(); yield getu(w)
    for r in w.requests:
        c=r.reservation;b=w.reservations[c]; yield getr(c)
        if isinstance(r,Upgrade):
            yield S(f"For {c}, upgrading to business costs ${diff(w,r)}. I'll charge {r.method}. Shall I proceed?"); yield upc(w,r); yield S(f"{c} has been upgraded to business class.")
        elif r.verdict(w).allowed:
            yield S(props(c,b,r.reason,rng)["b"]); yield can(c); yield S(dones(c,b,rng)["a"])
        else: yield S(refs(c,b,r.reason,rng)["letme"])
def wrongup(ep,rng):
    w=ep.world.copy()
    for r in w.requests:
        c=r.reservation;b=w.reservations[c]
        if isinstance(r,Upgrade): yield S(f"I'll upgrade {c} to business. You get $5000 back on {r.method}. OK?"); yield upc(w,r); yield S(f"{c} is upgraded and $5000 was refunded.")
        else: yield S(props(c,b,"x",rng)["a"]); yield can(c); yield S(dones(c,b,rng)["a"])
def exch(fmt):
  def f(ep,rng):
    w=ep.world.copy(); bs={r.reservation:pol.refund(w.reservations[r.reservation]) for r in w.requests}
    ks=list(bs); vs=[bs[k] for k in ks]; vs=vs[1:]+vs[:1]
    yield S("I will "+", ".join(f"cancel {k}" for k in ks)+". Shall I proceed?")
    for k in ks: yield can(k)
    yield S(fmt(ks,vs))
  return f
table(E,[3],60,{"overview_list":overview("list"),"overview_num":overview("num"),"one_bookday":oneb},bad=1)
table(E,[2],60,{"wrongup":wrongup},bad=0,only=lambda ep:any(isinstance(r,Upgrade) for r in ep.world.requests))
table(E,[1],60,{"x_and":exch(lambda k,v:"Done: "+"; ".join(f"I cancelled {a} and refunded ${b}" for a,b in zip(k,v))+"."),
 "x_colon":exch(lambda k,v:"All done:\n"+"\n".join(f"- {a}: cancelled, refund ${b}" for a,b in zip(k,v))),
 "x_sent":exch(lambda k,v:" ".join(f"{a} has been cancelled. You get ${b} back." for a,b in zip(k,v))),
 "x_with":exch(lambda k,v:" ".join(f"{a} has been cancelled and ${b} will be refunded." for a,b in zip(k,v))),
 },bad=0)
