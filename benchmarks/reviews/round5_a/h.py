"""harness: run(name, level, n, policy) policy(ep, world0)->generator yielding steps, receives answer text"""
import sys
sys.dont_write_bytecode=True
from collections import Counter
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
def play(name, level, seed, policy, verbose=False):
    ep=registry.start_episode(Scenario(env=name,level=level,seed=seed))
    w=ep.world.copy()
    g=policy(ep,w)
    ans=None
    try:
        step=next(g)
        while True:
            out=ep.step(step)
            ans=out[-1]['content'] if out else ''
            if ep.done: break
            step=g.send(ans)
    except StopIteration: pass
    sc=ep.score or ep.finish()
    return ep,sc
def show(ep,short=400):
    for m in ep.messages[1:]:
        c=m['content'] or ''
        if m.get('tool_calls'): c+=' CALL '+str([(t['function']['name'],t['function']['arguments']) for t in m['tool_calls']])
        print('   ',m['role'],':',c[:short])
    print('   FAILED:',[c.description for c in ep.score.checks if not c.passed], 'broken',ep.score.broken,'conduct',ep.score.conduct)
def run(name, policy, n=50, levels=None, start=100, examples=1, label='', only=None, good=True):
    for lv in levels if levels is not None else range(registry.level_count(name)):
        ok=0;tot=0;why=Counter();ex=0;exs=[]
        for s in range(start,start+n):
            ep,sc=play(name,lv,s,policy)
            if only and not only(ep): continue
            tot+=1
            full = sc.success and sc.conduct==1.0
            ok+=bool(full)
            if not full:
                for c in sc.checks:
                    if not c.passed: why[c.description[:70] if not any(ch.isdigit() for ch in c.description) else c.kind+':'+''.join('#' if ch.isdigit() else ch for ch in c.description)[:60]]+=1
            if (bool(full)==(good=="pass") if isinstance(good,str) else bool(full)!=good) and ex<examples: ex+=1; exs.append(ep)
        print(f'{name} {label} L{lv}: full success {ok}/{tot}', dict(why.most_common(5)))
        for ep in exs: print('  example',ep.scenario); show(ep)
def reword(f, tail=()):
    """f(ep,w,steps) -> list of steps"""
    def pol(ep,w):
        for s in f(ep,w,list(w.copy().oracle())): 
            r=yield s
            if callable(getattr(s,'after',None)): pass
        for t in tail: yield Say(t)
    return pol
