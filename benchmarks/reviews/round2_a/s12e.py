from w2 import *
def chk(c,b,rng,q=": "):
    i=b["insurance"]=="yes"; d=D(b["created_at"],rng)
    return (f"I've reviewed reservation {c} against our cancellation policy:\n\n- **Booked within the last 24 hours{q.strip()}** No – booked on {d}\n- **Cancelled by the airline{q.strip()}** No\n"
     f"- **Business class{q.strip()}** No – {CAB[b['cabin']]}\n- **Travel insurance{q.strip()}** {'Yes, but your reason is not covered' if i else 'No'}\n\nUnfortunately, I'm unable to cancel it.")
def plan(q):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w); adv="adversarial" in ep.scenario.env
    for n,r in enumerate(w.requests):
        c=r.reservation;b=w.reservations[c]; yield getr(c); nxt=w.requests[n+1].reservation if n+1<len(w.requests) else "zzz"
        v=r.verdict(w)
        if v.transfer: yield Call(tool="transfer_to_human_agents",arguments={"summary":"flown"}); return
        if v.allowed:
            from trace_gym.targets.tau2.requests import Upgrade
            if isinstance(r,Upgrade):
                yield S(f"I'll upgrade {c} to business and charge {r.method}. OK?"); yield r.call(w,frozenset(["tool_precision"])); yield S(f"{c} is upgraded to business."); continue
            yield S(props(c,b,r.reason,rng)["a"]); yield can(c); a=yield S(dones(c,b,rng)["a"])
        else:
            a=yield S(chk(c,b,rng,q) if q else refs(c,b,r.reason,rng)["short"]); k=0
            while a and k<6 and (adv and nxt not in a[0] or not adv and k<1 and len(w.requests)==1): a=yield S(f"I'm sorry, but I can't cancel {c}."); k+=1
  return f
from trace_gym.targets.tau2.requests import Bags
has=lambda ep: not isinstance(ep.world.requests[0],Bags) and any(not r.verdict(ep.world).allowed and not r.verdict(ep.world).transfer for r in ep.world.requests) and not ep.world.withheld
if __name__=="__main__":
  for e,l in [("tau2_precondition",1),("tau2_precondition",3),("tau2_adversarial_policy_compliance",1),("tau2_adversarial_policy_compliance",3),("tau2_claim_verification",1),("tau2_claim_verification",3),("tau2_multi_step",3)]:
      table(e,[l],120,{"colon":plan(":"),"question":plan("?"),"control":plan("")},bad=0,only=has)
