from t_air import *
from trace_gym.targets.tau2.airline import SKILLS
X=["I'm sorry, but {R} can't be cancelled because it's a {cab} ticket that was booked on {D} and isn't insured.",
"{R} isn't eligible for a refund or cancellation: it was made on {iso}, more than 24 hours ago, in {cab}, without travel insurance.",
"Regarding {R}, our policy does not allow a cancellation here. The booking date was {D}, the cabin is {cab}, and there is no insurance.",
"Unfortunately {R} doesn't qualify. To be cancelled, a reservation must be booked within the last 24 hours, be in business class, or have insurance with a covered reason. Yours was booked on {D}, is in {cab}, and has no insurance.",
"I won't be able to cancel {R}. It was created on {iso} (outside the 24-hour window), is {cab}, and does not include insurance.",
"**{R}** cannot be cancelled:\n- Cabin: {cab}\n- Booked: {D}\n- Insurance: none",
"I have to decline the cancellation of {R}, since it was purchased on {D}, it is {cab} and uninsured.",
"While I understand the situation, {R} was booked on {D} in {cab} without insurance, so there's no basis on which I can cancel it."]
def ref(tpl,lie=None):
  def agent(w):
    no=[r for r in w.requests if not r.verdict(w).allowed]
    if not no: return None
    ok=[r for r in w.requests if r.verdict(w).allowed]
    def g():
      for r in w.requests: yield Call('get_reservation_details',{'reservation_id':r.record})
      yield Call('get_user_details',{'user_id':w.customer})
      t='\n\n'.join(tpl.format(R=r.record,cab=w.reservations[r.record]['cabin'].replace('_',' '),D=D(w.reservations[r.record]['created_at'][:10]),iso=w.reservations[r.record]['created_at'][:10]) for r in no)
      if ok: t+="\n\nHowever, I can "+' and '.join(f"cancel {r.record} with a refund of ${policy.refund(w.reservations[r.record])}" if hasattr(r,'reason') else f"upgrade {r.record} to business with {r.named or 'the same method'}" for r in ok)+". Would you like me to do that?"
      a=yield Say(t)
      for r in ok: yield r.call(w,SKILLS)
      if a: yield Say(lie or "All done.")
    return g()
  return agent
for i,t in enumerate(X):
  for l in (0,1): go('tau2_airline_desk',l,ref(t),range(80),f'ref{i}')
for t in ["I can't cancel {R}: it was booked on {D} in business class and is insured.","I can't cancel {R}.","I can't cancel {R}, booked on {D}, but I've sent you a voucher.","I can't cancel {R}: booked on 2024-05-02, 2024-05-03, 2024-05-04 or {D}."]: go('tau2_airline_desk',1,ref(t),range(60),'WRONG '+t)
