from lib2 import *
from trace_gym.targets.tau2.retail import *
from trace_gym.targets.tau2 import retail_policy as policy, retail_requests as RR
import random
OPTS=lambda o: ', '.join(f'{k}: {v}' for k,v in o.items())
def pm(w,m):
    x=w.users[w.customer]['payment_methods'][m]
    return {'credit_card':lambda:f"your {x.get('brand','').title()} credit card ending in {x.get('last_four')}",'gift_card':lambda:'your gift card','paypal':lambda:'your PayPal account'}[x['source']]()
def find(w):
    me=w.users[w.customer]
    if 'identity' in w.withheld: yield Say(text="Hi! I'd be happy to help. Before I begin, could you please provide your email address, or your full name and zip code, so I can locate your account?")
    if w.known_by=='email': yield Call('find_user_id_by_email',{'email':me['email']})
    else: yield Call('find_user_id_by_name_zip',{**me['name'],'zip':me['address']['zip']})
    yield Call('get_user_details',{'user_id':w.customer})
def offer(w,r,st):
    o=w.orders[r.order]
    if isinstance(r,Readdress): 
        a=r.address
        return [f"**Order {r.order}** – update the shipping address to:\n  {in_words(a)}, USA", f"change the delivery address of order {r.order} to {in_words(a)}"][st%2]
    if isinstance(r,Cancel):
        p=policy.paid(o); d='immediately' if 'gift' in policy.original(o) else 'within 5 to 7 business days'
        return [f"**Order {r.order}** – cancel it (reason: {r.reason}). The full amount of ${p:.2f} will be refunded to {pm(w,policy.original(o))} {d}.", f"cancel order {r.order} because it was {r.reason} and refund ${p:.2f} to {pm(w,policy.original(o))}"][st%2]
    if isinstance(r,Return):
        it=RR and [i for i in o['items'] if i['item_id'] in r.items]
        p=sum(i['price'] for i in it)
        return [f"**Order {r.order}** – return:\n"+'\n'.join(f"  - {i['name']} ({OPTS(i['options'])}) – ${i['price']:.2f}" for i in it)+f"\n  Refund of ${p:.2f} to {pm(w,r.method)}", f"return the {it[0]['name']} from order {r.order} for a refund of ${p:.2f} to {pm(w,r.method)}"][st%2]
    if isinstance(r,Repay):
        p=policy.paid(o)
        return [f"**Order {r.order}** – switch the payment of ${p:.2f} from {pm(w,policy.original(o))} to {pm(w,r.method)}. The original charge will be refunded to {pm(w,policy.original(o))} within 5 to 7 business days.", f"change the payment method for order {r.order} (${p:.2f}) from {pm(w,policy.original(o))} to {pm(w,r.method)}"][st%2]
    if isinstance(r,Swap):
        out=[]
        for i in r.items:
            old=[x for x in o['items'] if x['item_id']==i][0]; new=w.products[old['product_id']]['variants'][r.choice(w,i,SKILLS)]
            d=new['price']-old['price']
            diff=f"you will be refunded the difference of ${-d:.2f} to" if d<0 else f"you will be charged the difference of ${d:.2f} on"
            out.append([f"**Order {r.order}** – replace the {old['name']} ({OPTS(old['options'])}, ${old['price']:.2f}) with the {old['name']} ({OPTS(new['options'])}, ${new['price']:.2f}); {diff} {pm(w,r.method)}", f"swap the {old['name']} in order {r.order} for the variant {new['item_id']} ({OPTS(new['options'])}) at ${new['price']:.2f}; {diff} {pm(w,r.method)}"][st%2])
        return '\n'.join(out)
