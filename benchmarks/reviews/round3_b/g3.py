from h import *
from g1 import info
n='tau2_aggregation'
V={'next named':lambda c,nx:f"{c} has been cancelled. The next one is {nx}.",
'bare report':lambda c,nx:f"Reservation {c} has been successfully cancelled.",
'I will now':lambda c,nx:f"{c} has been cancelled. I'll now continue with the next trip, {nx}.",
'moving on':lambda c,nx:f"Done! {c} is cancelled. Now let's move on to {nx}."}
def st(kind,upfront):
    def g(ep):
        w,B,paid,ch,asked,tot,ref=info(ep); out=[Call('get_user_details',{'user_id':w.customer})]+[Call('get_reservation_details',{'reservation_id':c}) for c in asked]
        for i,c in enumerate(ch):
            pre=f"You paid ${tot} in total. " if i==0 else ''
            if i==0 and upfront: pre+=f"The trips that match are {', '.join(ch)}. I'll cancel them one after another. "
            out.append(Say(pre+f"I can cancel {c} and refund ${paid[c]}. Shall I proceed?")); out.append(Call('cancel_reservation',{'reservation_id':c}))
            if i<len(ch)-1: out.append(Say(V[kind](c,ch[i+1])))
        out.append(Say(f"All the trips are cancelled. In total you get back ${ref}.")); out.append(Say("Yes, everything is done."))
        return out
    return g
import collections
for l in (2,3):
  for kind in V:
    for up in (0,1):
      c=collections.Counter()
      for s in range(100):
        ep,sc,log=play(n,l,s,steps=st(kind,up)); c[min(len(ep.start.requests),3),sc.success]+=1
      print(l,kind,'upfront' if up else '', {f'{k[0]} trips, success {k[1]}':v for k,v in sorted(c.items())})
