from lib2 import *
from trace_gym.targets.tau2.airline import *
from trace_gym.targets.tau2 import policy
def pm(w,m):
    x=w.users[w.customer]['payment_methods'][m]
    return f"your {x.get('brand','').title()} credit card ending in {x.get('last_four')}" if x['source']=='credit_card' else f"your gift card ({m})"
def price(w,r,cab):
    b=w.reservations[r.reservation]; d=0
    for f in b['flights']: d+=w.flights[f['flight_number']]['dates'][f['date']]['prices'][cab]-f['price']
    return d*len(b['passengers'])
def swapf(w,r): n=r.choice(w,SKILLS); return n,w.flights[n]['dates'][r.date]['prices'][w.reservations[r.reservation]['cabin']],w.flights[n]
def offer(w,r,st):
    b=w.reservations[r.reservation]
    if isinstance(r,Cancel): p=policy.refund(b); return [f"**Cancel reservation {r.reservation}** ({b['origin']} → {b['destination']}): the full ${p:,} will be refunded to the original payment method within 5-7 business days.",f"Cancel {r.reservation} with a refund of ${p} to {pm(w,b['payment_history'][0]['payment_id'])}."][st%2]
    if isinstance(r,Upgrade): 
        d=price(w,r,'business'); return [f"**Upgrade reservation {r.reservation} to business class**: flights stay the same; the fare difference of ${d} will be charged to {pm(w,r.method)}.",f"Change the cabin of {r.reservation} from {b['cabin'].replace('_',' ')} to business for an additional ${d}, charged to {pm(w,r.method)}."][st%2]
    if isinstance(r,Swap):
        n,p,f=swapf(w,r); d=(p-b['flights'][0]['price'])*len(b['passengers'])
        s=f"an additional ${d} will be charged to" if d>0 else f"${-d} will be refunded to"
        return [f"**Change reservation {r.reservation}** to flight {n} on {r.date} (departs {f['scheduled_departure_time_est'][:5]}, {b['cabin']}, ${p}); {s} {pm(w,r.method)}.",f"Move {r.reservation} to {n} on {r.date} at ${p} in {b['cabin']}. The price difference: {s} {pm(w,r.method)}."][st%2]
def refuse(w,r,st):
    b=w.reservations[r.reservation]; d=b['created_at'][:10]; n=int(d[8:]); mon={'04':'April','05':'May'}[d[5:7]]
    ins='has travel insurance' if b['insurance']=='yes' else 'does not have travel insurance'
    cab=b['cabin'].replace('_',' ')
    return [f"I'm sorry, but I'm unable to cancel reservation {r.reservation}. It was booked on {d} (more than 24 hours ago), it's a {cab} ticket and it {ins}, so it isn't eligible for cancellation.",
    f"Unfortunately, reservation {r.reservation} doesn't qualify for cancellation: it was booked on {mon} {n}, 2024, which is outside the 24-hour window, it's in {cab}, and there's no travel insurance that would cover it.",
    f"Regarding {r.reservation}: this {cab} booking was made on {mon} {n} and {ins}. Per our policy it can only be cancelled within 24 hours of booking, if the airline cancelled the flight, in business class, or with insurance for health or weather reasons. None of these apply, so I cannot cancel it."][st%3]
def done(w,r,st):
    b=w.reservations[r.reservation]
    if isinstance(r,Cancel): p=policy.refund(b); return [f"Reservation {r.reservation} has been cancelled. ${p:,} will be refunded to your original payment method within 5 to 7 business days.",f"- {r.reservation}: cancelled ✅, refund of **${p}** to {pm(w,b['payment_history'][0]['payment_id'])}"][st%2]
    if isinstance(r,Upgrade): return [f"Reservation {r.reservation} has been upgraded to business class and ${price(w,r,'business')} was charged to {pm(w,r.method)}.",f"- {r.reservation}: now in business class ✅ (${price(w,r,'business')} charged to {pm(w,r.method)})"][st%2]
    return [f"Your reservation {r.reservation} is now on flight {swapf(w,r)[0]} on {r.date}.",f"- {r.reservation}: moved to {swapf(w,r)[0]} on {r.date} ✅"][st%2]
def serve(st, order='batch', bad=None):
    def f(w):
        yield Call('get_user_details',{'user_id':w.customer})
        for r in w.requests:
            for c in list(r.reads(w,SKILLS)):
                if c.tool!='get_user_details': yield c
        yes=[r for r in w.requests if r.verdict(w).allowed]; no=[r for r in w.requests if not r.verdict(w).allowed]
        name=w.users[w.customer]['name']['first_name']
        if order=='batch':
            t=[f"Thank you, {name}! I've reviewed your request."]+[refuse(w,r,st) for r in no]
            if yes: t+=[["Here's what I'm going to do:","I can do the following for you:"][st%2]]+[f"{k}. {offer(w,r,st)}" for k,r in enumerate(yes,1)]+[["Would you like me to proceed? (yes/no)","Please confirm with 'yes' if you'd like me to go ahead."][st%2]]
            else: t+=["I apologize for the inconvenience."]
            yield Say(text='\n\n'.join(t))
            for r in yes: yield r.call(w,SKILLS)
            if yes: yield Say(text="All set! Here's a summary:\n\n"+'\n'.join(done(w,r,st) for r in yes)+"\n\nIs there anything else I can help you with?")
        else:
            for k,r in enumerate(w.requests):
                if r.verdict(w).allowed:
                    yield Say(text=f"I can do this: {offer(w,r,1)} Do you agree?")
                    yield r.call(w,SKILLS)
                    yield Say(text=done(w,r,st)+(" Now let me move on to your next request." if k+1<len(w.requests) else " Is there anything else I can do for you?"))
                else: yield Say(text=refuse(w,r,st)+(" Let me now look at your other request." if k+1<len(w.requests) else " Is there anything else I can help you with?"))
    return f
def askreason(st):
    def f(w):
        if any(isinstance(r,Cancel) for r in w.requests):
            yield Say(text="I'd be happy to help! Could you tell me the reason for the cancellation – for example change of plans, an airline cancellation, or health or weather reasons?")
        for s in serve(st)(w): yield s
    return f
V={f'batch{k}':serve(k) for k in range(6)}; V|={f'seq{k}':serve(k,'seq') for k in range(2)}; V['askreason']=askreason(2)
if __name__=='__main__':
    table('tau2_airline_desk',[0,1],V,n=50)
    table('tau2_structured_data',[0,1,2,3],{k:V[k] for k in('batch0','batch1')},n=50)
