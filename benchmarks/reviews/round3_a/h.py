import re, collections, random
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
from trace_gym.score import reward
from trace_gym.targets.tau2 import policy
def gen(t):
    t=re.sub(r"\b(yusuf|[a-z]+)_[a-z]+_\d+\b",'USER',t)
    return re.sub(r"#?\b(?=[\w-]*\d)[\w-]+\b",'X',t)
def play(env,level,seed,agent):
    ep=registry.episode(Scenario(env=env,level=level,seed=seed))
    w=ep.world.copy()
    g=agent(w)
    if g is None: return None
    r=None
    try:
        s=next(g)
        while not ep.done:
            ans=ep.step(s)
            s=g.send(None if False else ans[-1]['content'] if ans else '')
    except StopIteration: pass
    if not ep.done: ep.finish()
    return ep
def go(env,level,agent,seeds=range(60),label='',quiet=False):
    ok=n=0; fails=collections.Counter(); bad=[]; rw=0
    cond=0
    for sd in seeds:
        ep=play(env,level,sd,agent)
        if ep is None: continue
        n+=1; sc=ep.score; rw+=reward(sc)
        if sc.success and sc.conduct==1: ok+=1
        else:
            bad.append(sd)
            for c in sc.checks:
                if not c.holds: fails[gen(c.says)[:75]]+=1
    print(f"{env} L{level} {label}: ok {ok}/{n} reward {rw/max(n,1):.2f} {dict(fails.most_common(4)) if fails else ''} bad {bad[:5]}")
    return bad
def show(env,level,seed,agent):
    ep=play(env,level,seed,agent)
    for m in ep.messages[1:]:
        if m['role']=='tool': print('  tool>',m['content'][:160])
        elif m.get('tool_calls'): print('  call>',m['tool_calls'][0]['function']['name'],m['tool_calls'][0]['function']['arguments'])
        else: print(' ',m['role']+'>',m['content'])
    print('  reward',reward(ep.score),[ (c.kind,c.says) for c in ep.score.checks if not c.holds])
def pick(w,*opts): # deterministic per world
    return opts[hash_(w)%len(opts)]
def hash_(w):
    import zlib; return zlib.crc32(w.opening().encode())
