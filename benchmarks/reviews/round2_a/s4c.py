exec(open("s4b.py").read().split("def onebyone")[0])
def onebyone(ep,rng):
    w=ep.world.copy(); R=w.reservations; yield getu(w)
    for c in R: yield getr(c)
    pl=lambda c: rec.AIRPORTS[R[c]["destination"]]
    wishes=follow(w.first,w.revisions); f=w.first[0]
    a=yield S(f"I found your trip to {pl(f)}, reservation {f}. It is insured, so it can be cancelled and you would get ${pol.refund(R[f])} back. Shall I cancel it?")
    if len(w.revisions)>1:
        a=yield S("Understood. I will cancel "+", ".join(f"{pl(c)} ({c})" for c in R if c in wishes[1])+". Is that right?")
    s=[c for c in R if c in wishes[-1]]
    tot=sum(pol.refund(R[c]) for c in s)
    for i,c in enumerate(s):
        if i: a=yield S(f"Next is {c} to {pl(c)}, with a refund of ${pol.refund(R[c])}. Shall I proceed?")
        yield can(c)
        last=c==s[-1]
        a=yield S(f"{c} to {pl(c)} has been cancelled, and ${pol.refund(R[c])} will be refunded."+(f" Your total refund is ${tot}." if last else ""))
def asks(q):
  def f(ep,rng):
    w=ep.world; a=yield S(q); k=0
    w0=ep.world.copy(); R=w0.reservations
    yield getu(w0)
    for c in R: yield getr(c)
    pl=lambda c: rec.AIRPORTS[R[c]["destination"]]
    wishes=follow(w0.first,w0.revisions)
    while ep.world.heard<len(w0.revisions) and k<4:
        s=[c for c in R if c in wishes[ep.world.heard]];k+=1
        a=yield S("I will cancel these trips:\n"+"\n".join(f"- {pl(c)} ({c}), refund ${pol.refund(R[c])}" for c in s)+"\nDo you confirm?")
    s=[c for c in R if c in wishes[-1]]
    for c in s: yield can(c)
    yield S(f"I've cancelled {', '.join(pl(c) for c in s)}. You'll get ${sum(pol.refund(R[c]) for c in s)} back in total.")
  return f
Q=["I'm sorry to hear that you're ill. Could you please give me the reservation numbers of the trips?","I'm sorry to hear you're not feeling well. Before I look, may I confirm that the reason for all cancellations is health?","I'm sorry to hear that. Let me look up your reservations.","I'm sorry to hear you are unwell. Do you want to cancel for all passengers on these trips?","May I proceed with looking up your reservations?"]
table(E,[0,2],50,{"onebyone":onebyone,**{f"q{i}":asks(q) for i,q in enumerate(Q)}},bad=1)
