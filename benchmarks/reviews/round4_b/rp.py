from h import *
from trace_gym.targets.tau2 import retail_policy as policy
E='tau2_retail_precondition'
def info(ep):
    w=ep.world.copy(); r=w.requests[0]; o=w.orders[r.order]; return w,r,o
def ident(ep,ask):
    w=ep.world
    return w
def agent(prop,end,ref,askstyle=0):
    def a(ep):
        w,r,o=info(ep); me=w.users[w.customer]; v=r.verdict(w)
        if 'identity' in w.withheld:
            yield Say(["I'd be happy to help! To get started, could you please provide your email address, or your name and zip code, so I can verify your identity?","Sure! First, I need to verify your identity. Please share the email on your account (or your first and last name with zip code)."][askstyle])
        if w.known_by=='email': yield Call("find_user_id_by_email",{"email":me['email']})
        else: yield Call("find_user_id_by_name_zip",{**me['name'],"zip":me['address']['zip']})
        yield Call("get_user_details",{"user_id":w.customer})
        yield Call("get_order_details",{"order_id":r.order})
        if 'reason' in w.withheld:
            yield Say(["Could you please tell me the reason for the cancellation? Is it no longer needed, or was it ordered by mistake?","Thanks! May I ask why you'd like to cancel this order?"][askstyle])
        if v.allowed:
            from trace_gym.targets.tau2.desk import SKILLS
            c=r.call(w,SKILLS)
            yield Say(prop(w,r,o,c))
            yield c
            yield Say(end(w,r,o,c))
        else:
            rep=yield Say(ref(w,r,o,v))
            for i in range(3):
                rep=yield Say("I understand your frustration, but I'm not able to make an exception to this policy. Is there anything else I can help you with?")
        yield Say("You're welcome! Have a great day.")
    return a
def kind(r): return type(r).__name__
M=lambda w,m: w.users[w.customer]['payment_methods'].get(m,{}).get('source','?').replace('_',' ')
def addr(a): return ', '.join(x for x in (a['address1'],a['address2'],a['city'],a['state']+' '+a['zip'],a['country']) if x)
def amt(w,r,o):
    return policy.paid(o) if kind(r)!='Return' else round(sum(i['price'] for i in o['items'] if i['item_id'] in r.items),2)
def p0(w,r,o,c):
    k=kind(r)
    if k=='Cancel': return f"I've found your order {r.order}. Here are the details of the cancellation:\n\n- **Order:** {r.order}\n- **Items:** {', '.join(i['name'] for i in o['items'])}\n- **Reason:** {r.reason}\n- **Refund:** ${amt(w,r,o):,.2f} to your {M(w,o['payment_history'][0]['payment_method_id'])}\n\nDo you confirm that you want to cancel this order? (yes/no)"
    if k=='Return': 
        it=[i for i in o['items'] if i['item_id'] in r.items][0]
        return f"I can process that return for you. Details:\n\n- **Order:** {r.order}\n- **Item to return:** {it['name']} ({', '.join(f'{a}: {b}' for a,b in it['options'].items())})\n- **Refund amount:** ${it['price']:.2f}\n- **Refund method:** {M(w,c.arguments['payment_method_id'])} ({c.arguments['payment_method_id']})\n\nWould you like me to proceed?"
    if k=='Readdress': return f"I'll update the shipping address of order {r.order} to:\n\n{addr(r.address)}\n\nShall I go ahead with this change?"
    return f"Order {r.order} totals ${policy.paid(o):.2f}. I'll charge this to your gift card ({r.method}), and the original payment of ${policy.paid(o):.2f} will be refunded to your {M(w,policy.original(o))}. Do you confirm (yes/no)?"
def e0(w,r,o,c):
    k=kind(r); pm=M(w,o['payment_history'][0]['payment_method_id'])
    if k=='Cancel': return f"Your order {r.order} has been cancelled. ${amt(w,r,o):,.2f} will be refunded to your {pm}" + (" immediately." if pm=='gift card' else " within 5 to 7 business days.")+" Is there anything else I can help you with?"
    if k=='Return': return f"Your return request for order {r.order} has been submitted. A refund of ${amt(w,r,o):.2f} will go to your {M(w,c.arguments['payment_method_id'])}. Is there anything else?"
    if k=='Readdress': return f"The shipping address for order {r.order} has been successfully updated to {addr(r.address)}. Is there anything else I can help you with?"
    return f"The payment method for order {r.order} has been changed to your gift card. ${policy.paid(o):.2f} was charged to it, and the original payment has been refunded to your {M(w,policy.original(o))}. Anything else?"
