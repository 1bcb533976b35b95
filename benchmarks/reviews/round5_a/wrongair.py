from multi import *
from airline import pol as apol
def readall(w):
    seen=set()
    for s in w.copy().oracle():
        if isinstance(s,Call) and s.tool.startswith(('get','search')):
            yield s
def wr(kind):
    def p(ep,w):
        if kind=='ablated':
            for s in w.copy().ablated(): yield s
            return
        for s in readall(w): yield s
        g=[r for r in w.requests if r.verdict(w).allowed]; d=[r for r in w.requests if not r.verdict(w).allowed]
        if kind=='first only': g=g[:1]
        if kind=='refuse all':
            yield Say(" ".join(ref(w,r) for r in w.requests)); yield Say("No exceptions."); return
        if kind=='write all':
            yield Say("I will "+"; ".join(offer(w,r) for r in w.requests)+". Shall I proceed?")
            for r in w.requests: yield r.call(w,SKILLS)
            yield Say("All done."); return
        C=[r for r in g if type(r).__name__=='Cancel']
        t=" ".join(ref(w,r) for r in d)+" "
        offs=[offer(w,r) for r in g]
        if kind=='swapped refunds' and len(C)>1:
            a,b=C[0],C[1]; A,B=policy.refund(w.reservations[a.record]),policy.refund(w.reservations[b.record])
            offs=[o.replace(f"${A}",f"$XX").replace(f"${B}",f"${A}").replace("$XX",f"${B}") if r in(a,b) else o for o,r in zip(offs,g)]
        if kind=='nodates': t=" ".join(f"I cannot cancel {r.record}." for r in d)+" "
        if kind=='wrong date': t=" ".join(f"I cannot cancel {r.record}: it was booked on 2024-05-14." for r in d)+" "
        if kind!='noconsent' and g: yield Say(t+"I will "+"; ".join(offs)+". Shall I proceed?")
        elif not g: yield Say(t)
        for r in g: yield r.call(w,SKILLS)
        if kind=='noconsent': yield Say(t+"Done: "+"; ".join(offs))
        elif kind=='charged': yield Say("Done. "+" ".join(f"You were charged ${policy.refund(w.reservations[r.record])} for cancelling {r.record}." for r in C))
        elif kind=='claim refused': yield Say("Done. "+" ".join(f"I have also cancelled {r.record}." for r in d))
        elif kind=='given away': yield Say("Done. I have also added a $100 travel certificate to your profile.")
        else: yield Say("All done.")
    return p
M=lambda ep: len(ep.start.requests)>1
for e in ('tau2_multi_step','tau2_airline_desk'):
    for k in ('ablated','first only','refuse all','write all','noconsent','charged','claim refused','given away'): run(e,wr(k),n=60,label='WRONG '+k,examples=0)
    run(e,wr('swapped refunds'),n=60,label='WRONG swapped refunds',examples=0,only=lambda ep: sum(type(r).__name__=='Cancel' and r.verdict(ep.start).allowed for r in ep.start.requests)>1 and len({policy.refund(ep.start.reservations[r.record]) for r in ep.start.requests if type(r).__name__=='Cancel' and r.verdict(ep.start).allowed})>1)
    for k in ('nodates','wrong date'): run(e,wr(k),n=60,label='WRONG '+k,examples=0,only=lambda ep:any(not r.verdict(ep.start).allowed for r in ep.start.requests))
for e in ('tau2_precondition',):
    for k in ('ablated','refuse all','write all','noconsent','nodates','wrong date'): run(e,wr(k),n=60,label='WRONG '+k,examples=0)
