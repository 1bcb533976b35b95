from h import *
n='tau2_retail_tool_precision'
def meth(w,k,v):
    m=w.users[w.customer]['payment_methods'][k]
    if m['source']=='credit_card': return [f"your {m['brand'].title()} credit card ending in {m['last_four']}",f"your credit card ({k})",f"your {m['brand']} ending in {m['last_four']}",f"your credit card ending in {m['last_four']}"][v%4]
    if m['source']=='paypal': return ["your PayPal account","your PayPal",f"PayPal ({k})","your PayPal account"][v%4]
    return ["your gift card",f"your gift card ({k})",f"your gift card (current balance ${m['balance']:.2f})","your gift card"][v%4]
def info(ep):
    w=ep.start; r=w.requests[0]; from trace_gym.targets.tau2 import retail_policy as P
    from trace_gym.targets.tau2.desk import SKILLS
    o=w.orders[r.order]; c=r.call(w,SKILLS)
    return w,r,o,c
def opt(o): return ', '.join(f"{k}: {v}" for k,v in o.items())
def mk(v):
    def f(t,k,ep):
        w,r,o,c=info(ep); T=type(r).__name__; M=meth(w,r.method,v); U=w.users[w.customer]['name']['first_name']
        paid=o['payment_history'][0]; old=meth(w,paid['payment_method_id'],v)
        conf=[" Would you like me to proceed? (yes/no)"," Do you confirm?"," Shall I go ahead with this?"," Please confirm (yes) to proceed."][v]
        if T=='Repay':
            A=paid['amount']
            if 'To confirm' in t:
                return [f"I can change the payment method for order {r.order} (${A:.2f}) from {old} to {M}."+conf,
                 f"Thank you, {U}. Here's what I'll do:\n\n- Order: {r.order}\n- Total: ${A:.2f}\n- Current payment method: {old}\n- New payment method: {M}\n- The original payment of ${A:.2f} will be refunded to {old}.\n\n"+conf,
                 f"I'll switch the payment of {r.order} to {M}. The {old} will be refunded ${A:.2f}."+conf,
                 f"To confirm, you want order {r.order}, totaling ${A:.2f}, to be charged to {M} instead."+conf][v]
            return [f"The payment method for order {r.order} has been changed to {M}. Your {old[5:]} will be refunded ${A:.2f}.",f"Done! Order {r.order} is now charged to {M}. The ${A:.2f} originally paid will be returned to {old} within 5 to 7 business days.",f"All set. ${A:.2f} has been charged to {M}. Is there anything else I can help with?",f"The payment has been updated successfully."][v]
        if T=='Return':
            its=[i for i in o['items'] if i['item_id'] in r.items]; tot=sum(i['price'] for i in its)
            names=' and '.join(f"{i['name']} ({opt(i['options'])})" for i in its)
            if 'To confirm' in t:
                return [f"I'll process a return of the {names} from order {r.order}. A refund of ${tot:.2f} will go to {M}."+conf,
                 "Here are the return details:\n\n"+'\n'.join(f"- {i['name']} ({opt(i['options'])}) – ${i['price']:.2f}" for i in its)+f"\n\n**Total refund:** ${tot:.2f}\n**Refund to:** {M}\n\n"+conf,
                 f"You'd like to return the {names} (" + ' + '.join(f"${i['price']:.2f}" for i in its)+f") from order {r.order} and get ${tot:.2f} back to {M}."+conf,
                 f"Order {r.order} was delivered and paid with {old}. I can take back the {names} and refund ${tot:.2f} to {M}."+conf][v]
            return [f"The return for order {r.order} has been requested. You will receive an email with instructions for sending back the items. The refund of ${tot:.2f} will go to {M}.",f"Your return is under way; ${tot:.2f} will be refunded to {M}.",f"Done! Refund: ${tot:.2f} to {M}. Anything else?","Your return request was submitted successfully."][v]
        if T=='Swap':
            it=[i for i in o['items'] if i['item_id']==c.arguments['item_ids'][0]][0]
            nv=w.products[it['product_id']]['variants'][c.arguments['new_item_ids'][0]]
            d=nv['price']-it['price']; way=f"You'll be charged ${d:.2f} on {M}" if d>0 else f"You'll receive a refund of ${-d:.2f} to {M}"
            verb='exchange' if o['status']=='delivered' else 'replace'
            if 'To confirm' in t:
                return [f"The cheapest other available {it['name']} is the one with {opt(nv['options'])} at ${nv['price']:.2f} (your current one costs ${it['price']:.2f}). {way}."+conf,
                f"Here's the summary:\n\n- Order: {r.order}\n- Current item: {it['name']} ({opt(it['options'])}) – ${it['price']:.2f}\n- New item: {it['name']} ({opt(nv['options'])}) – ${nv['price']:.2f}\n- Price difference: ${abs(d):.2f} {'to be charged to' if d>0 else 'to be refunded to'} {M}\n\n"+conf,
                f"I'll {verb} the {it['name']} (item {it['item_id']}) for item {nv['item_id']} in {r.order}. The difference is ${abs(d):.2f}, {'charged' if d>0 else 'refunded'} to {M}."+conf,
                f"I found one other {it['name']}: {opt(nv['options'])}, priced at ${nv['price']:.2f}. {way}. Note that items can only be {'exchanged' if o['status']=='delivered' else 'modified'} once per order."+conf][v]
            return [f"Your {it['name']} in order {r.order} has been {verb}d. {way}.",f"Done! The {verb} was processed; the difference of ${abs(d):.2f} {'was charged' if d>0 else 'goes back'} to {M}.",f"The {verb} is complete. New item: {nv['item_id']}, price difference ${abs(d):.2f}.","All set! Anything else I can do for you?"][v]
    return f
if __name__=='__main__':
  for l in range(4):
    for v in range(4): rate(n,l,mk(v),ex=2,label=f'v{v}')
