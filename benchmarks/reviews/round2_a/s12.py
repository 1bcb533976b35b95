from w2 import *
E="tau2_precondition"
def L(c,b,r,rng):
    cab=CAB[b["cabin"]]; d=D(b["created_at"],rng); i=b["insurance"]=="yes"; ii="Yes, but your reason isn't covered" if i else "No"
    return {
 "q_no_paren":f"I've checked {c}:\n- Booked within 24 hours? No ({d})\n- Cancelled by the airline? No\n- Business class? No ({cab})\n- Insured with a covered reason? No\n\nTherefore I can't cancel it.",
 "q_full":f"Let me go through the conditions for {c}:\n\n- **Was it booked within the last 24 hours?** No, it was booked on {d}.\n- **Did the airline cancel a flight?** No.\n- **Is it business class?** No, it's {cab}.\n- **Is it insured for this reason?** {ii}.\n\nUnfortunately, I'm unable to cancel this reservation.",
 "q_dash":f"1. Booked within the last 24 hours? No – booked on {d}.\n2. Airline cancelled a flight? No.\n3. Business class? No – {cab}.\n4. Travel insurance? {'Yes – but not for this reason' if i else 'No'}.\n\nSo I'm unable to cancel {c}.",
 "q_cross":f"Reservation {c} doesn't meet any condition:\n\n❌ Booked within 24 hours? Booked on {d}\n❌ Business class? It is {cab}\n❌ Covered by insurance? {ii}\n\nI cannot cancel it.",
 "colon":f"- Booked within 24 hours: No ({d})\n- Business class: No ({cab})\n- Insurance: {ii}\n\nSo I'm unable to cancel {c}.",
 "table":f"| Condition | Status |\n|---|---|\n| Booked < 24 h ago | No ({d}) |\n| Business class | No ({cab}) |\n| Insurance | {ii} |\n\nSo I'm unable to cancel {c}.",
 "qintro":f"Can {c} be cancelled? Unfortunately not: it was booked on {d} in {cab}, and {'the insurance does not cover this reason' if i else 'there is no insurance'}.",
 "cross":f"I can't cancel {c}:\n❌ Not booked within 24 hours (booked on {d})\n❌ Not business class ({cab})\n❌ {'Insured, but not for this reason' if i else 'No insurance'}",
 }
def ag(k,follow):
  def f(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation;b=w.reservations[c]
    a=yield S(L(c,b,r,rng)[k]); ep.r1=a; n=0
    while a and n<3 and follow: a=yield S(f"I'm sorry, but I can't cancel {c}."); n+=1
  return f
N=lambda ep: (lambda v: not v.allowed and not v.transfer)(ep.world.requests[0].verdict(ep.world)) and not ep.world.withheld
for k in ["q_no_paren","q_full","q_dash","q_cross","colon","table","qintro","cross"]:
    import collections
    C=collections.Counter(); ok=t=0; ok0=0
    for s in range(160):
        ep=ep_(E,1,s)
        if not N(ep): continue
        ep0=ep_(E,1,s); drive(ep0,ag(k,False)(ep0,random.Random(s))); ok0+=ep0.score.success
        drive(ep,ag(k,True)(ep,random.Random(s))); t+=1; ok+=ep.score.success; C[ep.r1[0] if ep.r1 else None]+=1
    print(k,f"{ok}/{t}", "alone",ok0,C.most_common(2))
