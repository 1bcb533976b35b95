from agg2 import *
import collections
for lv in (1,2,3):
    c=collections.Counter(); ex=None
    for s in range(1000,1100):
        ep=start('tau2_aggregation',lv,s); w=ep.world.copy(); run(ep,pl2('breakdown')(w)); k=(bool(w.named),len(w.requests)>1,ok(ep)); c[k]+=1
        if not ok(ep) and not w.named and ex is None: ex=ep
    print(lv,'(named, several, success)',dict(c))
    if ex: print(bad(ex),conv(ex))
