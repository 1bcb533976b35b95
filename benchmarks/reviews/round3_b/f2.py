from h import *
import random,hashlib
envs=open('list.txt').read().split()
W=["Yes","No, I cannot do that.","Shall I proceed?","What is your id?","Which reservation do you mean, {c}?","It is done.","","???","I will cancel everything. Do you agree?","{c} is cancelled, 100 dollars come back.","Goodbye","The total is 500 dollars.","1"*500,"\u2603 émoji 🙂","Please hold on."]
for n in envs:
    crash=0;rew=set();N=0;diff=0
    for l in range(4):
        for s in range(15):
            seqs=[]
            for rep in range(2):
                rng=random.Random(s*7+l); ep=ep_(n,l,s); h=[ep.state_hash,ep.messages[1]['content']]
                tools=[t['function'] for t in ep.tools]
                for _ in range(12):
                    if ep.done: break
                    try:
                        if rng.random()<.6:
                            r=ep.step(Say(rng.choice(W).format(c=rng.choice(list(getattr(ep.world,'reservations',None) or getattr(ep.world,'orders',None) or ['x'])))))
                        else:
                            t=rng.choice(tools); a={}
                            for k,p in t['parameters']['properties'].items():
                                ids=list(getattr(ep.world,'reservations',{}) or [])+list(getattr(ep.world,'orders',{}) or [])+list(getattr(ep.world,'users',{}) or [])+['x']
                                a[k]={'string':rng.choice(ids),'integer':rng.randint(-1,3),'number':1.5,'boolean':True,'array':[]}.get(p.get('type'),None)
                            r=ep.step(Call(t['name'],a))
                        h.append(str(r))
                    except Exception as e: crash+=1; print(n,l,s,type(e),str(e)[:200]); break
                try: sc=ep.finish(); h.append(str(sc)); rew.add(sc.success)
                except Exception as e: crash+=1; print('fin',n,l,s,e)
                seqs.append(hashlib.md5(str(h).encode()).hexdigest())
            N+=1; diff+=seqs[0]!=seqs[1]
    print(n,'N',N,'crash',crash,'nondeterministic',diff,'success seen by random agent',rew)
