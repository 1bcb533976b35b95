from tp import *
def sub(a,cond,levels=(2,3),seeds=range(600,720)):
    n=ok=0;ex=None
    for lv in levels:
        for s in seeds:
            e=ep_of(E,lv,s); w,r,b,c,d=st(e)
            if not cond(w,r,b,c,d): continue
            ep=run(E,lv,s,a); n+=1; ok+=ep.score.success
            if ep.score.success and not ex: ex=log(ep)
    return ok,n,ex
free=lambda w,r,b,c,d: kind(r)=='Bags' and d==0
for t in ("Done. Your {x} bags have been added and ${y} has been charged to your {m}.","I've added the bags to {c}. The total of ${y} ({x} x $50) was charged to your {m}."):
    ok,n,ex=sub(agent(p2,lambda w,r,b,c,d:t.format(x=r.extra,y=50*r.extra,m=meth(w,r.method),c=r.reservation)),free); print('free bags, claims charge',ok,n); print(ex)
ok,n,ex=sub(agent(lambda w,r,b,c,d:f"Adding {r.extra} bags to {r.reservation} costs ${50*r.extra}, charged to your {meth(w,r.method)}. Shall I proceed?",lambda *x:"Done."),free); print('free bags, proposes charge',ok,n)
part=lambda w,r,b,c,d: kind(r)=='Bags' and 0<d<50*r.extra
ok,n,ex=sub(agent(p2,lambda w,r,b,c,d:f"Done. ${50*r.extra} has been charged to your {meth(w,r.method)}."),part); print('partly free, claims full charge',ok,n)
print('share free-bag scenarios', {lv:sum(free(*st(ep_of(E,lv,s))) for s in range(600,720))/120 for lv in (2,3)})
