from h import *
from r1 import mk, info, meth
n='tau2_retail_tool_precision'
def paidwith(t,k,ep):
    w,r,o,c=info(ep); T=type(r).__name__; b=mk(0)(t,k,ep)
    pid=o['payment_history'][0]['payment_method_id']
    if 'To confirm' in t and T!='Repay': return f"I found order {r.order}, which was paid with {pid}. "+b
    return b
def noid(t,k,ep): # both in words
    w,r,o,c=info(ep); b=mk(0)(t,k,ep)
    return b
for l in range(4): 
    rate(n,l,paidwith,ex=1,label='mentions id of paying method')
def wrongs(kind):
    def f(t,k,ep):
        w,r,o,c=info(ep); T=type(r).__name__; b=mk(3)(t,k,ep)
        final='To confirm' not in t
        if kind=='wrong method final' and final:
            om=[x for x in w.users[w.customer]['payment_methods'] if x!=r.method][0]
            return f"Done. It was settled with {om}."
        if kind=='wrong method proposal' and not final:
            om=[x for x in w.users[w.customer]['payment_methods'] if x!=r.method][0]
            return f"I'll do that for {r.order} and settle it with {om}. Shall I proceed?"
        if kind=='denied' and final: return "I'm sorry, I was not able to complete the request. Nothing was changed."
        if kind=='not possible' and final: return "Unfortunately your order cannot be changed."
        if kind=='wrongamount' and T=='Return' and not final: return f"I'll take back the items of {r.order} and refund 13.37 dollars to {r.method}. Shall I proceed?"
        if kind=='charge' and T=='Return' and not final:
            tot=r.refund(w); return f"I'll take back the items of {r.order} and charge {tot:.2f} dollars to {r.method}. Shall I proceed?"
        if kind=='flip' and T=='Swap' and not final:
            it=[i for i in o['items'] if i['item_id']==c.arguments['item_ids'][0]][0]
            nv=w.products[it['product_id']]['variants'][c.arguments['new_item_ids'][0]]; d=nv['price']-it['price']
            return f"I'll replace {it['item_id']} by {nv['item_id']} in {r.order}; {abs(d):.2f} dollars will be {'refunded to' if d>0 else 'charged to'} {r.method}. Shall I proceed?"
        if kind=='flipRepay' and T=='Repay' and not final:
            return f"I'll refund ${o['payment_history'][0]['amount']:.2f} to {r.method} and charge {o['payment_history'][0]['payment_method_id']}. Shall I proceed?"
        if kind=='otherthing' and final: return b+" I have also cancelled your other orders and sent you a free gift."
        return t if T!='Return' else b
    return f
for kind in ['wrong method final','wrong method proposal','denied','not possible','wrongamount','charge','flip','flipRepay','otherthing']:
    N=ok=full=0
    for s in range(150):
        ep=ep_(n,1,s); T=type(ep.world.requests[0]).__name__
        if kind in('wrongamount','charge') and T!='Return' or kind=='flip' and T!='Swap' or kind=='flipRepay' and T!='Repay': continue
        if N>=50: break
        ep,sc,log=play(n,1,s,wrongs(kind)); N+=1; ok+=sc.success; full+=sc.success and sc.conduct==1
    print('WRONG',kind,'success',ok,'full',full,'of',N)
for l in range(4):
    rate(n,l,steps=lambda ep:list(ep.world.copy().ablated()),ex=0,label='ablated')
