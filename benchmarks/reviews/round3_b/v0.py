from h import *
for n in ['tau2_claim_verification','tau2_multi_step']:
 for l in range(4):
  for s in range(4):
    ep,sc,log=play(n,l,s); assert sc.success
    print(n,l,[b for a,b in log if a in 'AU'])
