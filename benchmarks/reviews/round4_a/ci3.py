from ci import *
def rot(I,key):
    yes=[d for d in I if d['ok']]; v=[d[key] for d in yes]; it=iter(v[1:]+v[:1])
    return [dict(d,**{key:next(it)}) if d['ok'] else d for d in I]
def variant(key,where):
    def p(w):
        I=info(w); yield from reads(w,I); J=rot(I,key)
        yield Say("\n\n".join(map(A_line,J if 'p' in where else I))+"\n\nShall I proceed?")
        for d in I:
            if d['ok']: yield d['call']
        yield Say("\n".join(map(A_fin,J if 'f' in where else I)))
    return p
def flt(key):
    def f(w):
        I=info(w); v=[d[key] for d in I if d['ok']]
        return len(set(v))==len(v)>1 if key=='diff' else len(set(v))>1
    return f
for key in ('diff','card','cab'):
    for where in ('p','f','pf'):
        for lv in (1,3):
            r=rate('tau2_concurrent_intents',lv,variant(key,where),range(120),flt(key)); print(lv,key,where,r[0],r[1],flush=True)
e,log=play('tau2_concurrent_intents',1,next(s for s in range(99) if flt('diff')(ep('tau2_concurrent_intents',1,s).world)),variant('diff','pf'))
show([x for x in log if x[0]!='CALL' ],700); print(e.finish().success)
