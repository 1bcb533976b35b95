import sys, collections, itertools
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
from trace_gym.score import reward
def C(t, **a): return Call(tool=t, arguments=a)
def S(t): return Say(text=t)
def play(env, level, seed, agent):
    ep = registry.episode(Scenario(env=env, level=level, seed=seed))
    g = agent(ep.start.copy(), ep)
    try:
        step = next(g)
        while True:
            if ep.done: break
            ans = ep.step(step)
            step = g.send(ans[-1]['content'] if ans else None)
    except StopIteration: pass
    early = None
    if not ep.done:
        early = 'open'
        ep.finish()
    return ep, early
def study(env, levels, seeds, agents, show=1):
    for name, agent in agents.items():
        for level in levels:
            ok=0; conduct=0; opens=0; fails=collections.Counter(); ex=None; rew=0; n=0
            for s in seeds:
                try: ep, early = play(env, level, s, agent)
                except Exception as e:
                    fails['EXC '+repr(e)[:100]]+=1; n+=1; continue
                n+=1
                ok += ep.score.success; rew += reward(ep.score); opens += early is not None
                conduct += ep.score.conduct < 1
                if not ep.score.success or ep.score.conduct<1:
                    for c in ep.score.checks:
                        if not c.holds and not (c.at_start and False): 
                            import re
                            fails[re.sub(r'#W\d+|\b[A-Z0-9]{6}\b','ID',c.says)[:90]]+=1
                    ex = ex or (ep, s)
            print(f'{name:28s} L{level} success {ok}/{n} reward {rew/n:.2f} conduct<1 {conduct} unended {opens}', dict(fails.most_common(4)))
            if ex and show and ok<n*0.98+0:
                ep,s=ex
                print('   --- example seed',s)
                for m in ep.messages[1:]:
                    if m['role'] in('user','assistant') and m.get('content'): print('     ',m['role'][:5],'|',m['content'][:700].replace('\n',' / '))
                    elif m['role']=='tool' and 'Error' in m['content'][:8]: print('      tool |', m['content'][:200])
                print('      FAILED:', [c.says[:90] for c in ep.score.checks if not c.holds])
                if show==1: pass
