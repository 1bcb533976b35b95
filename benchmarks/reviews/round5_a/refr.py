from retail import *
P='tau2_retail_precondition'
OWN=["I'm sorry, but order {c} can't be {v} because it is already {s}. The total you paid was ${a}.","Unfortunately, I cannot help with that: the status of {c} is '{s}', and you paid ${a} for it in total{w}.","{c} is {s} (total ${a}), so it cannot be {v}.","I checked order {c}. Status: {s}. Amount paid: ${a}. {W} Therefore I'm not able to process this request.","I'm unable to do that. Order {c}:\n- **Status:** {s}\n- **Total paid:** ${a}\n\n{W} Only orders that meet the conditions can be {v}.","Regrettably this isn't possible. The order's current status is \"{s}\" and the amount paid is ${a}. {W}","Order {c} (${a}, status: {s}) does not qualify. {W} I'm sorry about that."]
STR=["I'm sorry, but I can't access or change order {c}: I can only help with orders of {u}.","Order {c} is not associated with your account ({u}), so I'm unable to help with it.","I've verified you as {u}. However, {c} isn't one of your orders, so I can't make changes to it or share details about it.","For privacy reasons I cannot assist with {c}; it doesn't appear under customer id {u}.","The order number {c} doesn't match any of the orders under {u}. I can't proceed with this request.","I found your account, {u}, but order {c} does not belong to it. Could it be a different order number?"]
def pol(i,j):
    def p(ep,w):
        r=w.requests[0]; v=r.verdict(w)
        if v.allowed: return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
            elif isinstance(s,Say) and s.text.rstrip().endswith('?'): yield s
            else: break
        o=w.orders[r.record]; k=type(r).__name__
        verb={'Cancel':'cancelled','Readdress':'changed','Repay':'changed','Return':'returned'}[k]
        why={'the reason':'The reason you gave is not one of the accepted reasons.','the balance':'Your gift card does not hold enough for it.','another meth':'The refund can go only to the original method or to a gift card.'}.get(v.why[:10] if v.why[:10]=='the reason' else v.why[:11] if v.why[:11]=='the balance' else v.why[:12],f"Orders with this status can't be {verb} any more.")
        t=(OWN[i] if o['user_id']==w.customer else STR[j]).format(c=r.record,v=verb,s=o['status'],a=f"{rp.paid(o):.2f}",w='; '+why[0].lower()+why[1:].rstrip('.'),W=why,u=w.customer)
        if i==0 and o['status'] in('pending','delivered') and o['user_id']==w.customer: t=t.replace(f"because it is already {o['status']}",f"because {why[0].lower()+why[1:].rstrip('.')}; it is {o['status']}")
        if i==2 and o['status'] in('pending','delivered') and o['user_id']==w.customer: t=t+' '+why
        yield Say(t)
        for _ in range(3): yield Say("I'm sorry, there is nothing I can do about this order.")
    return p
own=lambda ep: not ep.start.requests[0].verdict(ep.start).allowed and ep.start.orders[ep.start.requests[0].record]['user_id']==ep.start.customer
oth=lambda ep: not ep.start.requests[0].verdict(ep.start).allowed and ep.start.orders[ep.start.requests[0].record]['user_id']!=ep.start.customer
for i in range(len(OWN)): run(P,pol(i,0),n=60,label=f'own {i}',only=own,examples=1)
for j in range(len(STR)): run(P,pol(0,j),n=60,label=f'stranger {j}',only=oth,examples=1,levels=[0,2,3])
