from rp import *
V=[
"I'm sorry, but order {o} does not belong to {c}, so I can't make any changes to it.",
"I'm sorry, but order {o} is not associated with your customer ID {c}, so I'm unable to process this request.",
"I'm sorry, I can't help with order {o} because it isn't under your account, {c}.",
"Order {o} is not listed under customer id {c}. I'm therefore unable to make this change.",
"I'm unable to process this request because order {o} doesn't belong to the account {c}.",
"I see that you're customer {c}, but order {o} is not one of your orders, so I can't assist with it.",
"I wasn't able to find order {o} among the orders of {c}. I can only assist with orders on your own account.",
"I can only view and manage orders for customer ID {c}. Order {o} is not among them, so I'm unable to proceed.",
"I'm sorry, but order {o} belongs to another customer. I can only serve {c}.",
"I've verified your identity as {c}. Order {o} belongs to a different account, so I can't cancel, change, or return it.",
"Your customer ID is {c}, and order {o} is not linked to it. I can't proceed with this request.",
"I'm sorry, I can't do this: the order is registered to someone other than {c}.",
"I cannot make changes to order {o}: it is not an order of {c}. If you believe this is an error, please check the order number.",
"Order {o} is not in your order history ({c}), so I can't access or modify it.",
"Unfortunately, order {o} does not match the orders on file for {c}, so I'm not able to complete this request. Your orders on file are {mine}.",
]
def ref(t): 
    def f(w,r,o,v):
        if own(w,o): return r0(w,r,o,v)
        return t.format(o=r.order,c=w.customer,mine=', '.join(k for k,x in w.orders.items() if x['user_id']==w.customer))
    return f
def sub(a,cond,seeds=range(200,300),levels=range(4)):
    ok=n=0; ex=None
    for lv in levels:
        for s in seeds:
            w=ep_of(E,lv,s).world; r=w.requests[0]; o=w.orders[r.order]
            if not cond(w,r,o): continue
            ep=run(E,lv,s,a); n+=1; ok+=ep.score.success
            if not ep.score.success and not ex: ex=log(ep)
    return ok,n,ex
if __name__=='__main__':
    print('share of foreign orders', {lv: sum((lambda w: w.orders[w.requests[0].order]['user_id']!=w.customer)(ep_of(E,lv,s).world) for s in range(200,300)) for lv in range(4)})
    for t in V:
        ok,n,ex=sub(agent(p0,e0,ref(t)),lambda w,r,o:not own(w,o),range(200,260)); print(ok,n,t); 
        if ex: print('     ',ex.split('FAILED')[1][:300].replace('\n',' '))
    # refusals of own orders
    OWN=[
    "I'm sorry, but order {o} can't be {v} because it's already {s}. Only pending orders can be changed. You paid ${p} for it in total.",
    "Unfortunately, I'm unable to do that. Status of {o}: {s}. Amount paid: ${p}. {w}.",
    "I'm afraid this isn't possible: {w}. For reference, the order status is '{s}' and the total amount paid was ${p}.",
    "Your order {o} is {s} — ${p} was paid in all — and {w}. So I must decline this request.",
    "I can't do this for you because {w}. The order, for which ${p} was charged, is currently in status \"{s}\".",
    "I've reviewed order {o}:\n\n- **Status:** {s}\n- **Total paid:** ${p}\n\nUnfortunately, {w}, so I cannot proceed with your request.",
    ]
    pp={'Cancel':'cancelled','Return':'returned','Readdress':'changed','Repay':'changed'}
    for t in OWN:
        f=lambda w,r,o,v,t=t: t.format(o=r.order,v=pp[kind(r)],s=o['status'],p=f"{policy.paid(o):.2f}",w=why(w,r,o,v)) if own(w,o) else r0(w,r,o,v)
        ok,n,ex=sub(agent(p0,e0,f),lambda w,r,o:own(w,o) and not r.verdict(w).allowed,range(200,270)); print(ok,n,t)
        if ex: print(ex)
