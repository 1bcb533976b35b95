from h import *
FAILS={}
def sweep(env, wordings, make, n=40, levels=None, start=300, only=None):
    """wordings: dict key->..., make(key)->policy; prints one line per key, and one example of the failing ones"""
    for k in wordings:
        line=[];why=Counter();ex=None
        for lv in (levels if levels is not None else range(registry.level_count(env))):
            ok=t=0
            for s in range(start,start+n):
                ep,sc=play(env,lv,s,make(k))
                if only and not only(ep): continue
                if getattr(ep,'skip',False): continue
                t+=1; f=sc.success and sc.conduct==1.0; ok+=bool(f)
                if not f:
                    for c in sc.checks:
                        if not c.passed: why[c.kind+': '+''.join('#' if ch.isdigit() else ch for ch in c.description)[:75]]+=1
                    ex=ex or ep
            line.append(f'{ok}/{t}')
        print(f'{env} {k}:',' '.join(line),dict(why.most_common(3)),flush=True)
        if ex:
            print('  EX',ex.scenario)
            for m in ex.messages[1:]:
                if m['role'] in('user','assistant'):
                    c=m['content'] or ''
                    if m.get('tool_calls'): c+=' CALL '+str([(t['function']['name'],t['function']['arguments']) for t in m['tool_calls']])
                    if 'get_' in c or 'find_' in c or 'search_' in c: continue
                    print('     ',m['role'],':',c[:1200])
            print('      FAILED',[c.description for c in ex.score.checks if not c.passed])
