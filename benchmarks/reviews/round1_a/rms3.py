from rms2 import *
from trace_gym import registry
def has(w):
    am=[amt(w,r) for r in split(w)[0] if amt(w,r) is not None]
    return len(set(am))>1
def past2(w,ok,no):
    rs=[r for r in ok if amt(w,r) is not None]; am=[amt(w,r) for r in rs]; am=am[1:]+am[:1]; d=dict(zip([r.order for r in rs],am))
    out=[]
    for r in ok:
        t=past(w,r,0)
        if r.order in d: t=t.replace(usd(amt(w,r)),usd(d[r.order]))
        out.append(t)
    return "All done. "+' '.join(out)
def other(w,ok,no): # every cancel/return is told the amount of another (readdressed/forbidden) order as well
    return "All done. "+' '.join(past(w,r,0) for r in ok)+' You also get '+' and '.join(usd(policy.paid(w.orders[r.order]))+' back for '+r.order for r in w.requests if amt(w,r) is None)+'.'
for l in range(4):
    ss=[s for s in range(300) if has(registry.episode(Scenario(env=E,level=l,seed=s)).start)][:50]
    study(E,[l],ss,{'swapped refunds (>=2 amounts)':wr(plain,past2,good)},show=(l in(0,)) )
    ss=[s for s in range(300) if any(amt(w,r) is None for w in [registry.episode(Scenario(env=E,level=l,seed=s)).start] for r in split(w)[0]) and any(amt(w,r) is not None for w in [registry.episode(Scenario(env=E,level=l,seed=s)).start] for r in split(w)[0])][:50]
    study(E,[l],ss,{'claims refund for readdressed':wr(plain,other,good)},show=0)
ep,_=play(E,0,[s for s in range(300) if has(registry.episode(Scenario(env=E,level=0,seed=s)).start)][0],wr(plain,past2,good))
for m in ep.messages[1:]:
    if m.get('content') and m['role']!='tool': print(m['role'],'|',m['content'])
print([ (o['order_id'],o['payment_history']) for o in ep.start.orders.values()], reward(ep.score))
