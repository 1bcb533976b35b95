from h import *
n='tau2_conditional_instructions'
for l in range(4):
  for s in range(5):
    ep,sc,log=play(n,l,s); assert sc.success
    print(l,[b for a,b in log if a in 'AU'])
