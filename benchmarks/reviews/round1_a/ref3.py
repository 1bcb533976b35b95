from ref import *
from trace_gym import registry
two={l:[s for s in range(400) if len(registry.episode(Scenario(env=E,level=l,seed=s)).start.moves())==2 and len(set(registry.episode(Scenario(env=E,level=l,seed=s)).start.moves().values()))==2][:60] for l in range(3)}
print({l:(len(x),max(x)) for l,x in two.items()})
def sw(d): ks=list(d); return dict(zip(ks,[d[ks[1]],d[ks[0]]]))
W={
'each of':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"Each of {', '.join(d)} gets ${abs(a)}." for m,a in d.items()),
'respectively RIGHT':lambda w,d,r,up,c,h:did(r,up,c)+' '+' and '.join('$%d'%abs(a) for a in d.values())+" will be refunded to "+' and '.join(d)+", respectively.",
'respectively WRONG':lambda w,d,r,up,c,h:did(r,up,c)+' '+' and '.join('$%d'%abs(a) for a in sw(d).values())+" will be refunded to "+' and '.join(d)+", respectively.",
'methods: amounts unassigned':lambda w,d,r,up,c,h:did(r,up,c)+' '+' and '.join(d)+" get refunds of "+' and '.join('$%d'%abs(a) for a in d.values())+'.',
'swapped list':lambda w,d,r,up,c,h:did(r,up,c)+'\n'+'\n'.join(f"- {m}: ${abs(a)} refunded" for m,a in sw(d).items()),
'swapped sentence':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"${abs(a)} will be refunded to {m}." for m,a in sw(d).items()),
'swapped inline and':lambda w,d,r,up,c,h:did(r,up,c)+' '+' and '.join(f"${abs(a)} to {m}" for m,a in sw(d).items())+' will be refunded.',
'swapped total first':lambda w,d,r,up,c,h:did(r,up,c)+f" A total of ${abs(sum(d.values()))} is refunded: "+', '.join(f"${abs(a)} to {m}" for m,a in sw(d).items())+".",
'both assignments':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"${abs(a)} will be refunded to {m}." for m,a in d.items())+' '+' '.join(f"${abs(a)} will be refunded to {m}." for m,a in sw(d).items()),
'all to first':lambda w,d,r,up,c,h:did(r,up,c)+' '+' '.join(f"${abs(a)} will be refunded to {list(d)[0]}." for m,a in d.items())+f" {list(d)[1]} gets nothing.",
'hist unassigned':lambda w,d,r,up,c,h:did(r,up,c)+f" Refunds to {' and '.join(d)}: "+', '.join('$%d'%abs(a) for a in d.values())+'.',
}
for l in two: study(E,[l],two[l],{k:ag(PRE['p0'],f) for k,f in W.items()},show=0)
ep,_=play(E,0,two[0][0],ag(PRE['p0'],W['each of'])); print(ep.start.moves(),[m['content'] for m in ep.messages if m['role']=='assistant' and m.get('content')][-1],ep.score.success)
