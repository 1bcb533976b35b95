import sys,re,collections
sys.path.insert(0,'TREE')
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
def ep_(n,l,s): return registry.episode(Scenario(env=n,level=l,seed=s))
def play(n,l,s,f=None,steps=None,trace=False,maxturn=60):
    ep=ep_(n,l,s)
    plan=list(steps(ep)) if steps else list(ep.world.copy().oracle())
    log=[('U',ep.messages[1]['content'])]
    ks=0
    for st in plan:
        if ep.done: break
        if isinstance(st,Say):
            t=f(st.text,ks,ep) if f else st.text
            ks+=1
            ts=t if isinstance(t,list) else [t]
            for t in ts:
                if ep.done or t is None: continue
                r=ep.step(t if isinstance(t,Call) else Say(t)); log.append(('A',t)); log+= [('U' if not isinstance(t,Call) else 'T',m['content']) for m in r]
        else:
            r=ep.step(st); log.append(('C',f'{st.tool} {st.arguments}')); log+=[('T',str(m['content'])[:150]) for m in r]
    sc=ep.finish()
    return ep,sc,log
def bad(sc): return [c.says for c in sc.checks if not c.holds]
def show(log):
    for a,b in log: print('  ',a,b)
def rate(n,l,f=None,steps=None,seeds=range(60),ex=1,label=''):
    ok=0;cond=0;fails=collections.Counter();exs=[];N=0
    for s in seeds:
        ep,sc,log=play(n,l,s,f,steps);N+=1
        ok+=sc.success; cond+=(sc.success and sc.conduct<1)
        if not sc.success or sc.conduct<1:
            for b in bad(sc): fails[re.sub(r'[A-Z0-9]{6}|"[^"]*"|[A-Z]\w+ [A-Z]\w+','_',b)]+=1
            exs.append((s,log,bad(sc)))
    print(f'{n} L{l} {label}: success {ok}/{N}, conduct broken among success {cond}', dict(fails.most_common(5)))
    for s,log,b in exs[:ex]:
        print(' seed',s,b); show(log)
    return exs
