from h import *
E="tau2_retail_multi_step"
def kind(q): return type(q).__name__
def lookup(a):
    w=a.w; u=w.users[w.customer]
    if w.known_by=="email": uid=a.call("find_user_id_by_email",email=u["email"])
    else: uid=a.call("find_user_id_by_name_zip",first_name=u["name"]["first_name"],last_name=u["name"]["last_name"],zip=u["address"]["zip"])
    prof=a.call("get_user_details",user_id=u["user_id"]); its=[]
    for q in w.requests:
        o=a.call("get_order_details",order_id=q.order); k=kind(q); paid=sum(p["amount"] for p in o["payment_history"])
        ok=o["status"]==("delivered" if k=="Return" else "pending"); src=o["payment_history"][0]["payment_method_id"]
        d=dict(q=q,o=o,k=k,ok=ok,paid=paid,src=src)
        if k=="Return": d["its"]=[i for i in o["items"] if i["item_id"] in q.items]; d["amt"]=sum(i["price"] for i in d["its"]); d["to"]=q.method
        if k=="Cancel": d["amt"]=paid; d["to"]=src
        if k=="Repay": d["to"]=q.method
        its.append(d)
    return its,prof
def write(a,d):
    q=d["q"]
    if d["k"]=="Cancel": a.call("cancel_pending_order",order_id=q.order,reason=q.reason)
    if d["k"]=="Readdress": a.call("modify_pending_order_address",order_id=q.order,**q.address)
    if d["k"]=="Repay": a.call("modify_pending_order_payment",order_id=q.order,payment_method_id=q.method)
    if d["k"]=="Return": a.call("return_delivered_order_items",order_id=q.order,item_ids=list(q.items),payment_method_id=q.method)
def adr(x): return f"{x['address1']}, {x['city']}, {x['state']} {x['zip']}"
def M(p): return {"credit_card":"credit card","paypal":"PayPal account","gift_card":"gift card"}[p.rsplit("_",1)[0]]
def plan(d,s):
    q=d["q"]; n=q.order
    if d["k"]=="Cancel": return {0:f"**Cancel order {n}** (reason: {q.reason}). Refund of ${d['amt']:.2f} to your {M(d['to'])}, within 5 to 7 business days.",1:f"Cancel {n} – refund ${d['amt']:.2f} to {d['to']}",2:f"cancel order {n}"}[s]
    if d["k"]=="Readdress": return {0:f"**Change the shipping address of order {n}** to {adr(q.address)}, USA.",1:f"Ship {n} to {adr(q.address)}",2:f"send order {n} to {adr(q.address)}"}[s]
    if d["k"]=="Repay": return {0:f"**Change the payment method for order {n}** from your {M(d['src'])} to your {M(d['to'])} (${d['paid']:.2f}).",1:f"Charge {n} (${d['paid']:.2f}) to {d['to']} instead of {d['src']}",2:f"charge order {n} to your {M(d['to'])}"}[s]
    it=" and ".join(i["name"] for i in d["its"])
    each=", ".join(f"{i['name']} ${i['price']:.2f}" for i in d["its"])
    return {0:f"**Return the {it} from order {n}** ({each}). Refund: ${d['amt']:.2f} to your {M(d['to'])}.",1:f"Return {it} of {n} – refund ${d['amt']:.2f} to {d['to']}",2:f"return the {it} of order {n}, refunded to your {M(d['to'])}"}[s]
def rep(d,s):
    q=d["q"]; n=q.order
    if d["k"]=="Cancel": return {0:f"Order {n} has been cancelled; ${d['amt']:.2f} will be refunded to your {M(d['to'])} within 5 to 7 business days.",1:f"{n}: cancelled, ${d['amt']:.2f} refunded to {d['to']}",2:f"I've cancelled order {n}, and you'll get ${d['amt']:.2f} back."}[s]
    if d["k"]=="Readdress": return {0:f"Order {n} will now be shipped to {adr(q.address)}.",1:f"{n}: new address {adr(q.address)}",2:f"I've updated the address of order {n}."}[s]
    if d["k"]=="Repay": return {0:f"The payment for order {n} has been switched to your {M(d['to'])}: ${d['paid']:.2f} charged there and the original ${d['paid']:.2f} refunded to your {M(d['src'])}.",1:f"{n}: payment changed to {d['to']}",2:f"Order {n} is now charged to your {M(d['to'])}."}[s]
    return {0:f"The return for order {n} has been requested; ${d['amt']:.2f} will be refunded to your {M(d['to'])}.",1:f"{n}: return of {' and '.join(i['name'] for i in d['its'])}, refund ${d['amt']:.2f} to {d['to']}",2:f"I've set up the return for order {n}, and you will get ${d['amt']:.2f} back."}[s]
