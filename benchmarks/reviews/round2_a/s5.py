from w2 import *
from trace_gym.targets.tau2.requests import Bags
E="tau2_claim_verification"
def upb(w,r,n): 
    return Call(tool="update_reservation_baggages",arguments={"reservation_id":r.reservation,"total_baggages":r.extra,"nonfree_baggages":n,"payment_id":r.method})
def bagmsg(w,r,rng,k):
    b=w.reservations[r.reservation]; m=w.users[w.customer]["membership"]; n=len(b["passengers"])
    free=pol.free_bags(m,b["cabin"],n); paid=max(0,r.extra-free); fee=50*paid; c=CAB[b["cabin"]]
    P=[f"According to our records you are a {m} member. For {n} passenger{'s' if n>1 else ''} in {c}, {free} checked bags are free, so {paid} of the {r.extra} bags will be charged at $50 each: ${fee} in total, on {r.method}. Shall I proceed?",
       f"Here is the summary:\n\n- Reservation: {r.reservation}\n- Total checked bags: {r.extra}\n- Free bags: {free} ({m} member, {c}, {n} passenger(s))\n- Paid bags: {paid} × $50 = ${fee}\n- Payment method: {r.method}\n\nWould you like me to proceed?",
       f"I see that your profile shows {m} membership, which gives you {free//n} free bag{'s' if free//n!=1 else ''} per passenger in {c}. With {r.extra} bags, you'd pay for {paid}, which comes to ${fee}. Do you want me to add them and charge your {'gift' if 'gift' in r.method else 'credit'} card?",
       f"Adding {r.extra} bags to {r.reservation} would cost {fee} dollars ({paid} extra bags at 50 dollars each; {free} are free). Is that okay?"]
    F=[f"Your {r.extra} checked bags have been added to {r.reservation}. ${fee} has been charged to {r.method}.",
       f"Done! Reservation {r.reservation} now has {r.extra} checked bags ({free} free, {paid} paid). The charge is ${fee:,}.00. Is there anything else I can help you with?",
       f"The bags have been added. The total cost was ${fee}, charged to your {'gift' if 'gift' in r.method else 'credit'} card."," All set: the bags are booked. Anything else I can do for you?"]
    return P[k[0]],F[k[1]],paid,fee
def good(ep,rng):
    w=ep.world.copy(); yield getu(w); r=w.requests[0]
    if isinstance(r,Bags):
        yield getr(r.reservation); p,f,n,fee=bagmsg(w,r,rng,(rng.randrange(4),rng.randrange(4)))
        yield S(p); yield upb(w,r,n); yield S(f); return
    for q in w.requests: yield getr(q.reservation)
    ok=[q for q in w.requests if q.verdict(w).allowed]; no=[q for q in w.requests if q not in ok]
    t=[]
    style=rng.randrange(3)
    for q in (no+ok if style<2 else w.requests):
        b=w.reservations[q.reservation];c=q.reservation
        if q in no:
            t.append(rng.choice([f"I'm unable to cancel {c}: it is a {CAB[b['cabin']]} booking made on {D(b['created_at'],rng)}, and it {'is' if b['insurance']=='yes' else 'does not have travel insurance, although you mentioned otherwise' if 'insured' in w.stated else 'has no travel insurance'}.",
             f"**{c}**: Not eligible. Our records show it was booked on {D(b['created_at'],rng)} (more than 24 hours ago) in {CAB[b['cabin']]} without travel insurance, so I can't cancel it.",
             f"Unfortunately, reservation {c} doesn't qualify for cancellation, because it was booked on {D(b['created_at'],rng)}, is in {CAB[b['cabin']]}, and isn't insured."]))
        else:
            t.append(rng.choice([f"I can cancel {c}, because {why(b,'health')}. The refund would be ${pol.refund(b)}.",
             f"**{c}**: Eligible, since {why(b,'health')}. Refund: ${pol.refund(b)} to the original payment method.",
             f"Reservation {c} can be cancelled with a full refund of ${pol.refund(b)} to the original payment method, since {why(b,'health')}."]))
    a=yield S("\n\n".join(t)+"\n\n"+rng.choice(["Would you like me to proceed?","Do you confirm (yes/no)?","Shall I go ahead with the cancellation?"]))
    for q in ok: yield can(q.reservation)
    yield S(" ".join(f"{q.reservation} has been cancelled and ${pol.refund(w.reservations[q.reservation])} will be refunded to the original payment method within 5 to 7 business days." for q in ok)+rng.choice([""," Is there anything else I can help you with?"]))
def one(ep,rng):
    w=ep.world.copy(); yield getu(w)
    for r in w.requests:
        c=r.reservation;b=w.reservations[c]; yield getr(c)
        if r.verdict(w).allowed:
            P=props(c,b,r.reason,rng);d=dones(c,b,rng)
            yield S(P[rng.choice("acdefg")]); yield can(c); a=yield S(d[rng.choice("abcdef")])
        else:
            rf=refs(c,b,r.reason,rng); a=yield S(rf[rng.choice([k for k in rf if k not in("checklist",)])])
            if a and "As I said" in a[0]: a=yield S(f"I understand, but according to our records {'that is not the case for ' if True else ''}{c}, so I can't cancel it.")
trips=lambda ep: not isinstance(ep.world.requests[0],Bags)
bags=lambda ep: isinstance(ep.world.requests[0],Bags)
if __name__=="__main__":
    table(E,range(4),80,{"good":good},bad=2)
    table(E,[1,3],80,{"one":one},bad=2,only=trips)
