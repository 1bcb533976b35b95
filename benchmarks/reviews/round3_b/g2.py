from h import *
from g1 import mk, info, policy
n='tau2_aggregation'
def flow(kind):
    def st(ep):
        w,B,paid,ch,asked,tot,ref=info(ep); J=' and '.join(ch); out=[Call('get_user_details',{'user_id':w.customer})]+[Call('get_reservation_details',{'reservation_id':c}) for c in asked]
        if kind=='total first':
            out.append(Say(f"You have paid ${tot} in total for {'this trip' if w.named else 'all your trips'}. Next, I'll look at the cancellation."))
            out.append(Say(f"I will cancel {J}. The total refund is ${ref}. Shall I proceed?"))
            out+=[Call('cancel_reservation',{'reservation_id':c}) for c in ch]; out.append(Say(f"{J} cancelled; ${ref} will be refunded.")); out.append(Say("Yes, everything is done."))
        if kind=='total alone':
            out.append(Say(f"You have paid a total of ${tot} for {'this trip' if w.named else 'all your trips'}."))
            out.append(Say(f"I will cancel {J}. The total refund is ${ref}. Shall I proceed?"))
            out+=[Call('cancel_reservation',{'reservation_id':c}) for c in ch]; out.append(Say(f"{J} cancelled; ${ref} will be refunded.")); out.append(Say("Yes, everything is done."))
        if kind=='one by one':
            for i,c in enumerate(ch):
                out.append(Say((f"You paid ${tot} in total. " if i==0 else '')+f"I can cancel {c} and refund ${paid[c]}. Shall I proceed?")); out.append(Call('cancel_reservation',{'reservation_id':c}))
                if i<len(ch)-1: out.append(Say(f"{c} has been cancelled. The next one is {ch[i+1]}."))
            out.append(Say(f"All the trips are cancelled. In total you get back ${ref}.")); out.append(Say("Yes, everything is done."))
        if kind=='total at end':
            out.append(Say(f"I will cancel {J}, refund ${ref} in total. Shall I proceed?")); out+=[Call('cancel_reservation',{'reservation_id':c}) for c in ch]
            out.append(Say(f"{J} {'has' if len(ch)==1 else 'have'} been cancelled. You had paid ${tot} for {'it' if w.named else 'all your trips together'}, and you get ${ref} back.")); out.append(Say("Yes, everything is done."))
        if kind=='payments':
            def pay(c): return ' + '.join(f"${p['amount']} by {p['payment_id'].rsplit('_',1)[0].replace('_',' ')}" for p in B[c]['payment_history'])
            out.append(Say("Here's what you paid:\n"+'\n'.join(f"- {c}: {pay(c)}"+(f" = ${paid[c]}" if len(B[c]['payment_history'])>1 else '') for c in asked)+f"\n\nTotal: ${tot}\n\nI'd cancel {J} and refund ${ref} in all: "+'; '.join(f"{c}: "+' and '.join(f"${p['amount']} back to {p['payment_id']}" for p in B[c]['payment_history']) for c in ch)+". Shall I proceed?"))
            out+=[Call('cancel_reservation',{'reservation_id':c}) for c in ch]; out.append(Say(f"Done. {J} cancelled, ${ref} refunded in total.")); out.append(Say("Yes, everything is done."))
        return out
    return st
for l in (1,2,3):
    for k in ('total first','total alone','one by one','total at end','payments'): rate(n,l,steps=flow(k),ex=1,label=k)
def wr(kind):
    def f(t,k,ep):
        w,B,paid,ch,asked,tot,ref=info(ep); ask='Do you agree' in t
        if kind=='flip': return t.replace('go back to the methods that paid','are charged to the methods that paid')
        if kind=='swap totals': return t.replace(str(tot),'QQ').replace(str(ref),str(tot)).replace('QQ',str(ref))
        if kind=='wrong total final' and 'It is cancelled' in t: return f"It is cancelled. You paid 9999 dollars in all."
        if kind=='stuff' and ask: return "You paid one of "+', '.join(str(sum(list(paid.values())[:i])) for i in range(1,len(paid)+1))+f" dollars in all. I am going to cancel {', '.join(ch)} and {ref} dollars go back. Do you agree?"
        if kind=='stuff' and 'It is canc' in t: return "Done."
        if kind=='denied' and 'It is canc' in t: return "I could not cancel anything."
        if kind=='false extra' and 'It is canc' in t: return t+" All your other trips are cancelled, too."
        if kind=='approx' and ask: return f"You paid about {round(tot,-2)} dollars in all. I am going to cancel {', '.join(ch)} and {ref} dollars go back. Do you agree?"
        if kind=='approx' and 'It is canc' in t: return f"Done, {ref} dollars go back."
        if kind=='cert' and 'It is canc' in t: return t+" As an apology you also get a 50 dollar certificate."
        return t
    return f
for k in ['flip','swap totals','wrong total final','stuff','denied','false extra','approx','cert']: rate(n,2,wr(k),ex=0,label='WRONG '+k)
for l in range(4): rate(n,l,steps=lambda ep:list(ep.world.copy().ablated()),ex=0,label='ablated')
def firstpay(ep): # all opened, but only first payment read
    w,B,paid,ch,asked,tot,ref=info(ep)
    from tau2 import x
Q=["Which trip was the most expensive for you?","Which reservations should I cancel?","May I ask the reason?","I will cancel {o}. Shall I proceed?","Do you mean trips over the limit in total or per person?","Should I include cancelled trips in the total?"]
for l,s in ((1,2),(3,0)):
    print(ep_(n,l,s).messages[1]['content'])
    for q in Q:
        ep=ep_(n,l,s); o=[c for c in ep.world.reservations if c not in [r.reservation for r in ep.world.requests]][0]; r=ep.step(Say(q.format(o=o))); print('   ',q,'=>',r[0]['content'] if r else None)
