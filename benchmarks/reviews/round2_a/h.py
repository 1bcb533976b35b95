import os,sys,random,re,json
os.environ["OMP_NUM_THREADS"]="1"
sys.path.insert(0,"TREE")
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
from trace_gym.score import reward
from trace_gym.targets.tau2 import policy as pol, records as rec
def ep_(env,l,s): return registry.episode(Scenario(env=env,level=l,seed=s))
def drive(ep,plan):
    "plan: generator; receives list of answer contents"
    ans=None
    try:
        step=next(plan)
        while not ep.done:
            a=ep.step(step)
            ans=[m["content"] for m in a]
            step=plan.send(ans)
    except StopIteration: pass
    if not ep.done: ep.finish()
    return ep
def show(ep,f=sys.stdout,tools=True):
    for m in ep.messages[1:]:
        if m["role"]=="tool":
            if tools: print("   TOOL",m["content"][:160],file=f)
        elif m.get("tool_calls"): 
            if tools: print("   CALL",m["tool_calls"][0]["function"]["name"],m["tool_calls"][0]["function"]["arguments"],file=f)
        else: print(m["role"].upper()+":",m["content"],file=f)
    s=ep.score
    print("  success",s.success,"reward %.2f"%reward(s),"conduct",s.conduct,[ (c.kind,c.says) for c in s.checks if not c.holds],"trunc",ep.truncated,file=f)
def oracle(env,l,s):
    ep=ep_(env,l,s)
    for st in list(ep.world.copy().oracle()):
        if ep.done: break
        ep.step(st)
    if not ep.done: ep.finish()
    return ep
def table(env,levels,n,pols,bad=2,only=None):
    "pols: name->f(ep,rng)->generator"
    for name,f in pols.items():
        for l in levels:
            ok=tot=0;R=0;shown=0;cond=0
            for s in range(n):
                ep=ep_(env,l,1000+s)
                if only and not only(ep): continue
                rng=random.Random(s)
                drive(ep,f(ep,rng)); tot+=1; ok+=ep.score.success; R+=reward(ep.score);cond+=ep.score.conduct<1
                if (not ep.score.success) and shown<bad:
                    shown+=1; print("----",name,l,1000+s); show(ep,tools=False)
            print(f"== {env} {name} L{l}: success {ok}/{tot} = {ok/max(1,tot):.2f} reward {R/max(1,tot):.2f} conductfail {cond}")
