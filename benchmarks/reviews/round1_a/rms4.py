from rms import *
def refalone(style, q):
    def f(w,ep):
        yield ident(w)
        for r in w.requests: yield C('get_order_details', order_id=r.order)
        ok=[r for r in w.requests if r.verdict(w).allowed]; no=[r for r in w.requests if not r.verdict(w).allowed]
        if no: yield S(' '.join(refuse(w,r,style) for r in no)+q)
        yield S(' '.join(describe(w,r,1) for r in ok)+" Shall I go ahead?")
        for r in ok: yield r.call(w,SKILLS)
        yield S("Everything is done. Is there anything else?")
    return f
def askid(w,ep):
    yield S("Hello! I'd be happy to help. First, could you please provide your email address, or your name and zip code, so I can verify your identity?")
    yield from agent(0)(w,ep)
def partial(w,ep): # does first write after own confirm, reports it, continues without announcing
    yield ident(w)
    ok=[r for r in w.requests if r.verdict(w).allowed]; no=[r for r in w.requests if not r.verdict(w).allowed]
    for r in ok:
        yield C('get_order_details', order_id=r.order)
        yield S(describe(w,r,1)+" Do you confirm?")
        yield r.call(w,SKILLS)
        yield S(past(w,r,0))
    for r in no:
        yield C('get_order_details', order_id=r.order)
        yield S(refuse(w,r,1))
def reasonask(w,ep):
    yield ident(w)
    for r in w.requests: yield C('get_order_details', order_id=r.order)
    yield S("Could you please confirm the reason for the cancellations?")
    ok=[r for r in w.requests if r.verdict(w).allowed]; no=[r for r in w.requests if not r.verdict(w).allowed]
    yield S(' '.join(refuse(w,r,2) for r in no)+' '+' '.join(describe(w,r,0)+'.' for r in ok)+" Is that correct?")
    for r in ok: yield r.call(w,SKILLS)
    yield S(' '.join(past(w,r,0) for r in ok))
study(E,range(4),range(60),{'refalone0':refalone(0,''),'refalone1 q':refalone(1," Now let's take care of the rest."),'refalone2':refalone(2," Let me continue with your other requests."),'refalone3':refalone(3," Would you like me to continue with the other requests?"),'askid':askid,'partial':partial,'reasonask':reasonask})
