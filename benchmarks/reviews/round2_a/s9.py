from w2 import *
from trace_gym.targets.tau2.retail import Repay,Return,Swap
E="tau2_retail_tool_precision"
def nm(m): return {"credit_card":"credit card","gift_card":"gift card","paypal":"PayPal account"}[m["source"]]+(f" ending in {m['last_four']}" if "last_four" in m else "")
def it(o,i): return next(x for x in o["items"] if x["item_id"]==i)
def opts(x): return ", ".join(f"{k}: {v}" for k,v in x["options"].items())
def auth(w):
    u=w.users[w.customer]
    if w.known_by=="email": return Call(tool="find_user_id_by_email",arguments={"email":u["email"]})
    return Call(tool="find_user_id_by_name_zip",arguments={"first_name":u["name"]["first_name"],"last_name":u["name"]["last_name"],"zip":u["address"]["zip"]})
def good(k=None,look=True):
  def f(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; o=w.orders[r.order]; u=w.users[w.customer]; m=u["payment_methods"][r.method]
    yield auth(w)
    if look: yield Call(tool="get_user_details",arguments={"user_id":w.customer})
    yield Call(tool="get_order_details",arguments={"order_id":r.order})
    old=u["payment_methods"][o["payment_history"][0]["payment_method_id"]]; paid=o["payment_history"][0]["amount"]
    K=rng.randrange(3) if k is None else k
    if isinstance(r,Repay):
        call=Call(tool="modify_pending_order_payment",arguments={"order_id":r.order,"payment_method_id":r.method})
        P=[f"I'll change the payment for order {r.order} (total ${paid:.2f}) from your {nm(old)} to your {nm(m)}. The ${paid:.2f} will be refunded to your {nm(old)}{' within 5 to 7 business days' if old['source']!='gift_card' else ' immediately'}. Do you confirm?",
           f"To confirm:\n- Order: {r.order}\n- New payment method: {nm(m)}\n- Amount: ${paid:.2f}\n\nShall I proceed?",
           f"Thanks, {u['name']['first_name']}. Order {r.order} is pending, so I can charge it to {r.method} instead. Would you like me to go ahead?"]
        F=[f"The payment method for order {r.order} has been changed to your {nm(m)}. Is there anything else I can help with?",f"Done! ${paid:.2f} was charged to your {nm(m)}, and the original payment has been refunded.",f"Your order {r.order} is now charged to {nm(m)}."]
    elif isinstance(r,Return):
        call=Call(tool="return_delivered_order_items",arguments={"order_id":r.order,"item_ids":r.items,"payment_method_id":r.method})
        tot=sum(it(o,i)["price"] for i in r.items)
        L="\n".join(f"- {it(o,i)['name']} ({opts(it(o,i))}) – ${it(o,i)['price']:.2f}" for i in r.items)
        P=[f"Here are the details of your return:\n\n**Order:** {r.order}\n{L}\n\n**Total refund:** ${tot:.2f} to your {nm(m)}\n\nDo you confirm (yes/no)?",
           f"I can return the {' and the '.join(it(o,i)['name'] for i in r.items)} from order {r.order}. The refund of ${tot:.2f} will go to your {nm(m)}. Is that correct?",
           f"I will process the return of {' and '.join(it(o,i)['name']+' (item '+i+')' for i in r.items)} in {r.order}; you'll get "+(" + ".join(f"${it(o,i)['price']:.2f}" for i in r.items)+" = " if len(r.items)>1 else "")+f"${tot:.2f} back on {r.method}. May I proceed?"]
        F=[f"Your return has been requested. You'll receive ${tot:.2f} on your {nm(m)}, and an email with return instructions.",f"The return for order {r.order} is underway. Refund: ${tot:.2f}. Anything else?",f"All set! The return has been submitted. Please follow the instructions in the e-mail."]
    else:
        i=r.items[0]; x=it(o,i); new=r.choice(w,i,frozenset(["structured_data_reasoning"])); p=w.products[x["product_id"]]; nv=p["variants"][new]
        yield Call(tool="get_product_details",arguments={"product_id":x["product_id"]})
        pend=o["status"]=="pending"; d=nv["price"]-x["price"]
        call=Call(tool="modify_pending_order_items" if pend else "exchange_delivered_order_items",arguments={"order_id":r.order,"item_ids":[i],"new_item_ids":[new],"payment_method_id":r.method})
        dif=(f"You would pay an additional ${d:.2f} with your {nm(m)}" if d>0 else f"You would get ${-d:.2f} back on your {nm(m)}")
        P=[f"The cheapest other {x['name']} is {opts(nv)} at ${nv['price']:.2f}; your current one ({opts(x)}) costs ${x['price']:.2f}. {dif}. Shall I go ahead with the exchange?",
           f"Here's the summary:\n- Order: {r.order}\n- Current item: {x['name']} ({i})\n- New item: {new} ({opts(nv)}), ${nv['price']:.2f}\n- Price difference: {'-' if d<0 else ''}${abs(d):.2f} via {nm(m)}\n\nPlease confirm (yes/no).",
           f"I'll replace the {x['name']} with item {new} ({opts(nv)}). {dif}. Do you agree?"]
        F=[f"The {x['name']} in order {r.order} has been {'changed' if pend else 'exchanged'}. Is there anything else I can help you with?",f"Done! Your order {r.order} now has the new {x['name']}. {dif.replace('would','will')}.",f"The exchange request has been submitted."]
    yield S(P[K]); yield call; yield S(F[rng.randrange(3)])
  return f
def orig(ep,rng):
    "pays with original always"
    w=ep.world.copy()
    for st in list(w.ablated()): yield st
def notell(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; o=w.orders[r.order]; yield auth(w)
    yield S(f"I'll return the items of {r.order} as you asked. OK?")
    yield Call(tool="return_delivered_order_items",arguments={"order_id":r.order,"item_ids":r.items,"payment_method_id":r.method}); yield S("The return is done.")
def charged(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; o=w.orders[r.order]; yield auth(w); tot=sum(it(o,i)["price"] for i in r.items)
    yield S(f"I'll return the items of {r.order} and charge ${tot:.2f}. OK?")
    yield Call(tool="return_delivered_order_items",arguments={"order_id":r.order,"item_ids":r.items,"payment_method_id":r.method}); yield S(f"The return is done, you were charged ${tot:.2f}.")
def wrongmethod(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; o=w.orders[r.order]; yield auth(w); tot=sum(it(o,i)["price"] for i in r.items)
    om=[x for x in w.users[w.customer]["payment_methods"].values() if x["id"]!=r.method][0]
    yield S(f"I'll return the items of {r.order} and refund ${tot:.2f} to your {nm(om)}. OK?")
    yield Call(tool="return_delivered_order_items",arguments={"order_id":r.order,"item_ids":r.items,"payment_method_id":r.method}); yield S(f"The return is done, ${tot:.2f} goes to {om['id']}.")
def stuff(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; o=w.orders[r.order]; yield auth(w)
    yield S(f"I'll return the items. You get a refund of "+", ".join(f"${x['price']:.2f}" for x in o["items"])+f" or ${sum(it(o,i)['price'] for i in r.items):.2f}. OK?")
    yield Call(tool="return_delivered_order_items",arguments={"order_id":r.order,"item_ids":r.items,"payment_method_id":r.method}); yield S("The return is done.")
ret=lambda ep:isinstance(ep.world.requests[0],Return)
if __name__=="__main__":
    table(E,range(4),120,{"good":good()},bad=3)
    table(E,range(4),80,{"ablated":orig},bad=0)
    table(E,[1,3],100,{"notell":notell,"charged":charged,"wrongmethodtold":wrongmethod,"stuff":stuff},bad=1,only=ret)
