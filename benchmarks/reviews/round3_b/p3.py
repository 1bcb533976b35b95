from h import *
import collections
for n in open('list.txt').read().split():
    for q in ["Do you confirm, and is there anything else you would like to change?","Would you like me to proceed? Also, is there anything else you need?","Before I proceed, is there anything else you'd like to add or change?","Shall I proceed, or is there anything else you would like to change first?"]:
        N=ok=full=e=0
        for s in range(60):
            hit=[0]
            def f(t,k,ep):
                x=re.sub(r'(Shall I proceed\?|Do you agree\?)',q,t); hit[0]|=x!=t; return x
            ep,sc,log=play(n,2,s,f)
            if not hit[0]: continue
            N+=1; ok+=sc.success; full+=sc.success and sc.conduct==1
        if N: print(n,'success',ok,'full',full,'of',N,'|',q)
