from h import *
from trace_gym.world import call_tool
def extra(tpl,giftonly=False,multi=False):
  def agent(w):
    steps=list(w.copy().oracle()); ups=[s for s in steps if isinstance(s,Call) and s.tool in('update_reservation_flights','update_reservation_baggages','modify_pending_order_payment')]
    if len(ups)!=1: return None
    c=ups[0]; v=w.copy(); 
    call_tool(v,c.tool,c.arguments)
    pm=c.arguments.get('payment_id') or c.arguments.get('payment_method_id'); m=w.users[w.customer]['payment_methods'][pm]
    K=dict(m=m['source'].replace('_',' '))
    if m['source']=='gift_card':
      bal='amount' if 'amount' in m else 'balance'
      K.update(bal=f"{m[bal]:g}",left=f"{v.users[w.customer]['payment_methods'][pm][bal]:g}")
      if K['left']==K['bal']: return None
    elif giftonly: return None
    if 'reservation_id' in c.arguments:
      R=c.arguments['reservation_id']; b=w.reservations[R]; nb=v.reservations[R]; n=len(b['passengers'])
      if len(nb['payment_history'])==len(b['payment_history']): return None
      d=nb['payment_history'][-1]['amount']
      o=sum(f['price'] for f in b['flights']); nw=sum(f['price'] for f in nb['flights'])
      if multi and c.tool!='update_reservation_flights': return None
      if multi==2 and n==1: return None
      if d<0 and giftonly: return None
      K.update(R=R,d=abs(d),n=n,u=abs(nw-o),o=o,nw=nw,ot=o*n,nt=nw*n,way='charge' if d>0 else 'refund')
    elif multi: return None
    def g():
      done=False
      for s in steps:
        if isinstance(s,Say) and not done and ('hall I' in s.text):
          done=True
          i=max(s.text.rfind('Shall I'),0); yield Say(s.text[:i]+tpl.format(**K)+' '+s.text[i:])
        else: yield s
    return g()
  return agent
if __name__=='__main__':
  X=[("After this charge, ${left} would remain on your gift card.",True,0),("Your gift card has ${bal}; ${left} will remain on it after the charge.",True,0),("Your gift card will have ${left} left.",True,0),
     ("Difference: ${u} × {n} = ${d} ({way}).",False,1),("New fare: ${nw} per passenger\n- Old fare: ${o} per passenger\n- Difference: ${u} × {n} passengers = ${d} ({way}).",False,1),("The fare difference is ${u} per passenger, so ${d} in total ({way}).",False,1)]
  for env in ('tau2_structured_data','tau2_tool_precision','tau2_airline_desk','tau2_concurrent_intents','tau2_relative_date_reasoning','tau2_seat_availability','tau2_numerical_payment_reasoning','tau2_retail_desk','tau2_retail_precondition'):
    l=registry.level_count(env)-1
    for t,g,m in X: 
      try: go(env,l,extra(t,g,m),range(120),t[:45].replace('\n',' '))
      except Exception as e: print(env,t[:20],repr(e)[:100])
