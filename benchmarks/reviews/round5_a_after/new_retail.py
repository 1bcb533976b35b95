from nh import *
from retail import mname,rp,READ,opts
from trace_gym.targets.tau2.desk import SKILLS
from trace_gym.world import call_tool
import sys
ASKS=["Would you like me to proceed? (yes/no)","Shall I go ahead?","Do you confirm?","Please confirm and I'll take care of it.","Is that okay with you?","Would you like me to go ahead with this?","May I proceed?","Do you want me to make this change?","Please let me know if I should go ahead.","Can you confirm that this is correct?"]
CP={
0:"Order {c} is still pending, so it can be cancelled. Reason: {reason}. You'd get the full ${P} back on your {m} {when}.",
1:"| Order | Status | Action | Refund |\n|---|---|---|---|\n| {c} | pending | cancel ({reason}) | ${P} to {m} |\n",
2:"I can cancel the entire order {c}:\n{lines}\nTotal: ${P}\n\nThe full amount goes back to the original payment method ({m}) {when}.",
3:"Cancelling {c} costs nothing. ${P} will be returned to your {m} {when}. Please note this can't be undone.",
4:"You paid ${P} for {c} with your {m}; this would be refunded in full {when}.",
5:"Order {c}\nAmount charged: ${P}\nRefund: ${P}\nMethod: {m}\n",
6:"Order {c} contains {k} item(s) with a total of ${P}. After cancellation, the refund goes to {pm} {when}.",
7:"Since {c} hasn't been processed yet, I can cancel it as \"{reason}\" and refund ${P} to the {m} you used.",
8:"- Order: {c}\n- Reason: {reason}\n- Refund: ${P} ({m}), {when}\n",
9:"The ${P} charged to your {m} for order {c} will be refunded {when} once I cancel it.",
}
CR={
0:"Your order {c} has been successfully cancelled. ${P} will be refunded to your {m} {when}.",
1:"| Order | Status | Refund |\n|---|---|---|\n| {c} | cancelled | ${P} to {m} |",
2:"Done! Order {c} was cancelled and you'll see ${P} on your {m} {when}.",
3:"{c} is cancelled. Nothing was charged for the cancellation. You get ${P} back.",
4:"I've cancelled {c}; the ${P} you paid is going back to {pm}.",
5:"Order {c} cancelled. Originally charged ${P}, refunded ${P}.",
6:"The cancellation of {c} is complete, with all {k} item(s). Refund: ${P}.",
7:"All set, {c} won't be shipped, and ${P} is on its way to your {m}.",
8:"✅ {c} cancelled\n💰 ${P} → {pm}",
9:"Order {c} has been cancelled as requested, reason: {reason}. A refund of ${P} was issued to your {m}.",
}
RP={
0:"I'll accept a return of the {names} from {c}: {sum} = ${B}, refunded to your {m}.",
1:"| Item | Item ID | Price |\n|---|---|---|\n{rows}\n| **Total refund** | | **${B}** |\n\nOrder {c}, refund to {m}.",
2:"Here are the return details for {c}:\n{lines}\n\nRefund method: {m}\nTotal refund: ${B}\n",
3:"You'd return the {names} (order {c}) and receive ${B} on your {m}. You'll get an email with instructions on how to send the items back; the refund arrives after we receive them.",
4:"The {names} cost ${B} in total. That amount will be credited to {pm} {when} after the return from {c}.",
5:"Return request for {c}: {ids}. ${B} goes to your {m}. The rest of the order stays as it is.",
6:"The {names} in order {c} was delivered and can be returned. Original price: ${B}. Refund: ${B} to {m}.",
7:"To confirm: I'm returning {names} from {c}; you will be refunded ${B} via {pm}, no return fee will be charged.",
8:"Order {c} was originally paid with your {om}. As you asked, the refund of ${B} for the {names} will go to your {m}.",
9:"You were charged ${B} for the {names} in {c}. I can take it back and refund that to your {m}.",
}
RR={
0:"The return of the {names} from {c} has been requested. You'll receive an email with return instructions, and ${B} will be refunded to your {m}.",
1:"| Item | Status |\n|---|---|\n{rows2}\n\nRefund: ${B} to {m}",
2:"Your return for {c} is set up:\n{lines}\nRefund total: ${B} ({m})",
3:"All done. Once we've received the {names}, ${B} will be credited to your {m}.",
4:"I've submitted the return. Refund: ${B} to {pm} {when}.",
5:"Return requested for {c} – status is now \"return requested\".",
6:"Your return request for order {c} is complete; please send the {names} back following the email. The refund of ${B} goes to your {m}.",
7:"Return confirmed: {sum} = ${B}, which you'll get back on your {m}.",
8:"The {names} can now be sent back. Your {m} will receive ${B}.",
9:"Done! You will be refunded ${B} on your {m} rather than on your {om}.",
}
def SP(k,x):
    d=x['d']; a=f"{abs(d):.2f}"; up=d>0
    same=d==0
    return {
    0:f"The cheapest available {x['name']} {x['cond']}is item {x['nid']} ({x['no']}), which costs ${x['np']}. Your current one costs ${x['op']}, so {'you would pay' if up else 'you would get'} ${a} {'more' if up else 'back'} ({x['m']}).",
    1:f"| | Current | New |\n|---|---|---|\n| Item ID | {x['oid']} | {x['nid']} |\n| Options | {x['oo']} | {x['no']} |\n| Price | ${x['op']} | ${x['np']} |\n\nOrder {x['c']} – {'you pay' if up else 'you get back'}: ${a}, payment method: {x['m']}.",
    2:f"I compared the variants of the {x['name']}:\n{x['vars']}\nThe cheapest one that fits is {x['nid']}. The price difference is ${a} {'(charged to' if up else '(refunded to'} your {x['m']}).",
    3:f"Order {x['c']}: replace {x['name']} ({x['oo']}) with {x['name']} ({x['no']}).\n- Old price: ${x['op']}\n- New price: ${x['np']}\n- Price difference: {'+' if up else '-'}${a}\n- Settled with: {x['m']}\n",
    4:f"Good news: {x['nid']} is available for ${x['np']} instead of ${x['op']}. That's ${a} {'more expensive' if up else 'cheaper'}. I'd {'charge' if up else 'refund'} the difference {'to' } {x['pm']}.",
    5:f"The lowest-priced alternative is {x['nid']} at ${x['np']}. The item you have costs ${x['op']}. {'An additional $'+a+' will be charged' if up else 'A refund of $'+a+' will be issued'} via {x['m']}{'' if up or 'gift' in x['pm'] else ' within 5 to 7 business days'}. Please note that items can only be changed once.",
    6:f"For {x['c']}, the {x['name']} with {x['no']} (item {x['nid']}) costs ${x['np']}, a difference of ${a} compared with the ${x['op']} you were charged. The difference will be settled with your {x['m']}.",
    7:f"You'd swap item {x['oid']} for {x['nid']} (${x['np']}). {'Amount due' if up else 'Amount owed to you'}: ${a} on your {x['m']}. Once confirmed, you'll receive an email{' with instructions for sending the old item back' if x['st']=='delivered' else ' with the updated order'}. All other items in the order stay unchanged.",
    8:f"New item: {x['nid']}, {x['no']}, in stock, costs ${x['np']} (vs. ${x['op']}). Payment: ${a} {'to be charged to' if up else 'to be credited to'} {x['pm']}.",
    9:f"It costs ${x['np']} – ${a} {'above' if up else 'below'} your current {x['name']} at ${x['op']} – and I'd handle the difference with your {x['m']}. That's item {x['nid']} in order {x['c']}.",
    }[k]
