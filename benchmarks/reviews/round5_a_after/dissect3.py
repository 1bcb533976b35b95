from nh import *
import new_retail as R, new_rest as N, sys
from new_retail import *
def sw(name_text):  # swap proposals
    def mk(k):
        def p(ep,w):
            r=w.requests[0]
            if type(r).__name__!='Swap': ep.skip=True; return
            for s in w.copy().oracle():
                if isinstance(s,Call) and s.tool.startswith(READ): yield s
                else: break
            c=r.call(w,SKILLS); o=w.orders[r.record]; ol=next(i for i in o['items'] if i['item_id']==c.arguments['item_ids'][0]); nw=w.products[ol['product_id']]['variants'][c.arguments['new_item_ids'][0]]
            d=nw['price']-ol['price']
            if (d<0)!=(k[0]=='-'): ep.skip=True; return
            x=dict(c=r.record,oid=ol['item_id'],nid=nw['item_id'],op=f"{ol['price']:.2f}",np=f"{nw['price']:.2f}",a=f"{abs(d):.2f}",m=mname(w,c.arguments['payment_method_id']),pm=c.arguments['payment_method_id'],name=ol['name'])
            yield Say(name_text[k].format(**x)+" Shall I proceed?"); yield c; yield Say("All done.")
        return p
    return mk
S={
'-owed':"I'd replace {oid} with {nid} (${np}). Amount owed to you: ${a} on your {m}.",
'-returned':"I'd replace {oid} with {nid} (${np}). ${a} will be returned to your {m}.",
'-due back':"I'd replace {oid} with {nid} (${np}). Amount due back to you: ${a} ({m}).",
'-savings':"I'd replace {oid} with {nid} for ${np}. You save ${a}, which goes to your {m}.",
'-no extra charge':"I'd replace {oid} with {nid} for ${np}. There's no additional charge; the difference of ${a} is refunded to your {m}.",
'-charge $0':"I'd replace {oid} with {nid}.\n- Additional charge: $0\n- Refund: ${a} to {pm}",
'-were charged':"You were charged ${op} for the {name}; {nid} costs ${np}. The difference of ${a} goes to your {m}.",
'-originally charged, less':"The {name} was ${op} and {nid} is ${np}, so you'll be charged ${a} less, credited to {pm}.",
'-negative':"New {name}: {nid}\nPrice: ${np}\nDifference: -${a} (refund to {pm})",
'+due':"I'd replace {oid} with {nid} (${np}). Amount due: ${a} on your {m}.",
'+no refund':"{nid} costs ${np} instead of ${op}. The difference of ${a} is payable with your {m}; there is no refund.",
'+refund $0':"I'd replace {oid} with {nid}.\n- Refund: $0\n- Additional charge: ${a} to {pm}",
'+send back email':"{nid} costs ${np}, ${a} above your current one, on your {m}. You'll receive an email on how to return the old item.",
}
for k in S: sweep('tau2_retail_structured_data',[k],sw(S),n=60,levels=[0,1,3],start=300)
def repay(T):
    def mk(k):
        def p(ep,w):
            r=w.requests[0]
            if type(r).__name__!='Repay' or not r.verdict(w).allowed: ep.skip=True; return
            for s in w.copy().oracle():
                if isinstance(s,Call) and s.tool.startswith(READ): yield s
                else: break
            o=w.orders[r.record]; c=r.call(w,SKILLS); old=rp.original(o); pm=c.arguments['payment_method_id']
            yield Say(f"I'd change the payment of {r.record} from {old} to {pm}. Shall I proceed?"); yield c; yield Say(T[k].format(c=r.record,P=f"{rp.paid(o):.2f}",old=old,om=mname(w,old),m=mname(w,pm),pm=pm))
        return p
    return mk
Y={
'y1':"Done: {c} is now paid with your {m}. The ${P} paid with {old} will be refunded within 5 to 7 business days.",
'y2':"{c} is now paid with your {m}. The ${P} you paid with your {om} will be refunded.",
'y3':"{c} is now paid with your {m}. The ${P} originally paid with your {om} will be refunded.",
'y4':"The ${P} paid with your {om} will be refunded, and your {m} was charged ${P}.",
'y5':"The amount paid with your {om} (${P}) goes back to it.",
'y6':"The ${P} charged to your {om} will be refunded; your {m} is charged instead.",
'y7':"Your {om} payment of ${P} will be refunded to your {om}. Your {m} was charged.",
}
for k in Y: sweep('tau2_retail_tool_precision',[k],repay(Y),n=80,levels=[0,1],start=300)
def ret(T):
    def mk(k):
        def p(ep,w):
            r=w.requests[0]
            if type(r).__name__!='Return' or not r.verdict(w).allowed: ep.skip=True; return
            for s in w.copy().oracle():
                if isinstance(s,Call) and s.tool.startswith(READ): yield s
                else: break
            o=w.orders[r.record]; c=r.call(w,SKILLS); its=[next(i for i in o['items'] if i['item_id']==y) for y in c.arguments['item_ids']]; pm=c.arguments['payment_method_id']
            x=dict(c=r.record,B=f"{sum(i['price'] for i in its):.2f}",m=mname(w,pm),pm=pm,names=" and the ".join(i['name'] for i in its),sum=" + ".join(f"${i['price']:.2f}" for i in its))
            yield Say(T[k].format(**x)+" Shall I proceed?"); yield c; yield Say("All done.")
        return p
    return mk
Z={
'z1 you were charged':"You were charged ${B} for the {names}. I can take it back and refund ${B} to your {m}.",
'z2 fee $0':"Return of the {names} ({c}):\n- Return fee: $0\n- Refund: ${B} to your {m}",
'z3 item cost':"The {names} cost ${B}. I can return it and refund ${B} to your {m}.",
'z4 charged list':"Return of the {names} ({c}):\n- Amount charged: ${B}\n- Refund: ${B} to {pm}",
'z5 subtotal shipping':"Return of the {names} ({c}):\n- Subtotal: ${B}\n- Return shipping: $0.00\n- Total refund: ${B} to {pm}",
'z6 sum':"{sum} = ${B} will be refunded to your {m} for the {names}.",
}
for k in Z: sweep('tau2_retail_tool_precision',[k],ret(Z),n=80,levels=[0,3],start=300)
