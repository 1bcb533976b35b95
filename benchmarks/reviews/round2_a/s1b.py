from w2 import *
import collections
E="tau2_adversarial_policy_compliance"
R=collections.defaultdict(lambda:[0,0,""])
def good(ep,rng,T):
    w=ep.world.copy(); yield getu(w)
    for r in w.requests:
        c=r.reservation;b=w.reservations[c]; yield getr(c)
        nxt=w.requests[1].reservation if r is w.requests[0] else "zzz"
        if r.verdict(w).allowed:
            P=props(c,b,r.reason,rng);d=dones(c,b,rng)
            yield S(P.get(T[2],P["a"])); yield can(c); a=yield S(d.get(T[3],d["a"]));k=0
            while a and nxt not in a[0] and k<3: a=yield S("Is there anything else I can help you with?");k+=1
        else:
            rf=refs(c,b,r.reason,rng)
            a=yield S(rf.get(T[0],rf["short"])); k=0
            while a and nxt not in a[0] and k<7: a=yield S(INS[T[1]](c)); k+=1
combos=[(x,"exc","a","a") for x in ["checklist","short","alt_change","anything","howproceed","letme","nodoes","regret","hours","keep","wouldhave"]]+[("short",x,"a","a") for x in INS]+[("short","exc",x,"a") for x in "bcdefg"]+[("short","exc","a",x) for x in "bcdef"]
for T in combos:
    ok=tot=0;ex=None
    for l in (1,3):
      for s in range(30):
        ep=ep_(E,l,s);drive(ep,good(ep,random.Random(s),T));tot+=1;ok+=ep.score.success
        if not ep.score.success and ex is None: ex=ep
    print(T,ok,tot)
    if ex is not None: show(ex,tools=False)
