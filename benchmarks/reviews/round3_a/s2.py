from h import *
from trace_gym.targets.tau2.airline import SKILLS,Cancel
def mk(prop,fin):
  def agent(w):
    if [type(r).__name__ for r in w.requests]!=['Cancel','Upgrade'] or not w.requests[0].verdict(w).allowed: return None
    def g():
        c,u=w.requests
        v=w.copy(); cc=u.call(w,SKILLS); v.update_reservation_flights(**cc.arguments)
        d=dict(A=c.record,B=u.record,x=policy.refund(w.reservations[c.record]),d=v.reservations[u.record]['payment_history'][-1]['amount'])
        d['o']=w.reservations[u.record]['flights'][0]['price']; d['n']=v.reservations[u.record]['flights'][0]['price']
        for r in (c,u): yield Call('get_reservation_details',{'reservation_id':r.record})
        yield Call('get_user_details',{'user_id':w.customer})
        yield Say(prop.format(**d)+" Shall I proceed?")
        for r in (c,u): yield r.call(w,SKILLS)
        yield Say(fin.format(**d))
    return g()
  return agent
if __name__=="__main__":
 P="I will cancel {A} with a refund of ${x} and upgrade {B} to business for ${d} more."
 for p,f in [(P,"All done."),
  ("I can cancel {A}. You'd get a full refund of ${x}.\n\nUpgrading {B} costs ${d} more in total.","All done."),
  ("I can cancel {A}. You'd get a full refund of ${x}.\n\nUpgrading {B} costs ${d} more in total (${n} versus the ${o} you paid).","All done."),
  ("I can cancel {A}. You'd get a full refund of ${x}.\n\nUpgrading {B} costs ${d} more in total (${n} versus the ${o} you paid); I will charge that to your card.","All done."),
  (P,"Done: Reservation {A} is cancelled (refund ${x}). {B} was upgraded for ${d}."),
  (P,"Reservation {A} is cancelled (refund ${x}), and {B} was upgraded for ${d}."),
  (P,"{A} has been cancelled and {B} upgraded for ${d}."),
  (P,"{B} was upgraded for ${d}."),(P,"{B} was upgraded at a cost of ${d}."),
  (P,"Reservation {A} is cancelled (refund: ${x}) and {B} is in business class (charge: ${d})."),
  ("Cancelling {A}: refund ${x}. Upgrading {B}: ${d}.","All done."),
  ("1. Cancel {A}: ${x} refund to original payment method.\n2. Upgrade {B} to business: ${n} - ${o} = ${d} charged to your card.","Both are done."),
  ]:
   print(repr(p),repr(f)); go('tau2_airline_desk',1,mk(p,f),range(100))
 