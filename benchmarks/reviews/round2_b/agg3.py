from agg2 import *
S=["{c} has been cancelled. ${a} goes back to your {ma} and ${b} to your {mb}, so you get ${t} back in total.",
"{c} is cancelled. You'll receive a total refund of ${t}: ${a} to your {ma} and ${b} to your {mb}.",
"Your trip is cancelled. Total refund: ${t} (${a} to your {ma}, ${b} to your {mb}).",
"{c} has been cancelled.\n\n- ${a} → {ma}\n- ${b} → {mb}\n\n**Total refund: ${t}**, within 5 to 7 business days.",
"{c} has been cancelled and ${t} will be refunded."]
Q=["You have paid ${t} in total for trip {c}: ${a} with your {ma} and ${b} with your {mb}. Shall I cancel it and refund ${t}?","You paid ${t} for {c}. Shall I cancel it and refund ${t}?","For trip {c} you paid ${a} + ${b} = ${t}. I can cancel it for a full refund of ${t}. Shall I proceed?","For trip {c}, you've paid ${a} by {ma} and ${b} by {mb}, which makes ${t} in total. Shall I cancel it?"]
for q in Q:
  for s_ in S:
    if q!=Q[1] and s_!=S[4]: continue
    g=n=0
    for lv in (1,2,3):
      for sd in range(1000,1150):
        ep=start('tau2_aggregation',lv,sd); w=ep.world
        if not w.named or len(parts(w,w.named))<2: continue
        a,b=parts(w,w.named); k=dict(c=w.named,a=a['amount'],b=b['amount'],t=a['amount']+b['amount'],ma=meth(w,a['payment_id']),mb=meth(w,b['payment_id']))
        def f():
            yield Call('get_reservation_details',{'reservation_id':w.named}); yield Say(text=q.format(**k)); yield Call('cancel_reservation',{'reservation_id':w.named}); yield Say(text=s_.format(**k))
        run(ep,f()); n+=1; g+=ok(ep)
    print(g,n,'of 450 |',repr(q),'|',repr(s_))
