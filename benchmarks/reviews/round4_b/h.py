import sys, collections
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
from trace_gym.score import reward
start = registry.episode_starter()
def ep_of(env, level, seed): return start(Scenario(env=env, level=level, seed=seed))
def run(env, level, seed, agent):
    """agent: generator function(ep) yielding Call/Say; receives the reply text."""
    ep = ep_of(env, level, seed)
    g = agent(ep); r = None
    try:
        while not ep.done:
            s = g.send(r); out = ep.step(s); r = out[0]['content'] if out else ''
    except StopIteration: pass
    if not ep.done: ep.early = True; ep.finish()
    else: ep.early = False
    return ep
def log(ep, tools=False):
    o=[]
    for m in ep.messages[1:]:
        if m['role']=='tool' and not tools: continue
        if m.get('tool_calls'): o.append('CALL '+str([ (c['function']['name'],c['function']['arguments']) for c in m['tool_calls']]))
        else: o.append(m['role']+'> '+str(m['content'])[:1500])
    o.append('FAILED: '+str([(c.kind,c.description) for c in ep.score.checks if not c.passed]))
    o.append(f'success={ep.score.success} reward={reward(ep.score):.2f}')
    return '\n'.join(o)
def rate(env, levels, seeds, agents, show=1, want=None, quiet=False):
    """agents: dict name->agent. prints success rates; show examples with success != want"""
    shown=collections.Counter()
    for name, a in agents.items():
        for lv in levels:
            ok=0; rw=0; fails=collections.Counter(); conv=0
            for s in seeds:
                ep=run(env,lv,s,a); ok+=ep.score.success; rw+=reward(ep.score); conv+=ep.early
                for c in ep.score.checks:
                    if not c.passed: fails[c.kind+': '+' '.join(w for w in c.description.split() if not any(ch.isdigit() for ch in w))[:70]]+=1
                w = want.get(name,True) if want else True
                if ep.score.success != w and shown[name]<show and not quiet:
                    shown[name]+=1; print('---',name,ep.scenario); print(log(ep))
            n=len(seeds); print(f'{name:28s} L{lv} success {ok}/{n} reward {rw/n:.2f} unfinished {conv} fails {dict(fails.most_common(4))}',flush=True)
