from h import *
from trace_gym.targets.tau2.airline import SKILLS
from trace_gym.targets.tau2 import retail_policy as rp
from trace_gym.targets.tau2.retail import in_words
def meth(u,m):
    x=u['payment_methods'][m]
    return {'credit_card':lambda:f"{x['brand'].title()} ending in {x['last_four']}",'gift_card':lambda:"gift card",'paypal':lambda:"PayPal account"}[x['source']]()
ST={'pending (item modified)':'pending (item modified)'}
def plan(style,refuse=None):
  def agent(w):
    me=w.users[w.customer]; first=me['name']['first_name']
    if 'identity' in w.withheld:
        yield Say(["I'd be happy to help with that! First, could you please provide your email address, or your full name and zip code, so I can verify your identity?","Sure, I can help. Could you share the email on your account, or your name and zip code?","To get started, may I have your email or your first and last name with zip code?"][style])
    if w.known_by=='email': yield Call('find_user_id_by_email',{'email':me['email']})
    else: yield Call('find_user_id_by_name_zip',{**me['name'],'zip':me['address']['zip']})
    yield Call('get_user_details',{'user_id':w.customer})
    ok=[];no=[]
    for r in w.requests:
        yield Call('get_order_details',{'order_id':r.record})
    if 'reason' in w.withheld and any(type(r).__name__=='Cancel' and w.orders[r.record]['user_id']==w.customer for r in w.requests):
        yield Say(["Thank you. Could you please let me know the reason for the cancellation? (e.g., no longer needed, ordered by mistake)","May I ask why you'd like to cancel this order?","What is the reason for cancelling – is it no longer needed or was it ordered by mistake?"][style])
    parts=[];done=[]
    for r in w.requests:
        t=type(r).__name__; o=w.orders[r.record]; R=r.record
        v=r.verdict(w)
        if not v.allowed:
            no.append(r)
            paid=rp.paid(o)
            if o['user_id']!=w.customer:
                parts.append([f"I'm sorry, but I can't help with order {R}, because it isn't associated with your account ({w.customer}). I can only assist with orders that belong to your profile.",
                  f"I'm unable to make changes to {R}. I only see the orders of customer {w.customer}, and this order is not among them.",
                  f"Unfortunately order {R} does not belong to your account. Your customer ID is {w.customer}, and I can only act on orders under that ID."][style])
            else:
                st=o['status']
                why=''
                if t=='Cancel' and st=='pending': why=[" The reason you gave isn't one that we can accept for a cancellation (only \"no longer needed\" or \"ordered by mistake\")."," We can only cancel if it's no longer needed or was ordered by mistake, so I can't accept your reason."," Cancellations are only possible for orders no longer needed or ordered by mistake."][style]
                elif t=='Repay' : why=[" Your gift card balance is not enough to cover the full amount."," The balance on the gift card is too low to cover it."," A gift card must cover the whole amount, and yours doesn't."][style]
                elif t=='Return' and st=='delivered': why=[f" Refunds can only go to the original payment method or to a gift card, not to {r.named}."," The refund may only go to the payment method you originally used or a gift card."," It wasn't paid with that method, so the refund can't go there."][style]
                V={'Cancel':'cancel','Readdress':'change the address of','Repay':'change the payment method of','Return':'process a return for'}[t]
                parts.append([f"I'm sorry, but I'm unable to {V} order {R}. The order status is **{st}**, and a total of **${paid:.2f}** was paid for it.{why}",
                  f"Unfortunately, I can't {V} order {R}: it is currently {st} and you paid ${paid:.2f} for it in total.{why}",
                  f"I cannot {V} {R}.{why}\n\n- Status: {st}\n- Total paid: ${paid:.2f}"][style])
            continue
        ok.append(r)
        if t=='Cancel':
            x=rp.paid(o); m=meth(me,rp.original(o)); g='gift' in rp.original(o)
            when="immediately" if g else "within 5-7 business days"
            parts.append([f"**Cancel order {R}**\n- Reason: {r.reason}\n- Refund: ${x:.2f} to your {m} {when}",f"I can cancel order {R} for you since it's still pending. The full ${x:.2f} will be refunded to your {m} ({when}).",f"Order {R} is eligible for cancellation; ${x:.2f} would go back to your {m} {when}."][style])
            done.append([f"order {R} has been cancelled and ${x:.2f} will be refunded to your {m} {when}",f"your order {R} is now cancelled. You'll see ${x:.2f} on your {m} {when}",f"order {R} was cancelled"][style])
        elif t=='Readdress':
            a=in_words(r.address)
            parts.append([f"**Update shipping address for {R}**\n- Current address: {in_words(o['address'])}\n- New address: {a}",f"I'll change the delivery address of {R} to {a}.",f"Order {R} is pending, so its shipping address can be updated to: {a}."][style])
            done.append([f"the shipping address of {R} has been updated to {a}",f"{R} will now be delivered to {a}",f"the address for {R} is updated"][style])
        elif t=='Return':
            x=r.refund(w); m=meth(me,r.method); it=[next(i for i in o['items'] if i['item_id']==k) for k in r.items]; nm=' and '.join(i['name'] for i in it)
            parts.append([f"**Return from order {R}**\n- Item: {nm} (${x:.2f})\n- Refund: ${x:.2f} to your {m}",f"I can process a return of the {nm} from order {R}, with a refund of ${x:.2f} to your {m}.",f"For {R}: the {nm} can be returned and you would get ${x:.2f} back on your {m}."][style])
            done.append([f"the return of the {nm} from {R} has been requested, and ${x:.2f} will be refunded to your {m}",f"the return for {R} is set up. You'll receive an email with instructions on how to send it back",f"your return request for {R} was submitted"][style])
        elif t=='Repay':
            x=rp.paid(o); m=meth(me,r.method); om=meth(me,rp.original(o))
            parts.append([f"**Change payment method for {R}**\n- Order total: ${x:.2f}\n- From: {om}\n- To: {m}",f"I'll switch the payment of {R} (${x:.2f}) from your {om} to your {m}. The original payment of ${x:.2f} will be refunded to your {om}.",f"{R} will be charged to your {m} instead of the {om}; the amount is ${x:.2f}."][style])
            done.append([f"the payment for {R} has been changed to your {m}; ${x:.2f} was charged to it and your {om} will be refunded",f"{R} is now paid with your {m}",f"payment method of {R} is updated"][style])
        else: # Swap
            c=r.call(w,SKILLS); yield from (Call('get_product_details',{'product_id':next(i for i in o['items'] if i['item_id']==k)['product_id']}) for k in r.items)
            old=next(i for i in o['items'] if i['item_id']==r.items[0]); new=w.products[old['product_id']]['variants'][c.arguments['new_item_ids'][0]]
            d=round(new['price']-old['price'],2); m=meth(me,c.arguments['payment_method_id']); opt=', '.join(f"{k}: {x}" for k,x in new['options'].items())
            way=f"an additional charge of ${d:.2f} to your {m}" if d>0 else f"a refund of ${-d:.2f} to your {m}" if d<0 else "no price difference"
            parts.append([f"**Exchange in {R}**\n- Current: {old['name']} at ${old['price']:.2f}\n- New: {opt} at ${new['price']:.2f}\n- Price difference: {way}",f"The cheapest other version of the {old['name']} available is {opt} (item {new['item_id']}) for ${new['price']:.2f}. You paid ${old['price']:.2f}, so there would be {way} for {R}.",f"I can swap the {old['name']} in {R} for the {opt} version at ${new['price']:.2f}, which means {way}."][style])
            done.append([f"the {old['name']} in {R} was replaced. You get {way}" if d<0 else f"the {old['name']} in {R} was replaced with {way}",f"your {old['name']} has been swapped",f"the exchange for {R} is done"][style])
    txt="\n\n".join(parts)
    if ok: txt+=["\n\nDo you confirm? (yes/no)"," Would you like me to go ahead?","\n\nShall I proceed?"][style]
    a=yield Say(txt)
    if not ok:
        if a and style==0: a=yield Say("I understand your frustration, but I'm not able to make an exception to this policy. Is there anything else I can help you with?")
        if a: a=yield Say("I'm sorry, but I cannot make an exception here.")
        if a: yield Say("I'm sorry, that is not possible.")
        return
    for r in ok:
        c=r.call(w,SKILLS)
        yield c
    d='. '.join(x[:1].upper()+x[1:] for x in done)
    yield Say([f"{d}. Is there anything else I can help you with?",f"Done! {d}.",f"{d}. Have a wonderful day!"][style])
  return agent
if __name__=='__main__':
  import sys
  for env in ('tau2_retail_desk','tau2_retail_precondition'):
    for l in range(registry.level_count(env)):
      for st in range(3):
        go(env,l,plan(st),range(80),f'style{st}')
