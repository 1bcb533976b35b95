exec(open("s3.py").read().split("table(E")[0])
def overview(days,fin):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w); lines=[]
    for r in w.requests:
        c=r.reservation;b=w.reservations[c]; yield getr(c); v=r.verdict(w).allowed
        act=f"upgrade to business for ${diff(w,r)}" if isinstance(r,Upgrade) else (f"eligible for cancellation, refund ${pol.refund(b)}" if v else "cannot be cancelled")
        day=f", booked on {D(b['created_at'],rng)}" if days or not v else ""
        lines.append(f"- **{c}** ({b['origin']} → {b['destination']}): {CAB[b['cabin']]}{day}, {'no ' if b['insurance']=='no' else ''}travel insurance – {act}")
    no=[r for r in w.requests if not r.verdict(w).allowed]
    yield S("I've looked up all of your reservations:\n\n"+"\n".join(lines)+f"\n\nUnfortunately I can't cancel {no[0].reservation}. Shall I proceed with the others?")
    for r in w.requests:
        if r.verdict(w).allowed: yield upc(w,r) if isinstance(r,Upgrade) else can(r.reservation)
    yield S(fin(" ".join(r.reservation for r in w.requests if r.verdict(w).allowed),no[0].reservation))
  return f
N=lambda a,b:f"The other three requests have been carried out: {a.replace(' ',', ')}. {b} remains unchanged."
M=lambda a,b:"All of that has been done. Refunds take 5 to 7 business days."
table(E,[3],80,{"days,neutral":overview(True,N),"nodays,neutral":overview(False,N),"days,allthat":overview(True,M),"nodays,allthat":overview(False,M)},bad=0)