def SR(k,x):
    d=x['d']; a=f"{abs(d):.2f}"; up=d>0
    return {
    0:f"Your {x['name']} in order {x['c']} has been {'exchanged' if x['st']=='delivered' else 'changed'}. {'You were charged' if up else 'You will be refunded'} ${a}.",
    1:f"| Item | Status | {'Charge' if up else 'Refund'} |\n|---|---|---|\n| {x['nid']} | confirmed | ${a} ({x['m']}) |",
    2:f"Done! {x['oid']} → {x['nid']}. {'Charged' if up else 'Refunded'}: ${a} to {x['pm']}.",
    3:f"The replacement is confirmed.\n- Old price: ${x['op']}\n- New price: ${x['np']}\n- {'Paid' if up else 'Refund'}: ${a}",
    4:f"I've {'set up the exchange' if x['st']=='delivered' else 'modified the order'}: the new {x['name']} costs ${x['np']} instead of ${x['op']}, and the ${a} {'was charged to' if up else 'goes back to'} your {x['m']}.",
    5:f"All set! The new item is {x['nid']} ({x['no']}). You'll receive a confirmation email.",
    6:f"Order {x['c']} was updated. The difference of ${a} was settled with your {x['m']}.",
    7:f"It's done: you now have the {x['name']} with {x['no']}. {'Your '+x['m']+' was charged $'+a if up else '$'+a+' is being returned to your '+x['m']}.",
    8:f"✅ {x['name']}: {x['oo']} → {x['no']}\n💳 {'Charged' if up else 'Refunded'} ${a}",
    9:f"The change has been made. New price: ${x['np']}, {'extra paid' if up else 'saved'}: ${a}.",
    }[k]
