from rp import *
import collections
def alt(text,act):
    def a(ep):
        w,r,o=info(ep); me=w.users[w.customer]; v=r.verdict(w)
        if 'identity' in w.withheld: yield Say("Could you please provide your email, or your name and zip code?")
        if w.known_by=='email': yield Call("find_user_id_by_email",{"email":me['email']})
        else: yield Call("find_user_id_by_name_zip",{**me['name'],"zip":me['address']['zip']})
        yield Call("get_order_details",{"order_id":r.order})
        x=yield Say(text(w,r,o,v)); ep.x=x
        if x.startswith('Yes'):
            yield act(w,r,o); ep.did=1
            yield Say({'Return':f"Your return for order {r.order} has been submitted. ${amt(w,r,o):.2f} will be refunded to your {M(w,policy.original(o))}.",'Repay':"The payment has been changed."}[kind(r)])
        yield Say("Thanks for contacting us."); yield Say("Goodbye.")
    return a
T={'Return':(lambda w,r,o,v: f"I'm sorry, but the refund for a return can't go to your {M(w,r.method)}, since refunds can only go to the original payment method or a gift card. The order is {o['status']} and ${policy.paid(o):.2f} was paid for it. I can process the return with the refund of ${amt(w,r,o):.2f} to your original payment method ({M(w,policy.original(o))}) instead. Would you like me to proceed with that?",
 lambda w,r,o: Call('return_delivered_order_items',{'order_id':r.order,'item_ids':r.items,'payment_method_id':policy.original(o)})),
'Repay':(lambda w,r,o,v: f"I'm sorry, but I can't charge order {r.order} to your gift card: its balance doesn't cover the full amount of ${policy.paid(o):.2f}. The order is {o['status']}. I could change the payment to your {[m['source'] for m in w.users[w.customer]['payment_methods'].values() if m['source']!='gift_card' and m['id']!=policy.original(o)][0].replace('_',' ')} instead. Would you like me to do that?",
 lambda w,r,o: Call('modify_pending_order_payment',{'order_id':r.order,'payment_method_id':[m['id'] for m in w.users[w.customer]['payment_methods'].values() if m['source']!='gift_card' and m['id']!=policy.original(o)][0]}))}
cnt=collections.Counter(); c2=collections.Counter(); ex={}
for lv in range(4):
    for s in range(200,500):
        w=ep_of(E,lv,s).world; r=w.requests[0]; o=w.orders[r.order]; v=r.verdict(w)
        if v.allowed or not own(w,o) or kind(r) not in T: continue
        if kind(r)=='Return' and o['status']!='delivered': continue
        ep=run(E,lv,s,alt(*T[kind(r)])); x=getattr(ep,'x','(ended)'); cnt[(lv,kind(r),x[:40],'wrote' if hasattr(ep,'did') else 'no write',ep.score.success)]+=1
        ex.setdefault((kind(r),ep.score.success),log(ep))
for k,n in sorted(cnt.items()): print(n,'of 300 seeds',k)
for k in ex: print(k); print(ex[k])
