from retail import *
T='tau2_retail_tool_precision'
from collections import Counter
def reads(w):
    for s in w.copy().oracle():
        if isinstance(s,Call) and s.tool.startswith(READ): yield s
        else: return
def f(kind):
    def p(ep,w):
        yield from reads(w); r=w.requests[0]; o=w.orders[r.record]; c=r.call(w,SKILLS); k=type(r).__name__
        yield Say(f"I will do this for {r.record}: {r.offer(w,SKILLS)}. Shall I proceed?")
        yield c
        pm=c.arguments['payment_method_id']; oth=[m for m in w.users[w.customer]['payment_methods'] if m!=pm][0]
        P=rp.paid(o); bk=sum(i['price'] for i in o['items'] if i['item_id'] in getattr(r,'items',[]))
        yield Say({'m1':f"Done, the order was charged to {oth}." if k=='Repay' else f"Done, the refund goes to {oth}." if k=='Return' else f"Done, settled with {oth}.",
         'm2':f"Done. ${P:.2f} was charged to {oth}." if k=='Repay' else f"Done. ${bk:.2f} will be refunded to {oth}." if k=='Return' else f"Done. The difference was settled with {oth}.",
         'x':f"Done. ${P:.2f} was refunded to {pm} and charged to {rp.original(o)}." if k=='Repay' else f"Done. You were charged ${bk:.2f}." if k=='Return' else "skip",
         'amt':f"Done. ${P+20:.2f} was charged to {pm}." if k=='Repay' else f"Done. ${bk+20:.2f} will be refunded to {pm}." if k=='Return' else "skip",
         'item':f"Done. Item {[i['item_id'] for i in o['items'] if i['item_id'] not in getattr(r,'items',[])][0] if k=='Return' and len(o['items'])>len(r.items) else 'x'} will go back." }[kind])
    return p
for kind in ('m1','m2','x','amt','item'):
    for k in ('Repay','Return','Swap'):
        run(T,f(kind),n=100,label=f'WRONG {kind} {k}',levels=[1,2],only=lambda ep:type(ep.start.requests[0]).__name__==k,good='pass',examples=0)
