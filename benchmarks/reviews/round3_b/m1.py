from h import *
from v1 import mon, CAB, policy
from trace_gym.targets.tau2.airline import Upgrade, Cancel
n='tau2_multi_step'
def info(ep):
    w=ep.start; items=[]
    for r in w.requests:
        b=w.reservations[r.record]; p=len(b['passengers'])
        if isinstance(r,Upgrade):
            d=0
            for f in b['flights']:
                pr=w.flights[f['flight_number']]['dates'][f['date']]['prices']['business']; d+=pr-f['price']
            items.append((r.record,'up',b,d*p,pr,p))
        elif r.verdict(w).allowed: items.append((r.record,'can',b,policy.refund(b),None,p))
        else: items.append((r.record,'no',b,0,None,p))
    return w,items
def mk(v):
    def f(t,k,ep):
        w,I=info(ep); card=next(iter(w.users[w.customer]['payment_methods'].values())); C=f"your {card['brand'].title()} ending in {card['last_four']}"
        tot=sum(x[3] for x in I if x[1]=='can'); ups=sum(x[3] for x in I if x[1]=='up')
        def line(x):
            c,k,b,a,pr,p=x
            if k=='can': return [f"Cancel {c} ({b['origin']} to {b['destination']}, business class): refund of ${a} to your original payment method",f"Reservation {c} will be cancelled and ${a} refunded to {C}",f"**{c}** – cancel; refund: ${a}",f"For {c}, I can cancel it and you'd get ${a} back"][v]
            if k=='up': return [f"Upgrade {c} to business class: "+(f"${a} charged to {C}" if a>=0 else f"${-a} refunded to {C}"),f"Reservation {c} will be upgraded from economy to business on {b['flights'][0]['flight_number']}; the fare goes from ${b['flights'][0]['price']} to ${pr} per person, a difference of ${abs(a)} for {p} passenger{'s'*(p>1)}, "+("charged to " if a>=0 else "refunded to ")+C,f"**{c}** – upgrade to business; "+(f"charge: ${a}" if a>=0 else f"refund: ${-a}"),f"For {c}, I can upgrade it to business for "+(f"an additional ${a}" if a>=0 else f"a refund of ${-a}")][v]
            return [f"Unfortunately, {c} cannot be cancelled: it is {CAB[b['cabin']]}, was booked on {mon(b['created_at'][:10])}, and has no travel insurance",f"I cannot cancel reservation {c}, because it was booked on {b['created_at'][:10]} (more than 24 hours ago) in {CAB[b['cabin']]} without insurance",f"**{c}** – not eligible for cancellation ({CAB[b['cabin']]}, booked on {b['created_at'][:10]}, no insurance)",f"I'm sorry, but {c} isn't eligible for cancellation. It's an {CAB[b['cabin']]} ticket booked on {mon(b['created_at'][:10])} and it isn't insured"][v]
        if 'Shall I' in t or 'I cannot' in t:
            s=[line(x) for x in I]
            if v in (0,2): return "I've reviewed your reservations. Here is what I can do:\n\n"+'\n'.join('- '+x for x in s)+(f"\n\nTotal refund: ${tot}" if tot and v==2 else '')+"\n\nWould you like me to proceed? (yes/no)"
            return '. '.join(s)+". Do you want me to go ahead with "+("all of this" if not any(x[1]=='no' for x in I) else "the rest")+"?"
        if 'exception' in t: return "I'm sorry, I can't make an exception."
        done=[x for x in I if x[1]!='no']
        return ["Everything has been processed:\n"+'\n'.join(f"- {x[0]}: "+(f"cancelled, ${x[3]} refund within 5 to 7 business days" if x[1]=='can' else "upgraded to business class") for x in done),
          "All done! "+' '.join(f"{x[0]} has been cancelled." if x[1]=='can' else f"{x[0]} is now in business class." for x in done)+(f" The total refund is ${tot}." if tot else ''),
          f"Done. Your {len(done)} requests have been completed. Is there anything else I can help you with?",
          "I've completed all the changes"+(f" except {[x[0] for x in I if x[1]=='no'][0]}, which stays as booked" if any(x[1]=='no' for x in I) else '')+"."][v]
    return f
def seqs(kind):
    def st(ep):
        w,I=info(ep); card=next(iter(w.users[w.customer]['payment_methods'].values())); out=[]; C=f"your card ending in {card['last_four']}"
        order=I if kind!='no first' else sorted(I,key=lambda x:x[1]!='no')
        calls={str(c.arguments.get('reservation_id')):c for c in w.copy().oracle() if isinstance(c,Call) and c.tool in('cancel_reservation','update_reservation_flights')}
        for i,x in enumerate(order):
            c,k,b,a,pr,p=x; last=i==len(order)-1
            out.append(Call('get_reservation_details',{'reservation_id':c}))
            nxt='' if last else f" Next, I'll look at {order[i+1][0]}."
            if k=='no': out.append(Say(f"I'm sorry, but I can't cancel {c}. It's in {CAB[b['cabin']]}, was booked on {mon(b['created_at'][:10])}, and has no insurance."+nxt)); continue
            if k=='can': out.append(Say(f"I can cancel {c}. The refund is ${a}. Shall I proceed?"))
            else: out.append(Say(f"I can upgrade {c} to business class. The price difference is ${abs(a)}, which will be {'charged' if a>=0 else 'refunded'} to {C}. Shall I proceed?"))
            out.append(calls[c])
            if kind!='silent': out.append(Say(f"{c} has been {'cancelled' if k=='can' else 'upgraded to business class'}."+nxt))
        if kind=='silent': out.append(Say("All of it is done now."))
        return out
    return st
if __name__=='__main__':
  for l in range(4):
    for v in range(4): rate(n,l,mk(v),ex=1,label=f'v{v}')
  for l in (1,2,3):
    for k in ('as named','no first','silent'): rate(n,l,steps=seqs(k),ex=1,label='seq '+k)
