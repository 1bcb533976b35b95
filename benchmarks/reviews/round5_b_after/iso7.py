from iso1 import run
from lib import *
import f1,h1,t1,b1
cp=lambda w: f1.kind(w) in("charge","back")
K=["{did}. The difference is ${per} per passenger for {n} passenger(s), ${a} in total, {vb} {m}.","{did}. The difference of ${a} was settled with {m} as a {nn}.","{did}. ${a} was {vb} {m}.","{did}. The difference is ${a}, {vb} {m}.","{did}. The fare difference is ${per} per passenger, so ${a} in total was {vb} {m}.","{did}. A {nn} of ${a} went to {m}."]
for lv in (0,1,2): run(f1.E,(lv,),range(150),K,"done",f1.V,f1.agent,cp,f1.mkc,f"RE lv{lv}")
import collections
c=collections.Counter()
for lv in (0,1,2):
    for s in range(100):
        w=Talk(f1.E,lv,s).w; c[lv,f1.kind(w)]+=1
print(c)
