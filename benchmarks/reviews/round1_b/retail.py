from common import *
from trace_gym.targets.tau2 import retail_policy as pol
from trace_gym.targets.tau2.retail_requests import in_words
from trace_gym.targets.tau2.desk import SKILLS
def money(x): return f"${x:,.2f}"
def agent(e, style):
    w=e.start; rng=random.Random(f"{e.scenario}{style}")
    plan=[s for s in w.oracle()]
    idc=[s for s in plan if isinstance(s,Call) and s.tool.startswith("find_user")][0]
    if "identity" in w.withheld:
        e.step(Say(text=rng.choice(["I'd be happy to help! To get started, could you please provide your email address, or your full name and zip code?","Before I can look into this, I need to verify your identity. Could you please share the email address on your account?","Sure, I can help with that. May I have your email address or your name and zip code so I can find your account?"])))
    e.step(idc); e.step(Call(tool="get_user_details",arguments={"user_id":w.customer}))
    for r in w.requests:
        for c in r.reads(w,SKILLS):
            if c.tool!="get_user_details": e.step(c)
    if e.done: return
    ref=[];prop=[];fin=[];writes=[]
    ms=w.users[w.customer]["payment_methods"]
    def mname(m): 
        p=ms[m]; return {"credit_card":f"credit card ({m})","gift_card":f"gift card ({m})","paypal":f"PayPal account ({m})"}[p["source"]]
    for r in w.requests:
        o=w.orders[r.order]; v=r.verdict(w); k=type(r).__name__
        act={"Cancel":"cancel","Readdress":"change the delivery address of","Return":"process a return for","Repay":"change the payment method of","Swap":"exchange the item in"}[k]
        if not v.allowed:
            if o["user_id"]!=w.customer:
                ref.append([f"Unfortunately, I'm unable to {act} order {r.order}: it is not associated with your account. I can only see and assist with the orders of customer {w.customer}.",
                  f"I'm sorry, but order {r.order} does not belong to your account ({w.customer}), so I cannot {act} it.",
                  f"I looked up your account ({w.customer}), and order {r.order} isn't listed there. I can therefore not make any changes to it or share information about it."][style%3])
            else:
                st=o["status"]; tot=sum(p["amount"] for p in o["payment_history"] if p["transaction_type"]=="payment"); rf=tot-pol.paid(o)
                ref.append([f"Unfortunately, I can't {act} order {r.order} because its status is \"{st}\"; only pending orders can be changed. The total paid for this order is {money(pol.paid(o))}.",
                  f"I'm sorry, I'm unable to {act} {r.order}. The order is currently **{st}**, and {money(pol.paid(o))} was paid for it in all.",
                  (f"Order {r.order} can't be changed: its items have already been modified (status: {st}), so neither a cancellation nor an address change is possible. You paid {money(tot)} and got {money(rf)} back, so {money(pol.paid(o))} was paid in all." if rf else f"Order {r.order} has already been {st}, so I can no longer {act} it. You paid {money(pol.paid(o))} for it.")][style%3])
            continue
        c=r.call(w,SKILLS); writes.append(c)
        if k=="Cancel":
            m=o["payment_history"][0]["payment_method_id"]
            prop.append([f"Cancel order {r.order} (reason: {r.reason}). {money(pol.paid(o))} will be refunded to your {mname(m)} within 5 to 7 business days",f"Cancellation of order {r.order}, refund of {money(pol.paid(o))} to the original payment method"][style%2])
            fin.append(f"Order {r.order} has been cancelled; {money(pol.paid(o))} will be refunded within 5 to 7 business days")
        elif k=="Readdress":
            prop.append([f"Change the shipping address of order {r.order} to {in_words(r.address)}",f"Update {r.order}: old address {in_words(o['address'])}; new address {in_words(r.address)}"][style%2])
            fin.append(f"Order {r.order} will now be delivered to {in_words(r.address)}")
        elif k=="Return":
            it=[i for i in o["items"] if i["item_id"] in r.items]
            prop.append(f"Return the {it[0]['name']} (item {it[0]['item_id']}) from order {r.order}, with a refund of {money(sum(i['price'] for i in it))} to your {mname(r.method)}")
            fin.append(f"The return of the {it[0]['name']} has been requested; you will get {money(sum(i['price'] for i in it))} back on your {mname(r.method)}")
        elif k=="Repay":
            prop.append(f"Switch the payment of order {r.order} ({money(pol.paid(o))}) from your {mname(pol.original(o))} to your {mname(r.method)}")
            fin.append([f"The payment method of {r.order} has been changed to your {mname(r.method)}",f"The payment of {money(pol.paid(o))} for {r.order} is now on your {mname(r.method)}, and the {money(pol.paid(o))} charged to {mname(pol.original(o))} will be refunded"][style%2])
        else:
            it=[i for i in o["items"] if i["item_id"] in r.items][0]; new=c.arguments["new_item_ids"][0]; v=w.products[it["product_id"]]["variants"][new]; d=v["price"]-it["price"]
            prop.append(f"Exchange the {it['name']} ({', '.join(f'{a}: {b}' for a,b in it['options'].items())}, {money(it['price'])}) for the cheapest other available version ({', '.join(f'{a}: {b}' for a,b in v['options'].items())}, {money(v['price'])}) in {r.order}; {'you pay' if d>0 else 'you get back'} {money(abs(d))} via your {mname(r.method or pol.original(o))}")
            fin.append(f"The {it['name']} in {r.order} has been exchanged for the version at {money(v['price'])}")
    if not writes:
        e.step(Say(text=" ".join(ref)+["",""," Is there anything else I can help you with?"][style%3])); return
    if style%4<2:
        e.step(Say(text=("\n\n".join(ref)+"\n\n" if ref else "Thank you for verifying. ")+"Here's what I will do:\n\n"+"\n".join(f"{i+1}. {p}." for i,p in enumerate(prop))+"\n\n"+["Do you want me to proceed? (yes/no)","Please confirm that you'd like me to go ahead."][style%2]))
        for c in writes: e.step(c)
    elif style%4==2:   # one by one, refusal in the end
        for n,(p,c,f) in enumerate(zip(prop,writes,fin)):
            e.step(Say(text=f"{'Next: ' if n else ''}{p}. Shall I go ahead?"))
            e.step(c)
            if n<len(prop)-1: continue
        if ref: e.step(Say(text="\n".join(fin)+".\n\n"+" ".join(ref))); return
    else:  # refusal first alone, then the rest
        if ref: e.step(Say(text=" ".join(ref)+" However, I can help you with the other request. Let me know if you would like me to continue."))
        if not e.done: e.step(Say(text="To summarize:\n"+"\n".join(f"- {p}" for p in prop)+"\n\nWould you like me to proceed with this?"))
        for c in writes: e.step(c)
    if not e.done: e.step(Say(text=". ".join(fin)+". Is there anything else I can help you with?"))
if __name__=="__main__":
    for st in range(8): run("tau2_retail_desk",(0,1),range(100,180),agent,f"style{st}",show=1,style=st)
