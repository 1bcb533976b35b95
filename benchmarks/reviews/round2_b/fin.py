import retail, air
from lib2 import *
import trace_gym.score as TS, re
def mut(base,g):
    def f(w):
        for s in list(base(w)):
            if isinstance(s,Say): s=Say(text=g(s.text,w))
            yield s
    return f
flip=lambda t,w:t.replace('refunded','@@').replace('charged','refunded').replace('@@','charged')
amt=lambda t,w:re.sub(r'\$(\d+)',lambda m:f'${int(m[1])+13}',t)
for env,S,lvs in (('tau2_retail_structured_data',retail.serve,range(4)),('tau2_structured_data',air.serve,range(4))):
    for n,g in (('flip direction',flip),('all amounts +13',amt)):
        for lv in lvs:
            c=rw=0
            for s in range(2000,2060):
                ep=start(env,lv,s); w=ep.world.copy(); run(ep,mut(S(0),g)(w)); c+=ok(ep); rw+=TS.reward(ep.score)
                if lv==3 and s==2000: print(conv(ep)[-900:])
            print(env,lv,n,c,'/60 reward',round(rw/60,2))
