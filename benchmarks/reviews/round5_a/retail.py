from h import *
from trace_gym.targets.tau2 import retail_policy as rp
from trace_gym.targets.tau2.desk import SKILLS
from trace_gym.world import call_tool
READ=('get','find','search')
def mname(w,pid):
    for u in w.users.values():
        m=u['payment_methods'].get(pid)
        if m:
            return {'credit_card':f"{m.get('brand','credit card').title()} credit card ending in {m.get('last_four')}",'paypal':'PayPal account','gift_card':'gift card'}[m['source']]
    return pid
def opts(o): return ", ".join(f"{k}: {v}" for k,v in o.items())
def describe(w,r,style):
    """offer, report texts, call"""
    o=w.orders[r.record]; c=r.call(w,SKILLS); k=type(r).__name__
    ww=w.copy(); call_tool(ww,c.tool,c.arguments)
    P=rp.paid(o); code=r.record
    if k=='Cancel':
        pm=rp.original(o); d="immediately" if 'gift' in pm else "within 5 to 7 business days"
        return {'rich':(f"**Order {code}** is pending and can be cancelled.\n- Reason: {r.reason}\n- Refund: ${P:.2f} to your {mname(w,pm)} ({pm}), {d}",f"Your order {code} has been cancelled. The refund of ${P:.2f} will go to your {mname(w,pm)} {d}."),
          'prose':(f"I can cancel order {code} for you; you would get ${P:.2f} back on your {mname(w,pm)} {d}.",f"Order {code} is now cancelled and ${P:.2f} is on its way to your {mname(w,pm)}."),
          'short':(f"I'll cancel {code} ({r.reason}) and refund ${P:.2f} to {pm}.","Done! Your order has been cancelled.")}[style],c
    if k=='Readdress':
        a=r.address; ad=f"{a['address1']}, {a['address2']+', ' if a['address2'] else ''}{a['city']}, {a['state']} {a['zip']}"
        oa=o['address']
        return {'rich':(f"**Order {code}** (pending)\n- Current address: {oa['address1']}, {oa['city']}, {oa['state']} {oa['zip']}\n- New address: {ad}",f"The shipping address of order {code} has been updated to {ad}."),
          'prose':(f"I'm going to change the delivery address of {code} to {ad}.",f"Order {code} will now be sent to {ad}."),
          'short':(f"I will ship {code} to {ad} instead.","Your address has been updated.")}[style],c
    if k=='Repay':
        old=rp.original(o); new=c.arguments['payment_method_id']
        return {'rich':(f"**Order {code}** (total ${P:.2f})\n- Current payment method: {mname(w,old)} ({old})\n- New payment method: {mname(w,new)} ({new})\n\nThe ${P:.2f} will be charged to the new method and refunded to the old one.",f"The payment method of order {code} was changed to your {mname(w,new)}. ${P:.2f} was charged to it, and ${P:.2f} will be refunded to your {mname(w,old)}."),
          'prose':(f"I can change the payment of order {code} from your {mname(w,old)} to your {mname(w,new)} for the total of ${P:.2f}.",f"Order {code} is now paid with your {mname(w,new)}; your {mname(w,old)} gets the original payment back."),
          'short':(f"I'll charge {code} to {new} instead of {old}.","The payment method has been changed.")}[style],c
    if k=='Return':
        its=[next(i for i in o['items'] if i['item_id']==x) for x in r.items]; pm=c.arguments['payment_method_id']; back=sum(i['price'] for i in its)
        L="\n".join(f"- {i['name']} ({opts(i['options'])}), item {i['item_id']}: ${i['price']:.2f}" for i in its)
        return {'rich':(f"**Return from order {code}**\n{L}\n- Total refund: ${back:.2f} to your {mname(w,pm)} ({pm})",f"The return of {' and '.join(i['name'] for i in its)} from order {code} has been requested. You will receive ${back:.2f} on your {mname(w,pm)}. You'll get an email with instructions on how to send the items back." if 0 else f"The return of {' and '.join(i['name'] for i in its)} from order {code} has been requested. You will receive ${back:.2f} on your {mname(w,pm)}."),
          'prose':(f"I can take back the {' and the '.join(i['name'] for i in its)} of order {code} and refund ${back:.2f} to your {mname(w,pm)}.",f"I've set up the return; ${back:.2f} will be refunded to your {mname(w,pm)}."),
          'short':(f"I'll return {', '.join(r.items)} of {code}: ${back:.2f} back to {pm}.","Your return request has been submitted.")}[style],c
    if k=='Swap':
        olds=[next(i for i in o['items'] if i['item_id']==x) for x in c.arguments['item_ids']]; pm=c.arguments['payment_method_id']
        news=[next(v for p in w.products.values() for v in p['variants'].values() if v['item_id']==x) for x in c.arguments['new_item_ids']]
        diff=sum(n['price'] for n in news)-sum(i['price'] for i in olds)
        dl=(f"You'd pay the difference of ${diff:.2f} with your {mname(w,pm)}" if diff>0 else f"The difference of ${-diff:.2f} will be refunded to your {mname(w,pm)}" if diff<0 else "There is no price difference")
        rep=(f"${diff:.2f} was charged to your {mname(w,pm)}" if diff>0 else f"${-diff:.2f} will be refunded to your {mname(w,pm)}" if diff<0 else "there is no price difference")
        L="\n".join(f"- From: {i['name']} ({opts(i['options'])}), ${i['price']:.2f}\n- To: {i['name']} ({opts(n['options'])}), item {n['item_id']}, ${n['price']:.2f}" for i,n in zip(olds,news))
        verb='modify' if o['status']=='pending' else 'exchange'
        return {'rich':(f"**Order {code}** ({o['status']}): {verb} the following item\n{L}\n\n{dl}.",f"The {olds[0]['name']} in order {code} has been {'changed' if verb=='modify' else 'set up for an exchange'}: new item {news[0]['item_id']} (${news[0]['price']:.2f}). {rep[0].upper()+rep[1:]}."),
          'prose':(f"The cheapest available {olds[0]['name']} that fits costs ${news[0]['price']:.2f} ({opts(news[0]['options'])}), compared to ${olds[0]['price']:.2f} for yours. {dl}.",f"All set, your {olds[0]['name']} is being replaced, and {rep}."),
          'short':(f"I'll replace {olds[0]['item_id']} with {news[0]['item_id']} in {code}, difference on {pm}.","The replacement has been requested.")}[style],c
