from ms import *
def sw(x): D=[k[4] for k in x]; return D[1:]+D[:1]
def noP(ok,no,rs): return (refs(no,rs)+" " if no else '')+"I can cancel "+' and '.join(x[0].reservation for x in ok if kind(x[0])=='Cancel')+''.join(f" and upgrade {x[0].reservation} to business" for x in ok if kind(x[0])=='Upgrade')+". Shall I proceed?"
ENDS={
'and':lambda ok,D:'Done! '+'. '.join(f"{x[0].reservation} has been cancelled and ${d} will be refunded" for x,d in zip(ok,D))+'.',
'withrefund':lambda ok,D:'\n'.join(f"- {x[0].reservation}: cancelled, refund of ${d}" for x,d in zip(ok,D)),
'table':lambda ok,D:'| Reservation | Refund |\n|---|---|\n'+'\n'.join(f"| {x[0].reservation} | ${d} |" for x,d in zip(ok,D)),
'respectively':lambda ok,D:"I have cancelled "+' and '.join(x[0].reservation for x in ok)+". The refunds are "+' and '.join(f"${d}" for d in D)+", respectively.",
'for':lambda ok,D:"All trips are cancelled. You get "+' and '.join(f"${d} for {x[0].reservation}" for x,d in zip(ok,D))+".",
'total':lambda ok,D:f"All trips are cancelled. The total refund is ${sum(D)}.",
'totalbreak':lambda ok,D:f"All trips are cancelled. The total refund is ${sum(D)} ("+' + '.join(f'${d}' for d in D)+").",
}
for lv in (0,1):
  for nm,f in ENDS.items():
    for pn,pp in (('amounts',P(1)),('no amounts',noP)):
      res=[]
      for swp in (False,True):
        ok=0
        for s in range(800,860):
            a=agent(0,pp,lambda o,n,r: f(o,sw(o) if swp else [x[4] for x in o])); ok+=run(E,lv,s,a).score.success
        res.append(ok)
      print(f'L{lv} {nm:13s} proposal with {pn:11s} right {res[0]}/60  swapped {res[1]}/60')
