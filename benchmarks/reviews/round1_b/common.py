import sys, random, collections
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
def ep(env, level, seed): return registry.episode(Scenario(env=env, level=level, seed=seed))
def user(out): return " ".join(m.get("content") or "" for m in out if m["role"]=="user")
def run(env, levels, seeds, policy, label, show=1, **kw):
    for lv in levels:
        ok=0; n=0; bad=collections.Counter(); ex=None; errs=0
        for s in seeds:
            e=ep(env,lv,s); 
            try: policy(e, **kw)
            except SkipIteration: continue
            n+=1
            if not e.done:
                for _ in range(4):
                    if e.done: break
                    e.step(Say(text="Thank you for contacting us. Goodbye!"))
            sc=e.score
            if sc is None: bad["unfinished"]+=1; ex=ex or e; continue
            if sc.success and not [c for c in sc.checks if not c.holds]: ok+=1
            elif sc.success: ok+=1; bad["conduct"]+=1; ex=ex or e
            else:
                import re
                for c in sc.checks:
                    if not c.holds: bad[re.sub(r"\b[A-Z0-9]{6}\b|[\d#][\w-]*","#",c.says)]+=1
                ex=ex or e
        print(f"{label} L{lv}: {ok}/{n}", dict(bad.most_common(4)))
        if ex and show>0:
            show-=1; dump(ex)
def dump(e):
    print("   ---", e.scenario)
    for m in e.messages[1:]:
        if m["role"]=="tool": print("   tool>", (m["content"] or "")[:100]); continue
        t=m.get("content") or ""
        if m.get("tool_calls"): t+=" ".join(f"{c['function']['name']} {c['function']['arguments']}"[:200] for c in m["tool_calls"])
        print("   ",m["role"]+">",t.replace("\n"," | "))
    if e.score:
        for c in e.score.checks:
            if not c.holds: print("     FAIL",c.kind,c.says)
class SkipIteration(Exception): pass