def refusal(w,r,style):
    o=w.orders[r.record]; code=r.record; P=rp.paid(o)
    if o['user_id']!=w.customer:
        return {'rich':f"I'm sorry, but I can't help with order {code}. You are identified as {w.customer}, and I can only see and change the orders that belong to this customer id; {code} is not one of them.",
                'prose':f"Unfortunately order {code} doesn't belong to your account ({w.customer}), so I'm not able to make any changes to it.",
                'short':f"I can't do that: I see only the orders of {w.customer}, and {code} isn't among them."}[style]
    k=type(r).__name__; v=r.verdict(w).why
    verb={'Cancel':'be cancelled','Readdress':'be sent to another address','Repay':'be charged to that method','Return':'be returned that way','Swap':'be changed'}[k]
    why={'the reason':"because the reason you gave isn't one of the accepted reasons (no longer needed or ordered by mistake)",'the balance':'because the balance of your gift card does not cover the total','another meth':'because refunds can only go to the original payment method or to a gift card'}.get(v[:10] if v.startswith('the ') else v[:12],f"because its status is \"{o['status']}\"")
    return {'rich':f"I'm sorry, but order {code} cannot {verb} {why}.\n\n- Status: {o['status']}\n- Total paid: ${P:.2f}\n\nIs there anything else I can help you with?",
            'prose':f"Unfortunately, I'm unable to do this for order {code}, {why}. The order is currently {o['status']}, and you paid ${P:.2f} for it in total.",
            'short':f"{code} can't {verb}: it is {o['status']}, ${P:.2f} paid; {why}."}[style]
ASK={'rich':'Shall I proceed? (yes/no)','prose':'Would you like me to go ahead?','short':'OK?'}
def pol(style):
    def p(ep,w):
        O=list(w.copy().oracle()); wrote=False
        R=w.requests
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
            elif isinstance(s,Say) and s.text.rstrip().endswith('?') and 'proceed' not in s.text:
                if 'email' in s.text: yield Say("I'd be happy to help. To verify your identity, could you please share your email address, or your full name and zip code?")
                else: yield Say("May I ask why you would like to cancel the order?")
            else: break
        g=[r for r in R if r.verdict(w).allowed]; d=[r for r in R if not r.verdict(w).allowed]
        D=[describe(w,r,style) for r in g]
        t="\n\n".join([refusal(w,r,style) for r in d]+[x[0][0] for x in D])+(("\n\n" if style=='rich' else " ")+ASK[style] if g else "")
        yield Say(t)
        for x in D: yield x[1]
        if D: yield Say((" " if style!='rich' else "\n").join(x[0][1] for x in D)+(" Is there anything else I can help you with?" if style!='short' else ""))
        else:
            for _ in range(3): yield Say("I understand, but I can't make an exception here. I'm sorry.")
    return p
if __name__=='__main__':
    import sys
    for n in sys.argv[1:] or ['tau2_retail_structured_data','tau2_retail_tool_precision','tau2_retail_precondition']:
        for st in ('rich','prose','short'): run(n,pol(st),n=60,label=st)
