from retail import *
ST=[  # own order, wrong status; {o} order, {s} status, {p} paid in all, {a} action
"Unfortunately, order {o} is currently {s}, so I'm unable to {a} it. The amount paid for it in all is {p}.",
"I'm sorry, but I can't {a} order {o}. Its status is '{s}', and only pending orders can be changed. {p} was paid for it.",
"Order {o} has the status \"{s}\", so it can no longer be changed. The total paid for it is {p}.",
"Unfortunately, I can no longer {a} order {o}, because it is {s}. You paid {p} for it in total.",
"Unfortunately, changes to order {o} are no longer possible because its status is {s}. Total paid: {p}.",
"I checked order {o}: status {s}, total paid {p}. Because it is not just pending, it cannot be changed or cancelled any more.",
"Regarding {o}: this order is {s} (paid: {p}), which means that our policy doesn't allow any changes to it.",
"Order {o} — **cannot be changed**\n- Status: {s}\n- Total paid: {p}",
"Order {o} isn't eligible for this change since its status is {s}. In all, {p} has been paid for this order.",
"For order {o}, the status is {s}, and the amount paid in all is {p}. Orders with this status can't be modified.",
"I'm afraid that order {o} is {s} and therefore no longer eligible for changes. It was paid with {p} in all.",
"Order {o} may not be changed, as it is {s}; {p} was paid for it.",
]
OW=[
"I'm unable to help with order {o}, because it isn't on your account. I only see the orders of customer id {c}.",
"Order {o} does not appear under your account ({c}), so I can't make changes to it or share any details about it.",
"Unfortunately, order {o} is not one of the orders on your profile (customer id: {c}). I can't change it.",
"I see only the orders of {c} here, and {o} is not one of them, so I cannot {a} it.",
"I'm sorry, I can't {a} order {o}. It's not associated with your customer ID {c}.",
"I couldn't find order {o} among the orders of your account ({c}). Could you double-check the order number?",
"Order {o} belongs to a different account. I'm only able to serve the orders of customer {c}, so I must decline this.",
"I am not able to act on order {o}: I'm looking at the orders of {c}, and it isn't listed there.",
]
def agent2(e,i,kind):
    w=e.start; rs=w.requests; bad=[r for r in rs if not r.verdict(w).allowed]
    if not bad: raise SkipIteration
    r=bad[0]; o=w.orders[r.order]; own=o["user_id"]==w.customer
    if (kind=="st")!=own: raise SkipIteration
    plan=list(w.oracle()); idc=[s for s in plan if isinstance(s,Call) and s.tool.startswith("find_user")][0]
    if "identity" in w.withheld: e.step(Say(text="May I have your email address, or your name and zip code?"))
    e.step(idc)
    for x in rs:
        for c in x.reads(w,SKILLS): e.step(c)
    a={"Cancel":"cancel","Readdress":"change the delivery address of","Return":"return","Repay":"change","Swap":"change"}[type(r).__name__]
    t=(ST if kind=="st" else OW)[i].format(o=r.order,s=o["status"],p=money(pol.paid(o)),a=a,c=w.customer)
    ok=[x for x in rs if x.verdict(w).allowed]
    if ok:
        off="; ".join(x.offer(w,SKILLS) for x in ok)
        e.step(Say(text=t+f"\n\nWhat I can do: {off}. Would you like me to proceed with that?"))
        for x in ok: e.step(x.call(w,SKILLS))
        e.step(Say(text="That has been done. "+off+". Is there anything else I can help you with?"))
    else:
        e.step(Say(text=t))
        if not e.done: e.step(Say(text="Is there anything else I can help you with?"))
S=range(100,300)
for k,L in (("st",ST),("ow",OW)):
    for i in range(len(L)): run("tau2_retail_desk",(0,1),S,agent2,f"{k}{i}",show=1 if i in(3,) else 0,i=i,kind=k)
