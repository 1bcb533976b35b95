from h import *
envs=open('list.txt').read().split()
PRE=["I'd be happy to help you with that! Let me pull up your information first.",
"Sure, let me check that for you. One moment please.",
"Thank you for the details. Could you please confirm that you'd like me to go ahead and look this up?",
"Thanks for reaching out! I'm sorry to hear that. I'll look into this right away.",
"I have your request. Before I continue, is there anything else I should know?",
"Got it. I'm checking now..."]
for n in envs:
    for i,p in enumerate(PRE):
        ok=N=full=0; ex=None
        for l in (0,2,3):
            for s in range(25):
                def st(ep):
                    pl=list(ep.world.copy().oracle()); 
                    g=getattr(ep.world,'greeting','')
                    return ([pl[0],Say(p)]+pl[1:]) if g else [Say(p)]+pl
                ep,sc,log=play(n,l,s,steps=st); N+=1; ok+=sc.success; full+=sc.success and sc.conduct==1
                if not sc.success and not ex: ex=[x for x in log if x[0] in 'AU'][:6],bad(sc)
        if ok<N or full<N: print(n,'pre',i,ok,full,N,ex)
    print('done',n)
