from lib import *
import trace_gym.score as TS
import sys
for env in sys.argv[1:]:
    w=type(start(env,0,1).world)
    for lv in w.levels:
        o=a=0; n=60; r=[]
        for s in range(n):
            ep=start(env,lv,s); play(ep,list(ep.world.copy().oracle())); o+=ok(ep)
            ep=start(env,lv,s); 
            try: play(ep,list(ep.world.copy().ablated())); a+=ok(ep); r.append(TS.reward(ep.score))
            except Exception as e: print(repr(e))
        print(env,lv,'oracle',o,'ablated',a,'of',n,'abl reward',round(sum(r)/len(r),2))
