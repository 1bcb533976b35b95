from trace_gym.score import reward as _rw
import sys, json
from collections import Counter
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
def ep(env, level, seed): return registry.start_episode(Scenario(env=env, level=level, seed=seed))
def _drive(p):
    if hasattr(p,'send'):
        p2=p; obs=None
        # generators that delegate to plain iterators cannot be sent values: fall back
        while True:
            try: step=p2.send(obs) if getattr(p2,'_ok',True) and OBS else next(p2)
            except StopIteration: return
            obs=yield step
    else:
        for st in p: yield st
OBS=False
def play(env, level, seed, policy):
    """policy(world_copy) -> generator yielding Call/Say, receives observation text"""
    e = ep(env, level, seed)
    w = e.world.copy()
    g = _drive(policy(w))
    log=[('USER', e.messages[-1]['content'] if isinstance(e.messages[-1],dict) else str(e.messages[-1]))]
    obs=None
    try:
        step = next(g)
        while True:
            if getattr(e,'done',False): break
            n=len(e.messages)
            r = e.step(step)
            new=e.messages[n:]
            obs = new[-1]['content'] if new and new[-1].get('role')!='assistant' else None
            log.append(('CALL' if isinstance(step,Call) else 'SAY', str(step.tool)+json.dumps(step.arguments) if isinstance(step,Call) else step.text))
            log.append(('  ->', obs))
            step = g.send(obs)
    except StopIteration: pass
    return e, log
def show(log, n=600):
    for k,t in log: print(k, (str(t) or '')[:n])
def _old(env, level, policy, seeds=range(60), verbose=0):
    ok=0; rw=[]; bad=[]
    for s in seeds:
        e,log=play(env,level,s,policy)
        sc=e.score
        ok+=bool(sc.success); rw.append(sc.reward)
        if not sc.success: bad.append(s)
    return ok, len(list(seeds)), sum(rw)/len(rw), bad
from trace_gym.score import reward as _rw
def rate(env, level, policy, seeds=range(60), filt=None):
    ok=0; rw=[]; bad=[]; n=0
    for s in seeds:
        e,log=play(env,level,s,policy)
        if filt and not filt(e.start): continue
        n+=1
        sc=e.finish()
        ok+=bool(sc.success); rw.append(_rw(sc))
        if not sc.success: bad.append(s)
    return f'{ok}/{n}', round(sum(rw)/max(1,n),3), bad
def play2(env, level, seed, policy):
    e=ep(env,level,seed); w=e.world.copy(); log=[('USER',e.messages[-1]['content'])]
    for step in policy(w,e):
        if e.done: break
        n=len(e.messages); e.step(step); new=e.messages[n:]
        obs=new[-1]['content'] if new[-1].get('role')!='assistant' else None
        log.append(('CALL' if isinstance(step,Call) else 'SAY', str(step.tool)+json.dumps(step.arguments) if isinstance(step,Call) else step.text)); log.append(('  ->',obs))
    return e,log
def rate2(env, level, policy, seeds=range(60), filt=None):
    ok=0; rw=[]; bad=[]; n=0
    for s in seeds:
        if filt and not filt(ep(env,level,s).world): continue
        e,log=play2(env,level,s,policy); n+=1; sc=e.finish(); ok+=bool(sc.success); rw.append(_rw(sc))
        if not sc.success: bad.append(s)
    return f'{ok}/{n}', round(sum(rw)/max(1,n),3), bad
def fails(e): return [c.description for c in e.finish().checks if not c.passed]
def dump(env,level,seed,policy,n=700):
    e,log=play2(env,level,seed,policy); print('--',env,level,seed); show([x for i,x in enumerate(log) if x[0]=='SAY' or x[0]=='USER' or (x[0]=='  ->' and log[i-1][0]=='SAY') or 'Error' in str(x[1])[:8] or x[0]=='CALL' and not x[1].startswith(('get_','search'))],n); print('   FAILED',fails(e))
