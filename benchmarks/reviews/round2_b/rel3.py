from rel2 import *
import collections
for nm,f in (('nodir',nodir),('bothways',bothways)):
    c=collections.Counter(); ex={}
    for lv in range(3):
      for s in range(2000,2060):
        ep=start('tau2_relative_date_reasoning',lv,s); w=ep.world.copy(); role='charge' if info(w)[2]>0 else 'refund'; kind=w.method[:6]; run(ep,f(w)); c[(role,kind,ok(ep))]+=1; ex.setdefault((role,kind,ok(ep)),ep)
    print(nm,c)
    for k,e in ex.items():
        if k[2]: print(k,conv(e)[-1500:]); print('======')
