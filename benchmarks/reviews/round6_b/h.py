import json, re, sys, collections, random
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
def start(env, level, seed): return registry.start_episode(Scenario(env=env, level=level, seed=seed))
class A:
    def __init__(s, env, level, seed):
        s.ep=start(env,level,seed); s.log=[("USER",s.ep.messages[-1]["content"])]; s.w=s.ep.world.copy()
    @property
    def done(s): return s.ep.done
    def call(s, tool, **a):
        if s.done: return None
        r=s.ep.step(Call(tool=tool,arguments=a)); c=r[-1]["content"] if r else None
        s.log.append(("CALL",tool+str(a))); s.log.append(("RES",str(c)[:300]))
        try: return json.loads(c)
        except Exception: return c
    def say(s, t):
        if s.done: return None
        r=s.ep.step(Say(text=t)); c=r[-1]["content"] if r else None
        s.log.append(("SAY",t)); s.log.append(("USER",c)); return c
    def do(s, step):
        return s.call(step.tool, **step.arguments) if isinstance(step,Call) else s.say(step.text)
    def end(s):
        if not s.ep.done:
            s.say("Is there anything else I can help you with?")
        if not s.ep.done: s.ep.finish()
        return s.ep.score
def norm(f):
    o=collections.Counter()
    for k,v in f.items(): o[re.sub(r"_?\d{5,}","",k)[:70]]+=v
    return dict(o)
def bad(sc): return [c.description for c in sc.checks if not c.passed]
def trial(env, level, policy, seeds=range(100), show=1, tag=""):
    ok=0; full=0; n=0; fails=collections.Counter(); shown=0
    for sd in seeds:
        a=A(env,level,sd); policy(a); sc=a.end(); n+=1
        full += bool(sc.success and sc.conduct==1.0)
        if sc.success: ok+=1
        if not (sc.success and sc.conduct==1.0):
            for b in bad(sc): fails[b]+=1
            if shown<show:
                shown+=1; print(f"  --- {tag} L{level} seed {sd}: success={sc.success} conduct={sc.conduct} broken={sc.broken} bad={bad(sc)}")
                for k,v in a.log: print("     ",k,v)
    print(f"{env} L{level} {tag}: success {ok}/{n}, full {full}/{n}, fails {norm(fails)}",flush=True)