VERB={'Cancel':'cancel','Return':'return items from','Readdress':'change the address of','Repay':'change the payment method for'}
def own(w,o): return o['user_id']==w.customer
def why(w,r,o,v):
    k=kind(r); s=o['status']
    if k=='Cancel' and s=='pending': return "cancellations are only accepted if the order is no longer needed or was ordered by mistake, and your reason isn't one of those"
    if k=='Repay': return f"your gift card balance (${w.users[w.customer]['payment_methods'][r.method]['balance']:.2f}) isn't enough to cover the full amount"
    if k=='Return' and s=='delivered': return "refunds can only go to the original payment method or a gift card"
    if k=='Return': return "a delivered order can only be returned or exchanged once"
    return "only orders that are just pending can be changed or cancelled"
def r0(w,r,o,v):
    if not own(w,o): return f"I'm sorry, but I'm unable to {VERB[kind(r)]} order {r.order}. This order does not belong to your account ({w.customer}), so I can't make any changes to it or share any details about it."
    return f"I'm sorry, but I can't {VERB[kind(r)]} order {r.order}: {why(w,r,o,v)}. The order's status is \"{o['status']}\" and the total paid was ${policy.paid(o):,.2f}."
def r1(w,r,o,v):
    if not own(w,o): return f"Thank you, I've verified your account (customer ID: {w.customer}). However, order {r.order} isn't associated with your customer ID, so I cannot process this request. Could you double-check the order number?"
    return f"Thank you for your patience. Order {r.order} is currently **{o['status']}**, and **${policy.paid(o):.2f}** was paid for it. Unfortunately, {why(w,r,o,v)}, so I'm not able to process this request."
def r2(w,r,o,v):
    if not own(w,o): return f"Unfortunately, I'm not able to help with order {r.order}, as it's not listed under your account. I can only see orders for customer id {w.customer}. If you have another order number, I'd be glad to look into it."
    return f"Unfortunately I won't be able to do this. Your order {r.order} (total paid: ${policy.paid(o):.2f}) has the status '{o['status']}'. Under our policy, {why(w,r,o,v)}."
def r3(w,r,o,v):
    if not own(w,o): return f"I checked order {r.order}, but it belongs to a different customer, not to {w.customer}. For privacy reasons I can't modify it or discuss it."
    return f"I looked into {r.order}. It's {o['status']} and you paid ${policy.paid(o):.2f}. That means the request has to be declined, since {why(w,r,o,v)}."
def p1(w,r,o,c):
    k=kind(r)
    return {'Cancel':lambda:f"I can cancel order {r.order} for you with the reason "+getattr(r,"reason","")+f". The full amount of ${amt(w,r,o):.2f} goes back to {policy.original(o)}. May I proceed?",
    'Readdress':lambda:f"To confirm: you'd like order {r.order} to be delivered to {addr(r.address)} instead of {addr(o['address'])}. Is that correct, and shall I make the change?",
    'Return':lambda:f"You'd like to return the {[i['name'] for i in o['items'] if i['item_id'] in getattr(r,'items',[])]} from order {r.order}. You'll get ${amt(w,r,o) if k=='Return' else 0:.2f} back on {c.arguments.get('payment_method_id')}. Shall I go ahead?",
    'Repay':lambda:f"I'm going to change the payment method of order {r.order} to your gift card {r.method if k=='Repay' else ''}. It covers the total of ${policy.paid(o):.2f}. Is that okay?"}[k]()
def e1(w,r,o,c):
    k=kind(r)
    return {'Cancel':lambda:f"Done! I've cancelled {r.order}. You'll see the ${amt(w,r,o):.2f} refund on {policy.original(o)}.",
    'Readdress':lambda:f"All set! Order {r.order} will now ship to {addr(r.address)}.",
    'Return':lambda:f"I've submitted the return. You'll receive an email with instructions on how to send the item back, and ${amt(w,r,o) if k=='Return' else 0:.2f} will be credited to {c.arguments.get('payment_method_id')}.",
    'Repay':lambda:f"The payment has been updated: order {r.order} is now paid with your gift card, which has a remaining balance of ${w.users[w.customer]['payment_methods'][getattr(r,'method',0)]['balance']-policy.paid(o) if k=='Repay' else 0:.2f}."}[k]()
S=range(200,280)
if __name__=='__main__':
    A={'a0':agent(p0,e0,r0,0),'a1':agent(p1,e1,r1,1),'a2':agent(p0,e1,r2,1),'a3':agent(p1,e0,r3,0)}
    rate(E,range(4),S,A,show=3)
