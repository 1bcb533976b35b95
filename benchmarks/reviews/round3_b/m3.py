from h import *
from m1 import info,mk
n='tau2_multi_step'
ok=N=0
for s in range(200):
    ep=ep_(n,2,s); w,I=info(ep)
    if not any(x[1]=='up' and x[3]>0 for x in I): continue
    def f(t,k,ep): return mk(0)(t,k,ep).replace('charged to','refunded to') if 'Shall I' in t else 'Done.'
    ep,sc,log=play(n,2,s,f); N+=1; ok+=sc.success and sc.conduct==1
    if N==1: show([x for x in log if x[0] in 'AU']); print(bad(sc))
    if N>=60: break
print('upgrade amount said to be refunded instead of charged:',ok,N)
