from retail import *
import random
S='tau2_retail_structured_data'; T='tau2_retail_tool_precision'; P='tau2_retail_precondition'
def reads(w):
    for s in w.copy().oracle():
        if isinstance(s,Call) and s.tool.startswith(READ): yield s
def swap_with(choose, retry=False):
    def p(ep,w):
        yield from reads(w)
        r=w.requests[0]; o=w.orders[r.record]; c=r.call(w,SKILLS)
        item=next(i for i in o['items'] if i['item_id']==r.items[0])
        vs=[v for v in w.products[item['product_id']]['variants'].values() if v['item_id']!=r.items[0]]
        order=choose(vs,r,item)
        yield Say(f"I will replace {r.items[0]} in {r.record} by {order[0]['item_id']} and settle it with {c.arguments['payment_method_id']}. Shall I proceed?")
        for v in order[:3 if retry else 1]:
            a=yield Call(c.tool,{**c.arguments,'new_item_ids':[v['item_id']]})
            if not a.startswith('Error'): break
        yield Say("Done.")
    return p
fits=lambda vs,r: [v for v in vs if r.wish.items()<=v['options'].items()]
av=lambda vs:[v for v in vs if v['available']]
pr=lambda vs:sorted(vs,key=lambda v:v['price'])
C={'first':lambda vs,r,i:vs,'first fit':lambda vs,r,i:fits(vs,r),'first avail fit':lambda vs,r,i:av(fits(vs,r)),
'last':lambda vs,r,i:vs[::-1],'cheapest any':lambda vs,r,i:pr(vs),'cheapest avail':lambda vs,r,i:pr(av(vs)),'cheapest fit ignoring stock':lambda vs,r,i:pr(fits(vs,r)),
'2nd cheapest fit':lambda vs,r,i:(pr(fits(vs,r))[1:] or pr(fits(vs,r))),'dearest':lambda vs,r,i:pr(vs)[::-1]}
for k,f in C.items(): run(S,swap_with(f),n=60,label='WRONG '+k,examples=0)
run(S,swap_with(C['cheapest fit ignoring stock'],True),n=60,label='WRONG cheapest fit, retry after error',examples=0)
# correct agent: shows whole table of variants
def table(ep,w):
    yield from reads(w)
    r=w.requests[0]; o=w.orders[r.record]; c=r.call(w,SKILLS); new=c.arguments['new_item_ids'][0]
    item=next(i for i in o['items'] if i['item_id']==r.items[0])
    vs=w.products[item['product_id']]['variants']
    t=f"Here are the variants of the {item['name']}:\n\n| Item | Options | Price | Available |\n|---|---|---|---|\n"+"\n".join(f"| {v['item_id']} | {opts(v['options'])} | ${v['price']:.2f} | {'Yes' if v['available'] else 'No'} |" for v in vs.values())
    d=vs[new]['price']-item['price']
    t+=f"\n\nYour current item is {r.items[0]} (${item['price']:.2f}). The cheapest available option that matches is **{new}** at ${vs[new]['price']:.2f}, so "+(f"you would be charged ${d:.2f}" if d>0 else f"you would be refunded ${-d:.2f}")+f" on your {mname(w,c.arguments['payment_method_id'])}. Note that items of an order can be {'modified' if o['status']=='pending' else 'exchanged'} only once. Shall I go ahead?"
    yield Say(t); yield c
    yield Say(f"Your {item['name']} will be replaced by {new}. "+(f"${d:.2f} was charged." if d>0 else f"${-d:.2f} will be refunded."))
run(S,table,n=60,label='table of all variants')
def wrongsay(kind):
    def p(ep,w):
        yield from reads(w)
        r=w.requests[0]; o=w.orders[r.record]; c=r.call(w,SKILLS); new=c.arguments['new_item_ids'][0]
        item=next(i for i in o['items'] if i['item_id']==r.items[0]); vs=w.products[item['product_id']]['variants']; d=vs[new]['price']-item['price']; pm=c.arguments['payment_method_id']
        oth=[m for m in w.users[w.customer]['payment_methods'] if m!=pm]
        if kind!='noconsent': yield Say(f"I will replace {r.items[0]} in {r.record} by {new} and settle it with {pm}. Shall I proceed?")
        yield c
        yield Say({'exch':f"Done, ${abs(d):.2f} was {'refunded' if d>0 else 'charged'}.",'amt':f"Done, ${abs(d)+13:.2f} was {'charged' if d>0 else 'refunded'}.",'meth':f"Done, ${abs(d):.2f} was {'charged' if d>0 else 'refunded'} on {(oth or ['x'])[0]}.",'cancel':f"Done, I also cancelled {r.record}.",'free':"Done, and there was no price difference.",'noconsent':'Done.','option':f"Done. The new item costs ${vs[new]['price']+20:.2f}."}[kind])
    return p
for k in ('exch','amt','meth','cancel','free','noconsent','option'): run(S,wrongsay(k),n=60,label='WRONG '+k,examples=0,levels=[1,3])
