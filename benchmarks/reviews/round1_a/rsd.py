from h import *
from trace_gym.targets.tau2.desk import SKILLS
from trace_gym.targets.tau2 import retail_policy as policy
from rms import ident, usd
E='tau2_retail_structured_data'
def parts(w):
    r=w.requests[0]; o=w.orders[r.order]; it=next(i for i in o['items'] if i['item_id']==r.items[0])
    prod=w.products[it['product_id']]; vs=list(prod['variants'].values())
    return r,o,it,prod,vs
def write(w,new):
    r,o,it,prod,vs=parts(w)
    return C('modify_pending_order_items' if o['status']=='pending' else 'exchange_delivered_order_items',order_id=r.order,item_ids=[it['item_id']],new_item_ids=[new],payment_method_id=r.payment(w,SKILLS))
def best(w):
    r,o,it,prod,vs=parts(w); return next(v for v in vs if v['item_id']==r.choice(w,it['item_id'],SKILLS))
def opts(v): return ', '.join(f"{k}: {x}" for k,x in v['options'].items())
def diff(w,v):
    r,o,it,prod,vs=parts(w); d=v['price']-it['price']
    return f"you pay {usd(d)} more" if d>0 else f"you get {usd(-d)} back"
T=[
lambda w,v,o,it,r:f"I found the cheapest available option: {it['name']} ({opts(v)}) at {usd(v['price'])}. Your current one costs {usd(it['price'])}, so {diff(w,v)}, settled with {r.payment(w,SKILLS)}. Would you like me to proceed (yes/no)?",
lambda w,v,o,it,r:f"For order {r.order}, I will replace item {it['item_id']} with item {v['item_id']} ({opts(v)}, {usd(v['price'])}). The price difference will go to {r.payment(w,SKILLS)}. Note that after this, the order can't be changed or cancelled any more. Do you confirm?",
lambda w,v,o,it,r:f"Here are the details:\n- Order: {r.order}\n- Current item: {it['name']} ({opts(it)}) - {usd(it['price'])}\n- New item: {it['name']} ({opts(v)}) - {usd(v['price'])}\n- Payment: original payment method\n\nShall I go ahead?",
lambda w,v,o,it,r:f"The cheapest other {it['name']} is the one with {opts(v)} for {usd(v['price'])}. Is that all right?",
lambda w,v,o,it,r:f"These are the other variants: "+'; '.join(f"{opts(x)} ({usd(x['price'])}{'' if x['available'] else ', sold out'})" for x in parts(w)[4] if x['item_id']!=it['item_id'])+f". The cheapest that fits is {opts(v)} at {usd(v['price'])}. Should I exchange it?",
]
F=["Your order has been updated. Is there anything else I can help you with?","Done! The exchange has been requested; you'll receive an email with instructions.","All set. The item was replaced.","The item has been changed and the difference of the price is settled with your original payment method.","Everything is done."]
def ag(k,v=None,details=True):
    def f(w,ep):
        r,o,it,prod,vs=parts(w)
        yield ident(w); yield C('get_order_details',order_id=r.order); yield C('get_product_details',product_id=it['product_id'])
        if details: yield C('get_user_details',user_id=w.customer)
        b=best(w)
        yield S(T[k](w,b,o,it,r)); yield write(w,b['item_id']); yield S(F[k])
    return f
def askpay(w,ep):
    r,o,it,prod,vs=parts(w); b=best(w)
    yield ident(w); yield C('get_order_details',order_id=r.order); yield C('get_product_details',product_id=it['product_id'])
    yield S("Which payment method would you like to use for the price difference?")
    yield S("Which of your orders do you mean, and which item would you like to replace?")
    yield S(T[0](w,b,o,it,r)); yield write(w,b['item_id']); yield S(F[0])
def sc(choose, retry=False, order=None):
    def f(w,ep):
        r,o,it,prod,vs=parts(w); others=[v for v in vs if v['item_id']!=it['item_id']]
        yield ident(w); yield C('get_order_details',order_id=r.order); yield C('get_product_details',product_id=it['product_id'])
        cand=choose(w,r,others)
        yield S(f"I'll replace it with {cand[0]['item_id']}. Shall I proceed?")
        for c in cand:
            a=yield write(w,c['item_id'])
            if not retry or 'Error' not in a: break
        yield S("Done.")
    return f
by=lambda vs: sorted(vs,key=lambda v:v['price'])
fit=lambda r,vs:[v for v in vs if r.wish.items()<=v['options'].items()]
if __name__=='__main__':
    study(E,range(4),range(100),{**{f't{k}':ag(k) for k in range(5)},'askpay':askpay})
    study(E,range(4),range(150),{'first':sc(lambda w,r,o:o[:1]),'first+retry':sc(lambda w,r,o:o,True),'last':sc(lambda w,r,o:o[-1:]),'cheapest no wish':sc(lambda w,r,o:by(o)),'cheapest no wish retry':sc(lambda w,r,o:by(o),True),'avail cheapest no wish':sc(lambda w,r,o:by([v for v in o if v['available']])),'fit first':sc(lambda w,r,o:fit(r,o)),'fit avail first':sc(lambda w,r,o:[v for v in fit(r,o) if v['available']]),'fit cheapest no avail':sc(lambda w,r,o:by(fit(r,o))),'fit cheapest retry':sc(lambda w,r,o:by(fit(r,o)),True)},show=0)
