from s5 import *
def end(z,order):
  def f(ep,rng):
    w=ep.world.copy(); yield getu(w)
    for q in w.requests: yield getr(q.reservation)
    ok=[q for q in w.requests if q.verdict(w).allowed][0]; no=[q for q in w.requests if q is not ok][0]
    b=w.reservations[no.reservation]; o=ok.reservation; m=f"${pol.refund(w.reservations[o])}"
    A=f"I'm sorry, but I can't cancel {no.reservation}: it's {CAB[b['cabin']]}, it was booked on {D(b['created_at'],rng)}, and it has no insurance."
    B=f"I can cancel {o}, because {why(w.reservations[o],'health')}, and refund {m} to your original payment method."
    yield S((A+"\n\n"+B if order else B+"\n\n"+A)+" Would you like me to "+("proceed?" if order else f"cancel {o}?"))
    yield can(o); yield S(z.format(o=o,n=no.reservation,m=m))
  return f
mixed=lambda ep: trips(ep) and sum(q.verdict(ep.world).allowed for q in ep.world.requests)==1
Z=["{o} has been cancelled, and {m} will be refunded.","The other reservation has been cancelled, and {m} will be refunded to your original payment method.","Your other trip has been cancelled. You'll get {m} back within 5 to 7 business days.","The reservation has been cancelled. {m} will be refunded within 5 to 7 business days.","Your reservation has been cancelled and a refund of {m} will be processed within 5 to 7 business days. Is there anything else I can help you with?","I've cancelled it. The refund of {m} will arrive in 5–7 business days.","Done! The cancellation went through, and {m} is on its way back to you.","Reservation {o} has been successfully cancelled, with a refund of {m}. Reservation {n} remains active.","The eligible trip has been cancelled; the refund is {m}. The other one stays as it is."]
for z in Z:
    for o in (0,1): table(E,[1],200,{z+f" [{o}]":end(z,o)},bad=0,only=mixed)
