from lib import *
import collections
CLOSE=["Yes, everything you asked for has been taken care of. Is there anything else I can help you with?","You're welcome! Have a great day!"]
def run(ep, steps, close=CLOSE, conv=None):
    """steps: generator; may receive answers"""
    ans=None; gen=iter(steps)
    try:
        s=next(gen)
        while not ep.done:
            a=ep.step(s); ans=a[-1]['content'] if a else None
            try: s=gen.send(ans) if hasattr(gen,'send') else next(gen)
            except StopIteration: break
    except StopIteration: pass
    for c in close:
        if not ep.done: ep.step(Say(text=c))
    ep.finish(); return ep
def conv(ep, skip=1):
    out=[]
    for m in ep.messages[skip:]:
        if m.get('tool_calls'): out.append('  CALL '+str([(c['function']['name'],c['function']['arguments']) for c in m['tool_calls']])[:250])
        elif m['role']=='tool': out.append('  TOOL '+str(m['content'])[:120])
        else: out.append(m['role'].upper()+'> '+str(m['content']))
    return '\n'.join(out)
def bad(ep): return [c.says for c in ep.score.checks if not c.holds]
def table(env, levels, variants, n=50, show=1, seed0=1000, expect=True):
    for name,f in variants.items():
        for lv in levels:
            good=tot=0; fails=collections.Counter(); ex=[]
            for s in range(seed0,seed0+n):
                ep=start(env,lv,s); w=ep.world.copy()
                st=f(w)
                if st is None: continue
                run(ep,st); tot+=1; good+=ok(ep)
                if ok(ep)!=expect:
                    import re
                    for b in bad(ep): fails[re.sub(r'#?\b[A-Z0-9]{6,8}\b','X',b)[:110]]+=1
                    ex.append((s,ep))
            print(f'{env} L{lv} {name}: success {good}/{tot}', dict(fails.most_common(4)) if expect else '', flush=True)
            for s,ep in ex[:show if (expect or good) else 0]:
                print('--- seed',s,bad(ep)); print(conv(ep,1)); print('---')
