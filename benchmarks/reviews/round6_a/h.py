import sys,os,json
sys.path.insert(0,'TREE')
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
from trace_gym.score import reward
from collections import Counter
def start(env,level,seed):
    return registry.start_episode(Scenario(env=env,level=level,seed=seed))
def rewrite(env, level, seed, f, max_steps=30):
    """run the policy generator f(world, ep) yielding steps; returns ep with score"""
    ep=start(env,level,seed)
    g=f(ep.world.copy(), ep)
    for s in g:
        if ep.done: break
        ep.step(s)
    ep.finish()
    return ep
def fails(ep): return [c.description for c in ep.score.checks if not c.passed]
def show(ep):
    for m in ep.messages[1:]:
        t=m.get('content') or ''
        if m.get('tool_calls'):
            t+=' '.join(json.dumps(c['function']) for c in m['tool_calls'])
        print('   ',m['role']+'>',t[:400])
    print('    FAILS',fails(ep),'conduct',ep.score.conduct,'reward',round(reward(ep.score),3))
def table(name, env, f, levels=range(4), seeds=range(1000,1050), showfail=1, filt=None):
    shown=0
    for lv in levels:
        n=s=c=0; r=0; why=Counter()
        for sd in seeds:
            ep0=start(env,lv,sd)
            if filt and not filt(ep0.world): continue
            ep=rewrite(env,lv,sd,f)
            n+=1; s+=ep.score.success; c+=ep.score.conduct==1; r+=reward(ep.score)
            if not ep.score.success or ep.score.conduct<1:
                for x in fails(ep): why[x if len(x)<60 else x[:60]]+=1
                if shown<showfail: shown+=1; print('  EX',env,lv,sd); show(ep)
        print(f'{name:34s} L{lv} n={n} succ={s/max(n,1):.2f} conductok={c/max(n,1):.2f} rew={r/max(n,1):.2f}', dict(why.most_common(3)))