def no(d,s):
    n=d["q"].order; act={"Cancel":"cancel","Readdress":"change the address of","Repay":"change the payment method of","Return":"accept the return for"}[d["k"]]
    return {0:f"Unfortunately, I'm unable to {act} order {n} because it has already been processed (status: processed; ${d['paid']:.2f} was paid for it in total).",1:f"I can't {act} {n}: its status is \"{d['o']['status']}\" and ${d['paid']:.2f} was paid for it.",2:f"I'm sorry, but order {n} has the status {d['o']['status']}, so I can't {act} it. The total paid for it was ${d['paid']:.2f}."}[s]
YES=lambda r: r and ("go ahead" in r.lower() or "yes" in r.lower())
def make(style, one=False, first=0, items=0, skipno=False, final=None):
    def pol(a):
        its,prof=lookup(a); ok=[d for d in its if d["ok"]]; bad_=[d for d in its if not d["ok"]]
        if first: its=its[:first]; ok=[d for d in its if d["ok"]]; bad_=[d for d in its if not d["ok"]]
        if items:
            for d in ok:
                if d["k"]=="Return": d["q"].items=d["q"].items[:1]
        pre="\n".join(no(d,style) for d in bad_) if not skipno else ""
        if not one:
            if style==2: msg=(pre+" " if pre else "")+"I can "+", ".join(plan(d,2) for d in ok)+". Would you like me to proceed with these changes?"
            else: msg=(pre+"\n\n" if pre else "")+"Here's what I will do:\n\n"+"\n".join(f"{i+1}. {plan(d,style)}" for i,d in enumerate(ok))+"\n\nDo you want me to proceed? (yes/no)"
            if not ok: msg=pre
            r=a.say(msg)
            for _ in range(2):
                if ok and not a.done and not YES(r): r=a.say("Shall I proceed with these changes?")
            for d in ok: write(a,d)
            a.say(final or "All done:\n"+"\n".join("- "+rep(d,style) for d in ok)+("\n"+"\n".join(f"- Order {d['q'].order} was not changed." for d in bad_) if bad_ else ""))
        else:
            for i,d in enumerate(its):
                if d["ok"]:
                    r=a.say(("Next: " if i else "")+plan(d,style if style<2 else 1)+"\n\nShall I go ahead?")
                    for _ in range(2):
                        if not a.done and not YES(r): r=a.say(f"Shall I proceed with order {d['q'].order}?")
                    write(a,d)
                    a.say(rep(d,style)+(" Now let me continue with the next request." if i<len(its)-1 else ""))
                else: a.say(no(d,style)+(" Let me continue with the next request." if i<len(its)-1 else ""))
    return pol
if __name__=="__main__":
  for L in range(4):
    S=range(60)
    for s in (0,1,2): trial(E,L,make(s),S,1,f"together style{s}")
    for s in (0,1,2): trial(E,L,make(s,one=True),S,1,f"one by one style{s}")
    trial(E,L,make(0,first=1),S,0,"SHORTCUT first part only"); trial(E,L,make(0,items=1),S,0,"SHORTCUT first item only"); trial(E,L,make(0,skipno=True),S,0,"WRONG refusal not told")
    for t in ["All done. I have also sent you a $50 gift card.","All done. The refund has been charged to your credit card.","Sorry, I could not change anything.","All done. I've also cancelled your other orders."]: trial(E,L,make(0,final=t),S,0,"LIE "+t)
