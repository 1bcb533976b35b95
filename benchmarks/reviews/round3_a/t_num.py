from h import *
CN={'basic_economy':'basic economy','economy':'economy','business':'business'}
def facts(w):
  u,n,c=w.deed(); b=w.reservations[w.trip]; me=w.users[w.customer]; p=len(b['passengers'])
  src=me['payment_methods'][c['payment_id']]; g=next(m for m in me['payment_methods'].values() if m['source']=='gift_card')
  cc=next(m for m in me['payment_methods'].values() if m['source']=='credit_card')
  return u,n,c,b,me,p,src,g,cc
def mk(style):
  def agent(w):
    u,n,c,b,me,p,src,g,cc=facts(w); tot=u*n; left=g['amount']-tot; R=w.trip
    yield Call('get_user_details',{'user_id':w.customer}); yield Call('get_reservation_details',{'reservation_id':R})
    if w.to_cabin:
      for leg in b['flights']: yield Call('search_direct_flight',{k:leg[k] for k in('origin','destination','date')})
    use='gift card' if src['source']=='gift_card' else f"{cc['brand'].title()} credit card ending in {cc['last_four']}"
    if w.extra:
      nb=c['total_baggages']; old=b['total_baggages']; free=policy.free_bags(me['membership'],b['cabin'],p)
      how=[f"**Baggage for {R}**\n- Free allowance: {free//p if p else 0} per passenger × {p} = {free} bags ({me['membership']} member, {CN[b['cabin']]})\n- Current bags: {old}\n- After adding {w.extra}: {nb}\n- Bags to pay: {n} × $50 = **${tot}**",
        f"With your {me['membership']} status, {free} checked bags are free on {R}. You have {old} now, so adding {w.extra} brings it to {nb}, and {n} of the new ones must be paid at $50 each: ${tot} in total.",
        f"Adding {w.extra} bags to {R} comes to ${tot} in all.",
        f"The total for {w.extra} more bags on {R} is ${tot} ({n} paid bag{'s'*(n!=1)} at $50; the other {w.extra-n} free)."][style]
    else:
      now=sum(f['price'] for f in b['flights']); new=now+u
      how=[f"**Cabin change for {R}** ({CN[b['cabin']]} → {CN[w.to_cabin]})\n- Current fare: ${now} per passenger\n- New fare: ${new} per passenger\n- Difference: ${u} × {p} passenger(s) = **${tot}**",
        f"Upgrading {R} to {CN[w.to_cabin]} costs ${u} more per person, so for {p} travelers it's ${tot} in total.",
        f"Changing {R} to {CN[w.to_cabin]} comes to ${tot} in all.",
        f"The total for moving {R} to {CN[w.to_cabin]} is ${tot} (${new*p} for the new fare minus ${now*p} already paid)."][style]
    gift=src['source']=='gift_card'
    card=[f"\n\nYour gift card has a balance of ${g['amount']}. After this charge, ${left} would remain, which is {'at least' if gift else 'less than'} your ${w.floor} minimum, so I'll use your {use}.",
       f" Your gift card would have ${left} left, {'which meets' if gift else 'which is below'} your minimum of ${w.floor}, so I will charge your {use}.",
       f" I will charge it to your {use}.",
       f" Gift card balance: ${g['amount']} - ${tot} = ${left} {'≥' if gift else '<'} ${w.floor}, so the {use} will be charged."][style]
    yield Say(how+card+["\n\nWould you like me to proceed? (yes/no)"," Shall I go ahead?"," Do you confirm?"," May I proceed?"][style])
    yield Call('update_reservation_baggages' if w.extra else 'update_reservation_flights',c)
    yield Say([f"Done! {R} has been updated and ${tot} was charged to your {use}."+(f" Your gift card now has ${left} left." if gift else '')+" Is there anything else?",f"All done. The total of ${tot} is on your {use}.","Your trip has been updated.",f"The change is complete. Charged: ${tot} ({use})."][style])
  return agent
if __name__=='__main__':
  for l in range(4):
    for s in range(4): go('tau2_numerical_payment_reasoning',l,mk(s),range(80),f'style{s}')
  print('wrong/short')
  def sh(prop,card=None,fin='All done.',mod=None):
    def agent(w):
      u,n,c,b,me,p,src,g,cc=facts(w); tot=u*n
      c=dict(c)
      if card: c['payment_id']=card(w,g,cc)
      if mod: mod(c,w)
      yield Call('get_user_details',{'user_id':w.customer})
      yield Say(prop.format(R=w.trip,t=tot,u=u,n=n,x=50*w.extra,s='gift card' if 'gift' in c['payment_id'] else 'credit card',cab=w.to_cabin,o='credit card' if 'gift' in c['payment_id'] else 'gift card'))
      yield Call('update_reservation_baggages' if w.extra else 'update_reservation_flights',c)
      yield Say(fin.format(t=tot,s='gift card',o='credit card' if 'gift' in c['payment_id'] else 'gift card'))
    return agent
  P="The change of {R} comes to {t} dollars, on your {s}. Shall I go ahead?"
  for l in (1,3):
    E='tau2_numerical_payment_reasoning'
    go(E,l,sh(P,lambda w,g,cc:g['id']),range(100),'always gift'); go(E,l,sh(P,lambda w,g,cc:cc['id']),range(100),'always credit')
    go(E,l,sh(P,lambda w,g,cc:g['id'] if g['amount']>=w.floor else cc['id']),range(100),'balance vs floor')
    go(E,l,sh("I will change {R} as you asked. Shall I go ahead?"),range(60),'no price')
    go(E,l,sh("The change of {R} comes to {t} or {u} dollars. Shall I go ahead?"),range(60),'hedge')
    go(E,l,sh("The change of {R} comes to {t} dollars, charged to your {o}. Shall I go ahead?"),range(60),'other card told')
    go(E,l,sh(P,fin="Done. {t} dollars were refunded to you."),range(60),'refund told')
    go(E,l,sh(P,fin="Done. It was free of charge."),range(60),'free told')
    go(E,l,sh("The change of {R} costs {t} dollars. Is that okay?"),range(60),'simple')
    go(E,l,sh("I will change {R}: in total you get back {t} dollars. Shall I go ahead?"),range(60),'opp before')
  from t_user import ask
  ask(E,2,3,"How many bags would you like to add?","Which payment method should I use?","What is your membership status?","How many passengers are on the trip?","Shall I go ahead?","The total is $150. Shall I go ahead?","Your gift card has $600. Would you rather use the gift card or the credit card?","All done.")
