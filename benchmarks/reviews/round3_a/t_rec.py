from h import *
from datetime import date
def D(s): d=date.fromisoformat(s); return d.strftime('%B ')+str(d.day)+', '+str(d.year)
def mk(style,order=0):
  def agent(w):
    code=w.requests[0].reservation; b=w.reservations[code]; x=policy.refund(b); mine=w.users[w.customer]['reservations']
    pm=b['payment_history'][0]['payment_id']; card=w.users[w.customer]['payment_methods'][pm]
    m='gift card' if card['source']=='gift_card' else f"{card['brand'].title()} ending in {card['last_four']}"
    yield Call('get_user_details',{'user_id':w.customer})
    for c in (mine if order==0 else [code]+[c for c in mine if c!=code]): yield Call('get_reservation_details',{'reservation_id':c})
    f=b['flights'][0]; ps=', '.join(p['first_name']+' '+p['last_name'] for p in b['passengers'])
    same=[c for c in mine if c!=code and w.reservations[c]['origin']==b['origin'] and w.reservations[c]['destination']==b['destination']]
    t=[f"I found the trip that matches your description:\n\n**Reservation {code}**\n- Route: {b['origin']} → {b['destination']} (round trip)\n- Departure: {D(f['date'])}\n- Cabin: {b['cabin'].replace('_',' ')}\n- Passengers: {ps}\n- Insurance: {b['insurance']}\n\nSince you have travel insurance and you're cancelling for health reasons, it qualifies for a full refund of ${x} to your {m} within 5–7 business days.\n\nWould you like me to proceed with the cancellation? (yes/no)",
     f"The trip you describe is reservation {code}. It's insured, so it can be cancelled because of your health. Shall I go ahead and cancel it?",
     f"You have {len(mine)} reservations. "+(f"{same[0]} is on the same route, but it leaves on {D(w.reservations[same[0]]['flights'][0]['date'])} in {w.reservations[same[0]]['cabin'].replace('_',' ')}. " if same else '')+f"The one that matches is {code}. Do you want me to cancel {code}?",
     f"The reservation number is **{code}**. You'll get ${x} back once it's cancelled. Do you confirm?",
     f"The number of the trip is {code} ({b['origin']} to {b['destination']}, {f['date']}, {b['cabin']}).",
     f"I've located it: {code}. The trip was paid with ${x} on your {m}. May I proceed with cancelling it on medical grounds?"][style]
    a=yield Say(t)
    if style==4: a=yield Say(f"Shall I cancel {code} now?")
    yield Call('cancel_reservation',{'reservation_id':code})
    yield Say([f"Your reservation **{code}** has been cancelled. A refund of **${x}** will go to your {m} within 5 to 7 business days. I hope you feel better soon!",
      f"Done. You will get {x} dollars back within 5 to 7 business days.",
      f"{code} is cancelled and ${x}.00 is being refunded to the original payment method ({m}).",
      f"The cancellation of {code} is complete. Refund amount: ${x}.",
      f"I've cancelled {code}. The full amount of ${x} will be returned to your {m}.",
      f"Reservation {code} has been successfully cancelled.\n\n- **Refund amount:** ${x}\n- **Refund method:** {m}\n- **Timeline:** 5–7 business days\n\nIs there anything else?"][style])
  return agent
if __name__=='__main__':
  for l in range(3):
    for s in range(6): go('tau2_record_identification',l,mk(s),range(60),f'style{s}')
  # shortcuts
  def short(choose,fin=None):
    def agent(w):
      mine=w.users[w.customer]['reservations']; c=choose(w,mine)
      x=policy.refund(w.reservations[c])
      yield Call('get_user_details',{'user_id':w.customer})
      yield Say(f"That is reservation {c}. Shall I cancel it?")
      yield Call('cancel_reservation',{'reservation_id':c})
      yield Say(f"It is cancelled and {x} dollars are refunded.")
    return agent
  from importlib import import_module
  import collections
  def tr(w,c):
    from trace_gym import registry
    import sys
    mod=sys.modules[type(w).__module__]; return mod.traits(w.reservations[c])
  def nonroute(w,mine):
    k=[k for k in w.facts if k!='route']; f=[c for c in mine if all(w.facts[x] in tr(w,c)[x] for x in k)]; return f[0]
  def onefact(w,mine):
    k=['route',[k for k in w.facts if k!='route'][0]]; return [c for c in mine if all(w.facts[x] in tr(w,c)[x] for x in k)][0]
  def pair(w,mine): # the reservation whose traits are most common
    return max(mine,key=lambda c:sum(str(tr(w,c)[k])==str(tr(w,d)[k]) for d in mine for k in tr(w,c)))
  def overlap(w,mine):
    return max(mine,key=lambda c:sum(bool(set(tr(w,c)[k])&set(tr(w,d)[k])) for d in mine for k in w.facts))
  for l in range(3):
    for n_,f in (('nonroute',nonroute),('route+1',onefact),('first',lambda w,m:m[0]),('last',lambda w,m:m[-1])): go('tau2_record_identification',l,short(f),range(100),n_)
  def lie(fin):
    def agent(w):
      for s in w.oracle():
        if isinstance(s,Say) and s.text.startswith('It is cancelled'): yield Say(fin(w))
        else: yield s
    return agent
  b=lambda w:w.reservations[w.requests[0].reservation]; x=lambda w:policy.refund(b(w))
  for k,f in {'wrong amt':lambda w:f"Cancelled; {x(w)+7} dollars come back.",'charged':lambda w:f"Cancelled; you were charged {x(w)} dollars.",'stuff':lambda w:"Cancelled; the refund is "+' or '.join(str(policy.refund(r)) for r in w.reservations.values())+" dollars.",'extra':lambda w:f"Cancelled, {x(w)} dollars come back. I cancelled all your other trips too.",'voucher':lambda w:f"Cancelled, {x(w)} dollars come back and you get a $50 voucher.",'wrong trip':lambda w:f"I have cancelled {[c for c in w.reservations if c!=w.requests[0].reservation][0]}; {x(w)} dollars come back."}.items():
    go('tau2_record_identification',1,lie(f),range(60),k)
  def nocons(w):
    c=w.requests[0].reservation
    yield Say(f"The number is {c}.")
    yield Call('cancel_reservation',{'reservation_id':c}); yield Say(f"Cancelled, {x(w)} dollars come back.")
  go('tau2_record_identification',1,nocons,range(60),'number named, no proposal')
  from t_user import ask
  ask('tau2_record_identification',1,2,"Could you give me the reservation number?","What date does it leave?","Which cabin is it in?","I see ABC123 and DEF456. Which one is it?","What is the reason for the cancellation?","Do you remember how many passengers are on it?","You have several trips on this route. Could you tell me the travel date and who travels with you?","I couldn't find a matching trip. Is that right?")
