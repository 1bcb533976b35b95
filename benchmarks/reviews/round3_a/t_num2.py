from t_num import *
E='tau2_numerical_payment_reasoning'
def ag(tpl,only):
  def agent(w):
    u,n,c,b,me,p,src,g,cc=facts(w); tot=u*n
    if (only=='bags') != bool(w.extra): return None
    gift=src['source']=='gift_card'; free=policy.free_bags(me['membership'],b['cabin'],p)
    now=sum(f['price'] for f in b['flights'])
    K=dict(R=w.trip,t=tot,u=u,n=n,p=p,g=g['amount'],left=g['amount']-tot,fl=w.floor,use='gift card' if gift else f"{cc['brand'].title()} ending in {cc['last_four']}",enough='at least' if gift else 'less than',meets='above' if gift else 'below',free=free,each=free//p,nb=b['total_baggages']+w.extra,ob=b['total_baggages'],x=w.extra,cab=CN.get(w.to_cabin,''),oc=CN[b['cabin']],now=now,new=now+u,nt=now*p,newt=(now+u)*p,mem=me['membership'])
    def gg():
      yield Call('get_user_details',{'user_id':w.customer}); yield Call('get_reservation_details',{'reservation_id':w.trip})
      yield Say(tpl.format(**K)+" Would you like me to proceed?")
      yield Call('update_reservation_baggages' if w.extra else 'update_reservation_flights',c); yield Say("All done.")
    return gg()
  return agent
S0="Adding {x} bags to {R} comes to ${t} in all."
C0="Changing {R} to {cab} comes to ${t} in all."
G=[" Your gift card has a balance of ${g}. After this charge, ${left} would remain, which is {enough} your ${fl} minimum, so I'll use your {use}.",
" Your gift card has ${g}. After this, ${left} would remain, so I'll use your {use}.",
" After this charge, ${left} would remain on your gift card, so I'll use your {use}.",
" Your gift card balance is ${g}; ${left} would stay on it, which is {meets} ${fl}. I'll charge your {use}.",
" Gift card balance: ${g}\n- Remaining after charge: ${left}\n- Required minimum: ${fl}\n\nTherefore I will charge your {use}.",
" The gift card balance of ${g} minus ${t} leaves ${left}, {enough} ${fl}, so the {use} will be used.",
" Since your gift card has ${g} and would be left with ${left}, which is {enough} the ${fl} you want to keep, I'd charge your {use}.",
" Your gift card currently holds ${g}. Deducting ${t} leaves ${left}. That is {enough} ${fl}, so it goes on your {use}."]
B=["**Baggage for {R}**\n- Free allowance: {each} per passenger × {p} = {free} bags ({mem} member, {oc})\n- Current bags: {ob}\n- After adding {x}: {nb}\n- Bags to pay: {n} × $50 = **${t}**",
"{R}: {n} × $50 = ${t}.","Bags to pay: {n} × $50 = ${t} for {R}.","{R}: {x} extra bags.\n\n**Total cost: ${t}** ({n} × $50)","For {R}, {free} bags are free; with {nb} bags in all, {n} have to be paid: {n} x $50 = ${t} total.","For {R}: Total: {n} paid bags × $50 = ${t}","The cost for {R} is ${t} ({n} bags at $50 each).","{R}: {n} of the bags are chargeable at $50 each, for a total of ${t}."]
C=["**Cabin change for {R}** ({oc} → {cab})\n- Current fare: ${now} per passenger\n- New fare: ${new} per passenger\n- Difference: ${u} × {p} passenger(s) = **${t}**",
"{R} to {cab}: (${new} − ${now}) × {p} = ${t}.","{R} to {cab}: difference ${u} × {p} = ${t}.","{R} to {cab}: ${u} per passenger × {p} passengers = ${t} total.","{R} to {cab}: the fare goes from ${nt} to ${newt}, a difference of ${t}.","{R} to {cab}: **Total: ${t}** (${u} × {p}).","{R} in {cab} costs ${new} per traveler instead of ${now}, so the difference for {p} is ${t}."]
if __name__=='__main__':
  for l in (1,3):
    for i,t in enumerate(G): go(E,l,ag(S0+t,'bags'),range(80),f'gift{i}')
    for i,t in enumerate(B): go(E,l,ag(t,'bags'),range(80),f'bag{i}')
    for i,t in enumerate(C): go(E,l,ag(t,'cab'),range(120),f'cab{i}')