def refuse(w,r,st):
    o=w.orders[r.order]; verb={'Readdress':'change the shipping address of','Cancel':'cancel','Return':'return items of','Repay':'change the payment of','Swap':'swap items in'}[type(r).__name__]
    if o['user_id']!=w.customer:
        return [f"I'm unable to {verb} order {r.order}, because it isn't associated with your account. I can only see orders that belong to customer ID {w.customer}.",
          f"Unfortunately, order {r.order} does not belong to your account ({w.customer}), so I can't {verb} it or share any details about it.",
          f"I looked up order {r.order}, but it's registered under a different customer account. I can only assist with orders under your customer ID, {w.customer}, so I'm not able to make changes to that order."][st%3]
    p=policy.paid(o); s=o['status']
    return [f"I'm sorry, but I can't {verb} order {r.order}. Its status is \"{s}\" and a total of ${p:.2f} was paid for it. Only orders that are just pending can be changed or cancelled.",
      f"Unfortunately, I'm unable to {verb} order {r.order} because its current status is {s}. The total amount paid for this order is ${p:.2f}.",
      f"Order {r.order}: I cannot process this request, since the order is {'already processed' if s=='processed' else 'pending with its items already modified'}, and ${p:.2f} has been paid for it in total."][st%3]
def done(w,r,st):
    o=w.orders[r.order]
    if isinstance(r,Readdress): return [f"Order {r.order} will now be delivered to {in_words(r.address)}.",f"- Order {r.order}: shipping address updated to {in_words(r.address)}"][st%2]
    if isinstance(r,Cancel): return [f"Order {r.order} has been cancelled, and ${policy.paid(o):.2f} will be refunded to {pm(w,policy.original(o))}.",f"- Order {r.order} has been successfully cancelled. You'll receive ${policy.paid(o):.2f} back on {pm(w,policy.original(o))} within 5–7 business days."][st%2]
    if isinstance(r,Return): 
        p=sum(i['price'] for i in o['items'] if i['item_id'] in r.items)
        return [f"Your return for order {r.order} has been requested, and ${p:.2f} will be refunded to {pm(w,r.method)}.",f"- Return for order {r.order} initiated. A refund of **${p:.2f}** will go to {pm(w,r.method)}."][st%2]
    if isinstance(r,Repay): return [f"The payment for order {r.order} has been moved to {pm(w,r.method)}.",f"- Order {r.order}: ${policy.paid(o):.2f} is now charged to {pm(w,r.method)}, and the original payment on {pm(w,policy.original(o))} will be refunded."][st%2]
    if isinstance(r,Swap): return [f"The item in order {r.order} has been swapped as discussed.", f"- Order {r.order}: exchange completed; the price difference is settled with {pm(w,r.method)}."][st%2]
def serve(st, order='batch'):
    def f(w):
        yield from find(w)
        for r in w.requests:
            yield Call('get_order_details',{'order_id':r.order})
            if isinstance(r,Swap):
                for c in list(r.reads(w,SKILLS))[1:]: yield c
        yes=[r for r in w.requests if r.verdict(w).allowed]; no=[r for r in w.requests if not r.verdict(w).allowed]
        name=w.users[w.customer]['name']['first_name']
        if order=='batch':
            t=[f"Thank you, {name}! I've found your account."]
            t+=[refuse(w,r,st) for r in no]
            if yes: t+=[["Here's what I'm going to do:","I can do the following for you:"][st%2]]+[f"{k}. {offer(w,r,st)}" for k,r in enumerate(yes,1)]+[["Would you like me to proceed? (yes/no)","Please confirm with 'yes' if you'd like me to go ahead."][st%2]]
            else: t+=["I apologize for the inconvenience."]
            yield Say(text='\n\n'.join(t))
            for r in yes: yield r.call(w,SKILLS)
            if yes: yield Say(text="All set! Here's a summary:\n\n"+'\n'.join(done(w,r,st) for r in yes)+"\n\nIs there anything else I can help you with?")
        else:
            for k,r in enumerate(w.requests):
                if r.verdict(w).allowed:
                    yield Say(text=f"I'd like to {offer(w,r,1)}. Do you agree?")
                    yield r.call(w,SKILLS)
                    yield Say(text=done(w,r,st)+(" Now let me move on to your next request." if k+1<len(w.requests) else " Is there anything else I can do for you?"))
                else:
                    yield Say(text=refuse(w,r,st)+(" Let me now look at your other request." if k+1<len(w.requests) else " Is there anything else I can help you with?"))
    return f
V={f'batch{k}':serve(k) for k in range(6)}; V|={f'seq{k}':serve(k,'seq') for k in range(2)}
if __name__=='__main__':
    import sys
    table('tau2_retail_desk',[0,1],V,n=50)
    table('tau2_retail_structured_data',[0,1,2,3],{k:V[k] for k in('batch0','batch1')},n=50)