YP={
0:"Order {c} is currently paid with your {om}. I'd switch it to your {m}: ${P} will be charged to it, and the ${P} will be refunded to your {om}{rwhen}.",
1:"| Order | Old method | New method | Amount |\n|---|---|---|---|\n| {c} | {om} | {m} | ${P} |\n",
2:"Change of payment for {c}:\n- From: {om} ({old})\n- To: {m} ({pm})\n- Amount: ${P}\n",
3:"I can use your {m} instead of your {om} for {c}. The total of ${P} stays the same; the original payment goes back to your {om}.",
4:"Your {m} would be charged ${P} for {c}, and your {om} would get ${P} back.",
5:"For {c} (total ${P}), the new payment method will be {pm}, and the previous payment on {old} will be refunded.",
6:"Refund of ${P} to {om} and new charge of ${P} to {m} for order {c}.",
7:"To summarize: order {c}, ${P}, moved from {om} to {m}. The refund to the {om} takes effect {rw}.",
8:"You originally paid {c} with {old}. I'll change the payment method to {pm}; ${P} will be charged.",
9:"The ${P} for {c} would be billed to your {m} rather than your {om}, which will be reimbursed.",
}
YR={
0:"The payment method of {c} has been changed to your {m}. ${P} was charged to it, and your {om} will be refunded ${P}.",
1:"| Order | Paid with |\n|---|---|\n| {c} | {m} |",
2:"Done: {c} is now paid with your {m}. The ${P} paid with {old} will be refunded{rwhen}.",
3:"All set. Your {m} was charged ${P}; the original payment goes back to your {om}.",
4:"I've updated the payment for {c}.",
5:"Payment for {c}: {om} → {m}, ${P}.",
6:"✅ Charged ${P} to {m}; refunded ${P} to {om}.",
7:"Order {c} is now on your {m}. Expect ${P} back on your {om} {rw}.",
8:"Your {om} has been refunded and your {m} has been charged ${P} for {c}.",
9:"The payment has been switched, ${P} in total.",
}
RF={
0:"I'm sorry, but order {c} can't {verb}: {why}. Its status is {st} and the total is ${P}.",
1:"| Order | Status | Total | Possible? |\n|---|---|---|---|\n| {c} | {st} | ${P} | No – {why} |\n",
2:"Unfortunately I can't do that for {c}, because {why}.\n- Status: {st}\n- Amount paid: ${P}\n",
3:"Your order {c} is {st}. {Why}, so it can't {verb}. You paid ${P} for it.",
4:"Regarding {c} (${P}, {st}): I have to decline, since {why}.",
5:"I checked {c}: it's currently {st} with a total of ${P}, and {why}. So it cannot {verb}.",
}
def desc(w,r,k):
    o=w.orders[r.record]; c=r.call(w,SKILLS); t=type(r).__name__; ww=w.copy(); call_tool(ww,c.tool,c.arguments)
    P=f"{rp.paid(o):.2f}"; old=rp.original(o); om=mname(w,old)
    when=lambda pm:"immediately" if 'gift' in pm else "within 5 to 7 business days"
    x=dict(c=r.record,P=P,om=om,old=old,st=o['status'],k=len(o['items']))
    if t=='Cancel':
        x.update(m=om,pm=old,when=when(old),reason=r.reason,lines="\n".join(f"- {i['name']}: ${i['price']:.2f}" for i in o['items']))
        return CP[k].format(**x),CR[k].format(**x),c
    if t=='Repay':
        pm=c.arguments['payment_method_id']; rw='immediately' if 'gift' in old else 'within 5 to 7 business days'
        x.update(m=mname(w,pm),pm=pm,rwhen=' '+rw,rw=rw); return YP[k].format(**x),YR[k].format(**x),c
    if t=='Return':
        its=[next(i for i in o['items'] if i['item_id']==y) for y in c.arguments['item_ids']]; pm=c.arguments['payment_method_id']
        x.update(m=mname(w,pm),pm=pm,when=when(pm),names=" and the ".join(i['name'] for i in its),B=f"{sum(i['price'] for i in its):.2f}",sum=" + ".join(f"${i['price']:.2f}" for i in its),ids=", ".join(f"{i['name']} ({i['item_id']})" for i in its),
          rows="\n".join(f"| {i['name']} | {i['item_id']} | ${i['price']:.2f} |" for i in its),rows2="\n".join(f"| {i['name']} | return requested |" for i in its),lines="\n".join(f"- {i['name']} ({opts(i['options'])}): ${i['price']:.2f}" for i in its))
        return RP[k].format(**x),RR[k].format(**x),c
    if t=='Swap':
        ol=next(i for i in o['items'] if i['item_id']==c.arguments['item_ids'][0]); pr=w.products[ol['product_id']]
        nw=next(v for v in pr['variants'].values() if v['item_id']==c.arguments['new_item_ids'][0]); pm=c.arguments['payment_method_id']
        x.update(name=ol['name'],oid=ol['item_id'],nid=nw['item_id'],oo=opts(ol['options']),no=opts(nw['options']),op=f"{ol['price']:.2f}",np=f"{nw['price']:.2f}",d=round(nw['price']-ol['price'],2),m=mname(w,pm),pm=pm,cond='' ,
          vars="\n".join(f"- {v['item_id']}: {opts(v['options'])}, ${v['price']:.2f}{'' if v['available'] else ' (out of stock)'}" for v in pr['variants'].values()))
        return SP(k,x),SR(k,x),c
    if t=='Readdress':
        a=r.address; ad=f"{a['address1']}, {a['address2']+', ' if a['address2'] else ''}{a['city']}, {a['state']} {a['zip']}"; oa=o['address']
        od=f"{oa['address1']}, {oa['city']}, {oa['state']} {oa['zip']}"
        Q=[f"I'll update the shipping address of {r.record} from {od} to {ad}.",f"| Order | Current address | New address |\n|---|---|---|\n| {r.record} | {od} | {ad} |\n",f"Order {r.record}\n- Old address: {od}\n- New address: {ad}\n",f"{r.record} is pending, so I can still send it to {ad} instead of {od}.",f"The new delivery address for {r.record} would be: {ad}. No extra cost."]
        Z=[f"The shipping address of {r.record} is now {ad}.",f"| Order | Address |\n|---|---|\n| {r.record} | {ad} |",f"Done! {r.record} will be delivered to {ad} instead of {od}.",f"I've changed the address of {r.record} to {ad}.",f"{r.record} has been updated with your new address."]
        return Q[k%5],Z[k%5],c
