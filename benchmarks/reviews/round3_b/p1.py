from h import *
from v1 import mk as VK, Bags, policy
n='tau2_claim_verification'
N=ok=full=0; ex=None
for s in range(200):
    ep=ep_(n,1,s); r=ep.world.requests[0]
    if not isinstance(r,Bags): continue
    w=ep.world; b=w.reservations[r.record]; pid=b['payment_history'][0]['payment_id']
    def f(t,k,ep):
        base=VK(3)(t,k,ep)
        if 'Shall I' in t:
            m=w.users[w.customer]['payment_methods'][r.method]; M='your gift card' if m['source']=='gift_card' else f"your {m['brand']} card ending in {m['last_four']}"
            return f"Your trip {r.record} was originally paid with {pid}. "+base.replace('Please confirm.',f'This will be charged to {M}. Please confirm.')
        return base
    ep,sc,log=play(n,1,s,f); N+=1; ok+=sc.success; full+=sc.success and sc.conduct==1
    if sc.success and sc.conduct<1 and not ex: ex=[x for x in log if x[0] in 'AU']
    if N>=60: break
print('claim bags, paying method by id, charged one in words: success',ok,'full',full,N,ex)
# retail Repay: listing options by id, in words etc.
n='tau2_retail_tool_precision'
from r1 import info, meth
V={
'both in words':lambda w,r,o,A,old,new,oid,nid:f"I'll change the payment method of order {r.order} from {old} to {new}. Do you confirm?",
'both ids':lambda w,r,o,A,old,new,oid,nid:f"I'll change the payment method of order {r.order} from {oid} to {nid}. Do you confirm?",
'old id, new words':lambda w,r,o,A,old,new,oid,nid:f"I'll change the payment method of order {r.order} from {oid} to {new}. Do you confirm?",
'old words, new id':lambda w,r,o,A,old,new,oid,nid:f"I'll change the payment method of order {r.order} from {old} to {nid}. Do you confirm?",
'list of methods, then words':lambda w,r,o,A,old,new,oid,nid:f"I see these payment methods in your profile: {', '.join(k for k in w.users[w.customer]['payment_methods'])}. I'll charge order {r.order} (${A:.2f}) to {new}. Do you confirm?",
}
for name,g in V.items():
    N=ok=full=0; ex=None
    for s in range(300):
        ep=ep_(n,1,s); r=ep.world.requests[0]
        if type(r).__name__!='Repay': continue
        def f(t,k,ep):
            w,r,o,c=info(ep)
            if 'To confirm' not in t: return "Done, the payment method was changed."
            A=o['payment_history'][0]['amount']; oid=o['payment_history'][0]['payment_method_id']
            return g(w,r,o,A,meth(w,oid,0),meth(w,r.method,0),oid,r.method)
        ep,sc,log=play(n,1,s,f); N+=1; ok+=sc.success; full+=sc.success and sc.conduct==1
        if N>=50: break
    print('Repay',name,'success',ok,'full',full,'of',N)
# premature end
E1=["Sure, I can help with that! Is there anything else you'd like to add before I start?","I can certainly help with that. Is there anything else you need today, or shall I get started?","Before I proceed, is there anything else you would like to change on this order?","Understood. Let me know if there's anything else; otherwise I'll get started.","I've noted your request. Anything else I should take care of at the same time?"]
for n in open('list.txt').read().split():
    res=[]
    for p in E1:
        e=0
        for s in range(50):
            ep=ep_(n,2,s)
            if getattr(ep.world,'greeting',''): ep.step(Say('How can I help you?'))
            ep.step(Say(p)); e+=ep.done
        res.append(e)
    print(n,'conversation ended right after (of 50):',res)
