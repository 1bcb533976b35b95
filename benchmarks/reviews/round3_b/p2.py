from h import *
n='tau2_retail_tool_precision'
from r1 import mk
Q=["Please note that items of an order can only be exchanged once. Before I proceed, are there any other items you'd like to exchange?",
"Items of an order can be changed only once. Is there anything else in this order you would like to change, or is it just this one?",
"Before I go ahead: an order can only be modified once. Is there anything else you'd like to change in this order?",
"Since exchanges can only be done once per order, could you confirm that this is the only item you'd like to exchange?",
"Do you want to change any other items in this order?",
"Are these all the items you want to exchange?"]
for q in Q:
    e=0;N=0;ans=set();ok=0
    for s in range(300):
        ep=ep_(n,1,s)
        if type(ep.world.requests[0]).__name__!='Swap': continue
        N+=1
        def st(ep):
            p=list(ep.world.copy().oracle()); i=[k for k,x in enumerate(p) if isinstance(x,Say)][0]
            return p[:i]+[Say(q)]+p[i:]
        ep,sc,log=play(n,1,s,mk(1),steps=None) if 0 else play(n,1,s,steps=st)
        j=[k for k,x in enumerate(log) if x==('A',q)][0]
        nxt=log[j+1] if j+1<len(log) else ('END','')
        e+= nxt[0]!='U'; ans.add(nxt[1][:60] if nxt[0]=='U' else 'END'); ok+=sc.success
        if N>=50: break
    print('ended',e,'success',ok,'of',N,'|',q,'=>',list(ans)[:3])
# with the proposal in the same message
for q in [" Is there anything else in this order that you'd like to change? If not, please confirm."," Before I proceed, is there anything else you'd like to exchange?"," Do you confirm, and is there anything else you would like to change in this order?"]:
    N=ok=full=e=0
    for s in range(300):
        ep=ep_(n,1,s)
        if type(ep.world.requests[0]).__name__!='Swap': continue
        def f(t,k,ep): return re.sub(r' Shall I proceed\?',q,t)
        ep,sc,log=play(n,1,s,f); N+=1; ok+=sc.success; full+=sc.success and sc.conduct==1
        if N==1: show([x for x in log if x[0] in 'AU'])
        if N>=50: break
    print('in proposal',q,'success',ok,'full',full,N)
