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
for i,t in enumerate(REF):
  for l in (0,2,3): go('tau2_concurrent_intents',l,mk2(t),range(60),f'ref{i}')
print('wrong')
for t in ["I can't change {R}.","I can't change {R}: it is overbooked.","I can't change {R}: it was cancelled."]: go('tau2_concurrent_intents',1,mk2(t),range(60),t)
for f in ["Done. {R} is now upgraded too.","All done, including {R}, which is now in the new cabin.","Done. For {R} I issued a $50 voucher.","Done. I cancelled {R} and refunded it."]: go('tau2_concurrent_intents',1,mk2(REF[1],f),range(60),f)
# shortcut: try all, refuse on error
def tryall(w):
  yield Call('get_user_details',{'user_id':w.customer})
  for r in w.requests: yield Call('get_reservation_details',{'reservation_id':r.reservation})
  yield Say("I will change "+' and '.join(f"{r.reservation} to {CN[r.cabin]} with your {r.named}" for r in w.requests)+". Shall I proceed?")
  no=[]
  for r in w.requests:
    a=yield r.call(w,SKILLS)
    if a.startswith('Error'): no.append(r.reservation)
  yield Say(' '.join(f"I could not change {x}, because its flight has been flown." for x in no)+' The rest is done.' )
for l in range(4): go('tau2_concurrent_intents',l,tryall,range(60),'tryall')
from t_user import ask
ask('tau2_concurrent_intents',2,1,"Let me look into all three.","Which card for the second trip?","Which cabin would you like for each trip?","The total difference is $300. Is that okay?","The first trip can't be changed because it has been flown. Should I go ahead with the other two?","The first is changed. Next the second.","Everything is done.")
