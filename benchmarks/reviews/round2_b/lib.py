import os,sys
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
def start(env,level,seed): return registry.episode(Scenario(env=env,level=level,seed=seed))
def play(ep, plan, mut=None, verbose=False):
    """plan: iterable of steps (of a copy's oracle); mut(step, ep)-> step or list of steps."""
    for s in plan:
        for t in (mut(s,ep) if mut else [s]):
            if ep.done: break
            a=ep.step(t)
            if verbose:
                print('AGENT>', t.text if isinstance(t,Say) else f'{t.tool} {t.arguments}')
                for m in a: print('   ',m['role']+'>',str(m['content'])[:300])
    ep.finish()
    return ep
def ok(ep): return bool(ep.score.success)
def failed(ep): return [c.text if hasattr(c,'text') else str(c) for c in ep.checks() if not getattr(c,'holds',getattr(c,'ok',True))]
