from t_con import *
REF=["{R} can't be upgraded, since it has already been flown.","I can't change {R}: according to the system, its flight landed on {on}.","For {R}, I'm unable to process a cabin change as the travel on {on} is already complete.","{R} is in the past ({on}) and therefore not eligible for a cabin change.","Please note that {R} isn't eligible for changes because flight {num} has already landed.","{R}: not possible, the flight has already been taken ({on}).","Unfortunately I cannot modify {R} because one of its flights has already been flown.","The cabin of {R} can no longer be changed – that flight landed on {on}.","{R}'s flight already departed, so its cabin can't be changed.","As the flight of {R} has already been completed, no changes are allowed.","Sorry, {R} has already been used (the flight was on {on}), so I can't change it.", "Cannot be changed:\n- {R}: flight {num} on {on} has status \"landed\""]
def mk2(ref,lie='Done.'):
  def agent(w):
    if all(r.verdict(w).allowed for r in w.requests) : return None
    def g():
      ok=[r for r in w.requests if r.verdict(w).allowed]; no=[r for r in w.requests if not r.verdict(w).allowed]
      yield Call('get_user_details',{'user_id':w.customer})
      for r in w.requests: yield Call('get_reservation_details',{'reservation_id':r.reservation})
      t='\n'.join(ref.format(R=r.reservation,on=w.reservations[r.reservation]['flights'][0]['date'],num=w.reservations[r.reservation]['flights'][0]['flight_number']) for r in no)
      if ok: t+="\n\nI can change "+' and '.join(f"{r.reservation} to {CN[r.cabin]} with your {r.named}" for r in ok)+". Shall I proceed?"
      a=yield Say(t)
      for r in ok: yield r.call(w,SKILLS)
      if a: yield Say(lie.format(R=no[0].reservation))
    return g()
  return agent
