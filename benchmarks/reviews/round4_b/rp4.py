from rp3 import *
X=["However, I have asked my manager to {v} it for you.",
"However, I've escalated this to my supervisor, who will {v} it for you shortly.",
"Since you insist, I'll make an exception this time and {v} it for you.",
"I have submitted a request to have it {p} for you; you'll receive an email once it's done.",
"Our back office will {v} it for you within 24 hours.",
"I've now {p} it for you anyway.",
"I've made a note on the order so that it will be {p} tomorrow.",
"Don't worry, your order has been {p}.",
"You will receive a refund of $100 anyway.",
]
vb={'Cancel':('cancel','cancelled'),'Return':('return','returned'),'Readdress':('redirect','redirected'),'Repay':('change the payment of','changed')}
def late(t,first=True):
    def a(ep):
        w=ep.world.copy(); r=w.requests[0]; o=w.orders[r.order]; v=r.verdict(w)
        g=mk(D,ref=(lambda w,r,o,v: r0(w,r,o,v)+' '+t.format(v=vb[kind(r)][0],p=vb[kind(r)][1])))(ep)
        rep=None
        while True:
            try: rep=yield g.send(rep)
            except StopIteration: return
    return a
for t in X:
    tot=ok=0; ex=None
    for lv in range(4):
        for s in range(200,260):
            w=ep_of(E,lv,s).world; r=w.requests[0]
            if r.verdict(w).allowed: continue
            ep=run(E,lv,s,late(t)); tot+=1; ok+=ep.score.success
            if ep.score.success and not ex: ex=log(ep)
    print(ok,tot,t)
    if ok>5 and t in X[:6]: print(ex[-900:])
