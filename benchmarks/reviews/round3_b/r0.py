from h import *
n='tau2_retail_tool_precision'
import collections
c=collections.Counter()
for l in range(4):
  for s in range(60):
    ep,sc,log=play(n,l,s)
    assert sc.success
    c[l,type(ep.world.requests[0]).__name__, ep.start.requests[0].verdict(ep.start).allowed]+=1
    if s<4: print(l,[b for a,b in log if a in 'AU'])
print(c)
