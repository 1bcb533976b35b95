from rp import *
import collections
ALT={'Return':"However, I can process the return with the refund going to your original payment method ({pm}) or to a gift card on your profile. Would you like to proceed with one of those options?",
'Repay':"Would you like to use a different payment method instead?",
'Cancel':"If the order is no longer needed or was ordered by mistake, I'd be able to cancel it. Is either of those the case?",
'Readdress':"Is there anything else I can help you with?"}
rep=collections.Counter(); res=collections.Counter(); ex={}
def a(ep):
    w,r,o=info(ep); me=w.users[w.customer]; v=r.verdict(w)
    if 'identity' in w.withheld: yield Say("Could you please provide your email, or your name and zip code?")
    if w.known_by=='email': yield Call("find_user_id_by_email",{"email":me['email']})
    else: yield Call("find_user_id_by_name_zip",{**me['name'],"zip":me['address']['zip']})
    yield Call("get_order_details",{"order_id":r.order})
    if 'reason' in w.withheld: yield Say("Could you please tell me the reason for the cancellation?")
    t=r0(w,r,o,v)+' '+ALT[kind(r)].format(pm=M(w,policy.original(o)))
    x=yield Say(t); ep.x=x
    for i in range(3): x=yield Say("I understand. Unfortunately I can't make an exception to this policy.")
for lv in range(1,4):
    for s in range(200,300):
        w=ep_of(E,lv,s).world; r=w.requests[0]; o=w.orders[r.order]; v=r.verdict(w)
        if v.allowed or not own(w,o): continue
        k=kind(r)
        if k=='Return' and o['status']!='delivered': continue
        if k=='Cancel' and o['status']!='pending': continue
        ep=run(E,lv,s,a); ep.x=getattr(ep,'x','(ended)'); rep[(k,ep.x)]+=1; res[(k,ep.score.success)]+=1
        if not ep.score.success: ex.setdefault(k,log(ep))
print(res)
for k,n in rep.most_common(): print(n,k)
for k in ex: print(ex[k])
