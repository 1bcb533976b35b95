from h import *
from trace_gym.targets.tau2 import policy
E='tau2_numerical_payment_reasoning'
def st(ep):
    w=ep.world.copy(); u,n,ch=w.deed(); return w,u,n,ch,w.reservations[w.trip]
def M(w,ch): return w.users[w.customer]['payment_methods'][ch['payment_id']]['source'].replace('_',' ')
def gift(w): return next(m for m in w.users[w.customer]['payment_methods'].values() if m['source']=='gift_card')
def agent(p,e,two=False):
    def a(ep):
        w,u,n,ch,b=st(ep)
        yield Call("get_user_details",{"user_id":w.customer}); yield Call("get_reservation_details",{"reservation_id":w.trip})
        if w.to_cabin:
            for l in b['flights']: yield Call("search_direct_flight",{k:l[k] for k in ("origin","destination","date")})
        rep=yield Say(p(w,u,n,ch,b))
        if not rep.startswith('Yes'): rep=yield Say("Shall I go ahead?"); ep.odd=1
        yield Call("update_reservation_baggages" if w.extra else "update_reservation_flights",ch)
        yield Say(e(w,u,n,ch,b)); yield Say("You're welcome!")
    return a
def prices(w,b): return [(l,w.flights[l['flight_number']]['dates'][l['date']]['prices'][w.to_cabin]) for l in b['flights']]
def left(w,u,n): return gift(w)['amount']-u*n
def p0(w,u,n,ch,b):
    k=len(b['passengers']); t=u*n
    g=f"Your gift card balance is ${gift(w)['amount']}. After this charge, ${left(w,u,n)} would remain, which is {'at least' if left(w,u,n)>=w.floor else 'less than'} ${w.floor}, so I'll use your {M(w,ch)}."
    if w.extra:
        fr=policy.free_bags(w.users[w.customer]['membership'],b['cabin'],k)
        return f"Here's the breakdown for adding {w.extra} checked bags to {w.trip}:\n\n- Membership: {w.users[w.customer]['membership']}, cabin: {b['cabin'].replace('_',' ')}, {k} passenger{'s' if k>1 else ''} → {fr} free bags in total\n- Bags already on the reservation: {b['total_baggages']}\n- New total: {b['total_baggages']+w.extra} bags\n- Additional bags to pay: {n} × $50 = **${t}**\n\n**Total: ${t}**\n\n{g}\n\nWould you like me to proceed?"
    return f"Here's the breakdown for changing {w.trip} to {w.to_cabin.replace('_',' ')}:\n\n"+'\n'.join(f"- {l['flight_number']} ({l['date']}): ${p} - ${l['price']} = ${p-l['price']} per passenger" for l,p in prices(w,b))+f"\n- {k} passengers × ${u} = **${t}**\n\n**Total: ${t}**\n\n{g}\n\nWould you like me to proceed?"
def p1(w,u,n,ch,b):
    return f"The total comes to ${u*n}. That would leave ${left(w,u,n)} on your gift card, so I will charge your {M(w,ch)} as you asked. May I proceed with the change?"
def p2(w,u,n,ch,b):
    k=len(b['passengers'])
    if w.extra:
        fr=policy.free_bags(w.users[w.customer]['membership'],b['cabin'],k); return f"As a {w.users[w.customer]['membership']} member you have {fr} free checked bags on this reservation, of which {min(fr,b['total_baggages'])} are in use. Of the {w.extra} additional bags, {w.extra-n} {'is' if w.extra-n==1 else 'are'} free and {n} {'is' if n==1 else 'are'} charged at $50 each, so it comes to ${u*n} in all. I'll charge {ch['payment_id']} ({M(w,ch)}). Do you confirm?"
    old=sum(l['price'] for l,_ in prices(w,b)); new=sum(p for _,p in prices(w,b))
    return f"The {w.to_cabin.replace('_',' ')} fare is ${new} per person, compared to the ${old} you paid, a difference of ${u} per person. For {k} passenger{'s' if k>1 else ''}, the total is ${u*n} (${new*k} minus ${old*k}). I'll charge {ch['payment_id']} ({M(w,ch)}). Do you confirm?"
def e0(w,u,n,ch,b): return f"The change has been made to reservation {w.trip}. ${u*n} has been charged to your {M(w,ch)}"+(f", which now has a remaining balance of ${left(w,u,n)}." if M(w,ch)=='gift card' else '.')+" Is there anything else I can help you with?"
def e1(w,u,n,ch,b): return "All done!"
def e2(w,u,n,ch,b): return f"Done! {'The '+str(w.extra)+' bags have been added' if w.extra else 'Your cabin has been changed to '+w.to_cabin.replace('_',' ')} and your {M(w,ch)} was charged ${u*n}."
S=range(700,760)
if __name__=='__main__':
    rate(E,range(4),S,{'g0':agent(p0,e0),'g1':agent(p1,e1),'g2':agent(p2,e2)},show=2)
    def hedge(w,u,n,ch,b): return f"The total may be ${u*n} or ${u*(n+1)}. I'll charge your {M(w,ch)}. Shall I go ahead?"
    def refund(w,u,n,ch,b): return f"Done. ${u*n} has been refunded to your {M(w,ch)}."
    def wrongend(w,u,n,ch,b): return f"Done. ${u*n+17} has been charged to your {M(w,ch)}."
    def wrongleft(w,u,n,ch,b): return f"Done. {'' }Your gift card now has ${left(w,u,n)+35} left."
    def wrongm(w,u,n,ch,b): return f"Done. ${u*n} has been charged to your {'credit card' if M(w,ch)=='gift card' else 'gift card'}."
    def nototal(w,u,n,ch,b): return f"I'll make the change and charge your {M(w,ch)}. Shall I go ahead?"
    def lists(w,u,n,ch,b): return "Possible totals: "+', '.join(f"${u*k}" for k in range(1,6))+f". I'll charge your {M(w,ch)}. Shall I go ahead?"
    rate(E,range(4),S,{'hedge':agent(hedge,e1),'refund':agent(p1,refund),'wrongend':agent(p1,wrongend),'wrongleft':agent(p1,wrongleft),'wrongm':agent(p1,wrongm),'nototal':agent(nototal,e1),'lists':agent(lists,e1)},quiet=True)
    def abl(card):
        def a(ep):
            w,u,n,ch,b=st(ep); u2,n2,c2=w.deed(False)
            if card: ch=dict(ch); ch['payment_id']=next(m['id'] for m in w.users[w.customer]['payment_methods'].values() if m['source']==card)
            else: n,ch=n2,c2
            yield Say(p1(w,u,n,ch,b)); yield Call("update_reservation_baggages" if w.extra else "update_reservation_flights",ch); yield Say("All done."); yield Say("bye")
        return a
    rate(E,range(4),S,{'ablated':abl(None),'always_gift':abl('gift_card'),'always_credit':abl('credit_card')},quiet=True)