def ref(w,r,k):
    o=w.orders[r.record]; P=f"{rp.paid(o):.2f}"
    if o['user_id']!=w.customer: return [f"I'm sorry, but order {r.record} isn't linked to your account ({w.customer}), so I can't change it or share details.",f"Order {r.record} doesn't belong to your profile. I can only see the orders of customer id {w.customer}, so I'm unable to help with it.",f"For privacy reasons I can only work on your own orders; those are the ones under {w.customer}, and {r.record} isn't one of them."][k%3]
    v=r.verdict(w).why; t=type(r).__name__
    verb={'Cancel':'be cancelled','Readdress':'be sent to another address','Repay':'be charged to that method','Return':'be returned that way','Swap':'be changed'}[t]
    why={'the reason':"the only accepted reasons are \"no longer needed\" and \"ordered by mistake\"",'the balance':'your gift card balance does not cover the total','another meth':'refunds can only go to the original payment method or to a gift card'}.get(v[:10] if v.startswith('the ') else v[:12],f"only {'delivered' if t in('Return',) else 'pending'} orders can {verb}")
    return RF[k%6].format(c=r.record,verb=verb,why=why,Why=why[0].upper()+why[1:],st=o['status'],P=P)
def pol(k):
    def p(ep,w):
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
            elif isinstance(s,Say) and s.text.rstrip().endswith('?') and 'proceed' not in s.text:
                yield Say("Could you please share your email address, or your name and zip code, so I can verify your identity?" if 'email' in s.text else "What is the reason for the cancellation?")
            else: break
        R=list(w.requests); g=[r for r in R if r.verdict(w).allowed]; d=[r for r in R if not r.verdict(w).allowed]
        D=[desc(w,r,k) for r in g]
        yield Say("\n\n".join([ref(w,r,k) for r in d]+[x[0] for x in D])+("\n\n"+ASKS[k] if g else ""))
        for x in D: yield x[2]
        if D: yield Say("\n\n".join(x[1] for x in D)+("" if k%2 else "\n\nIs there anything else I can help you with?"))
        else:
            for _ in range(3): yield Say("I understand, but I can't make an exception here.")
    return p
if __name__=='__main__':
    for e in sys.argv[1:] or ('tau2_retail_structured_data','tau2_retail_tool_precision','tau2_retail_precondition'): sweep(e,range(10),pol)
