exec(open("s4.py").read().split("P={}")[0])
def onebyone(ep,rng):
    w=ep.world.copy(); R=w.reservations; yield getu(w)
    for c in R: yield getr(c)
    pl=lambda c: rec.AIRPORTS[R[c]["destination"]]
    wishes=follow(w.first,w.revisions); f=w.first[0]
    a=yield S(f"I found your trip to {pl(f)}, reservation {f}. It is insured, so it can be cancelled and you would get ${pol.refund(R[f])} back. Shall I cancel it?")
    if len(w.revisions)>1:
        a=yield S("Understood. I will cancel "+", ".join(f"{pl(c)} ({c})" for c in R if c in wishes[1])+". Is that right?")
    s=[c for c in R if c in wishes[-1]]
    yield can(s[0]); tot=pol.refund(R[s[0]])
    a=yield S(f"{s[0]} to {pl(s[0])} has been cancelled, and ${pol.refund(R[s[0]])} will be refunded.")
    for c in s[1:]:
        a=yield S(f"Next is {c} to {pl(c)}, with a refund of ${pol.refund(R[c])}. Shall I proceed?")
        yield can(c); tot+=pol.refund(R[c])
        a=yield S(f"{c} has been cancelled as well, ${pol.refund(R[c])} comes back.")
    if not ep.done: yield S(f"All your cancellations are done. The total refund is ${tot}.")
def asks(ep,rng):
    yield S(rng.choice(["I'm sorry to hear that you're ill. Could you please give me the reservation numbers of the trips?","I'm sorry to hear you're not feeling well. Before I look, may I confirm that the reason for all cancellations is health?","I'm sorry to hear that. Let me look up your reservations.","I'm sorry to hear you are unwell. Do you want to cancel all passengers on these trips?","Of course. I'll check whether they are eligible. One moment, please."]))
    g=base(dict(fin="list"))(ep,rng); st=next(g)
    while True:
        a=yield st
        try: st=g.send(a)
        except StopIteration: return
def union(ep,rng):
    w=ep.world.copy(); R=w.reservations
    pl=lambda c: rec.AIRPORTS[R[c]["destination"]]
    wishes=follow(w.first,w.revisions)
    yield S("I will cancel "+", ".join(wishes[0])+". Shall I proceed?")
    if len(w.revisions)>1: yield S("I will cancel "+", ".join(wishes[1])+". Shall I proceed?")
    for c in wishes[0]: yield can(c)
    yield S(f"All done, total refund ${sum(pol.refund(R[c]) for c in wishes[0])}.")
def lasttold(ep,rng):
    "follows, but totals wrong"
    w=ep.world.copy(); R=w.reservations
    wishes=follow(w.first,w.revisions)
    yield S("I will cancel "+", ".join(wishes[0])+". Shall I proceed?")
    if len(w.revisions)>1: yield S("I will cancel "+", ".join(wishes[1])+". Shall I proceed?")
    for c in wishes[-1]: yield can(c)
    yield S(f"All done. Refund for all trips: ${sum(pol.refund(R[c]) for c in wishes[0])+7} in total.")
def chargetold(ep,rng):
    w=ep.world.copy(); R=w.reservations
    wishes=follow(w.first,w.revisions)
    yield S("I will cancel "+", ".join(wishes[0])+". Shall I proceed?")
    if len(w.revisions)>1: yield S("I will cancel "+", ".join(wishes[1])+". Shall I proceed?")
    for c in wishes[-1]: yield can(c)
    yield S(f"All done. We charged you ${sum(pol.refund(R[c]) for c in wishes[-1])} in total.")
table(E,[0,1,2],50,{"onebyone":onebyone,"asks":asks},bad=2)
table(E,[0,2],50,{"firstwish":union,"wrongtotal":lasttold,"charge":chargetold},bad=0)
