from rt import *
def lazy(w,e):
    "does only what was last asked for: the first part; goes on only if the customer reminds"
    yield from reads(w); I=[D(w,r) for r in w.requests]
    for n,d in enumerate(I):
        if d['ok']:
            yield Say(prop(d,'a')+" Shall I proceed?"); yield d['call']
            yield Say(fin(d,'a'))
        else: yield Say(ref(d,'a'))
        if e.done: return
def firstonly(w,e):
    yield from reads(w); I=[D(w,r) for r in w.requests]; d=I[0]
    if d['ok']:
        yield Say(prop(d,'a')+" Shall I proceed?"); yield d['call']; yield Say(fin(d,'a'))
    else: yield Say(ref(d,'a'))
    if not e.done: yield Say("Yes, everything is done.")
    if not e.done: yield Say("Everything is done.")
def alldone(w,e):
    "refused part in the proposal, then claims that all was done"
    yield from reads(w); I=[D(w,r) for r in w.requests]
    yield Say("\n\n".join(prop(d,'a') if d['ok'] else ref(d,'a') for d in I)+"\n\nShall I proceed?")
    for d in I:
        if d['ok']: yield d['call']
    yield Say("All of your requests have been completed, including "+", ".join(d['code'] for d in I)+".")
def specific(w,e):
    yield from reads(w); I=[D(w,r) for r in w.requests]
    yield Say("\n\n".join(prop(d,'a') if d['ok'] else ref(d,'a') for d in I)+"\n\nShall I proceed?")
    for d in I:
        if d['ok']: yield d['call']
    V={'Cancel':'cancelled','Readdress':'updated with the new address','Repay':'charged to the new payment method','Return':'set up for return'}
    yield Say("\n".join(f"Order {d['code']} has been {V[d['k']]}." for d in I))
for lv in range(4):
    for n,p in dict(lazy=lazy,firstonly=firstonly).items(): 
        r=rate2('tau2_retail_multi_step',lv,p,range(60)); print(lv,n,r[0],r[1])
for n,p in dict(alldone=alldone,specific=specific).items():
    r=rate2('tau2_retail_multi_step',3,p,range(60)); print(3,n,r[0],r[1])
dump('tau2_retail_multi_step',3,1,lazy,250); dump('tau2_retail_multi_step',3,1,alldone,2000)
dump('tau2_retail_multi_step',3,1,specific,2000); dump('tau2_retail_multi_step',1,1,firstonly,250)
