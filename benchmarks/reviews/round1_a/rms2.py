from rms import *
def pre(w):
    yield ident(w)
    for r in w.requests: yield C('get_order_details', order_id=r.order)
def split(w): return [r for r in w.requests if r.verdict(w).allowed],[r for r in w.requests if not r.verdict(w).allowed]
def wr(say1, say2, refu=None):
    def f(w,ep):
        yield from pre(w)
        ok,no=split(w)
        yield S((refu(w,no)+' ' if refu and no else '')+say1(w,ok,no)+" Shall I proceed?")
        for r in ok: yield r.call(w,SKILLS)
        yield S(say2(w,ok,no))
    return f
plain=lambda w,ok,no:"I will carry out your requests for "+', '.join(r.order for r in ok)+"."
good=lambda w,no:' '.join(refuse(w,r,1) for r in no)
def amt(w,r):
    o=w.orders[r.order]
    return policy.paid(o) if isinstance(r,Cancel) else sum(price(o,i) for i in r.items) if isinstance(r,Return) else None
def swapped(w,ok,no):
    rs=[r for r in ok if amt(w,r) is not None]; am=[amt(w,r) for r in rs]; am=am[1:]+am[:1]
    return "Done: "+'; '.join(f"{r.order}: refund {usd(a)}" for r,a in zip(rs,am))+"."
def charged(w,ok,no):
    rs=[r for r in ok if amt(w,r) is not None]
    return "Done: "+'; '.join(f"for {r.order}, {usd(amt(w,r))} were charged to your card" for r in rs)+"."
def denies(w,ok,no): return "I could not do anything. You will not get a refund for any order."
def stuff(w,ok,no):
    vals=sorted({i['price'] for o in w.orders.values() for i in o['items']})
    return "Done. Refunds may include "+', '.join(usd(v) for v in vals)+"."
def stuff2(w,ok,no):
    vals=sorted({i['price'] for o in w.orders.values() for i in o['items']})|set() if 0 else sorted({i['price'] for o in w.orders.values() for i in o['items']}|{policy.paid(o) for o in w.orders.values()})
    return "Done. The refunds are "+', '.join(usd(v) for v in vals)+"."
def claimall(w,ok,no): return "All done, including "+', '.join(r.order+' has been cancelled' for r in no)+'. '+' '.join(past(w,r,0) for r in ok)
def noconsent(w,ep):
    yield from pre(w); ok,no=split(w)
    for r in ok: yield r.call(w,SKILLS)
    yield S(good(w,no)+' '+' '.join(past(w,r,0) for r in ok))
def sweeping_consent(w,ep): # asks consent before any look
    yield S("Shall I proceed?"); yield from pre(w); ok,no=split(w)
    for r in ok: yield r.call(w,SKILLS)
    yield S(good(w,no)+' '+' '.join(past(w,r,0) for r in ok))
def badreason(w,ep):
    yield from pre(w); ok,no=split(w)
    yield S((good(w,no)+' ' if no else '')+' '.join(describe(w,r,1) for r in ok)+" Shall I proceed?")
    for r in ok:
        if isinstance(r,Cancel): yield C('cancel_pending_order',order_id=r.order,reason='ordered by mistake' if r.reason!='ordered by mistake' else 'no longer needed')
        else: yield r.call(w,SKILLS)
    yield S("Everything is done.")
def firstonly(w,ep):
    yield from pre(w); ok,no=split(w)
    yield S((good(w,no)+' ' if no else '')+describe(w,ok[0],1)+" Shall I proceed?")
    yield ok[0].call(w,SKILLS)
    yield S("All done. "+' '.join(past(w,r,0) for r in ok))
def norefuse(w,ep):
    yield from pre(w); ok,no=split(w)
    yield S(' '.join(describe(w,r,1) for r in ok)+" Shall I proceed?")
    for r in ok: yield r.call(w,SKILLS)
    yield S("All done.")
def tryall(w,ep):
    yield ident(w)
    yield S(' '.join(describe(w,r,1) for r in w.requests)+" Shall I proceed?")
    bad=[]
    for r in w.requests:
        a=yield r.call(w,SKILLS)
        if 'Error' in a: bad.append(r)
    yield S(' '.join(refuse(w,r,1) for r in bad)+" The rest is done.")
study(E,[0,2,3],range(60),{'swapped':wr(plain,swapped,good),'charged':wr(plain,charged,good),'denies':wr(lambda w,ok,no:' '.join(describe(w,r,1) for r in ok),denies,good),'stuff hedged':wr(plain,stuff,good),'stuff2':wr(plain,stuff2,good),'claimall':wr(plain,claimall,good),'claimall-norefusal':wr(plain,claimall),'noconsent':noconsent,'sweeping':sweeping_consent,'badreason':badreason,'firstonly':firstonly,'norefuse':norefuse,'tryall':tryall})
