from suffix_base import *
import statistics
from trace_gym.score import reward
for e in ('tau2_itinerary_preservation','tau2_conditional_instructions','tau2_retail_structured_data','tau2_precondition'):
    for k in ('p1','p7','r4','r9'):
        v=[];su=0
        for s in range(500,550):
            ep,sc=play(e,1,s,mk(k))
            if getattr(ep,'skip',False): continue
            v.append(reward(sc)); su+=sc.success
        print(e,k,'n',len(v),'success',su,'mean reward %.2f'%statistics.mean(v))
from dissect_new import upl
v=[]
for s in range(100,250):
    ep,sc=play('tau2_airline_desk',0,s,upl('u1 currently in'))
    if not getattr(ep,'skip',False): v.append((sc.success,reward(sc)))
from collections import Counter; print('u1',Counter(v))
