from bag2 import mk
from bag import *
PRE=[
 lambda fs,T,w:"To confirm: "+'; '.join(f"{x['c']}: {x['total']} bags in total, {x['newpaid']} of the new ones charged ({x['newpaid']} x $50 = ${x['d']})" for x in fs)+f". Payment method: {w.card}. Shall I proceed?",
 lambda fs,T,w:"Here are the details:\n"+'\n'.join(f"- {x['c']}: {x['add']} more bag(s), {'free' if not x['d'] else '$%d'%x['d']}" for x in fs)+f"\nWould you like me to go ahead and charge {w.card}?",
 lambda fs,T,w:f"The total cost for your added bags is ${T}. This will be charged to {w.card}. Do you confirm (yes/no)?",
 lambda fs,T,w:f"I will add the bags to {' and '.join(x['c'] for x in fs)}. May I proceed?",
 lambda fs,T,w:f"You'd pay ${T} for the extra bags. OK to go ahead?",
]
POST=["Done! A total of ${T} has been charged to {card}.","The bags have been added. Your card {card} has been charged ${T} in total.","Your bags were added, and you were charged ${T}.","All set! You have been charged ${T} in all for the added bags.","The update is complete. The total for the added bags: ${T}.","Done. You pay ${T} in all.","The bags have been added to your reservation(s). Is there anything else?"]
import collections
for l in (1,3):
  print('level',l)
  for i,p in enumerate(PRE):
    row=[]
    for q in POST:
        def ag(w,ep):
            fs=facts(w);T=tot(w)
            return base(w,p(fs,T,w),q.replace('{T}',str(T)).replace('{card}',w.card))
        k=n=0
        for s in range(120):
            if n>=50: break
            from trace_gym import registry
            if not tot(registry.episode(Scenario(env=E,level=l,seed=s)).start): continue
            n+=1; k+=play(E,l,s,ag)[0].score.success
        row.append(f'{k}/{n}')
    print('pre',i,row)
