from h import *
from datetime import date
def D(s): d=date.fromisoformat(s); return d.strftime('%B ')+str(d.day)+', '+str(d.year)
def meth(w,m):
    x=w.users[w.customer]['payment_methods'][m]
    return {'credit_card':lambda:f"{x['brand'].title()} credit card ending in {x['last_four']}",'gift_card':lambda:f"gift card"}[x['source']]()
def plan(style):
  def agent(w):
    yield Call('get_user_details',{'user_id':w.customer})
    ok=[];no=[]
    for r in w.requests:
        yield Call('get_reservation_details',{'reservation_id':r.record})
        (ok if r.verdict(w).allowed else no).append(r)
        if hasattr(r,'date'):
            b=w.reservations[r.record]
            yield Call('search_direct_flight',{'origin':b['origin'],'destination':b['destination'],'date':r.date})
        if type(r).__name__=='Upgrade':
            for f in w.reservations[r.record]['flights']:
                yield Call('search_direct_flight',{'origin':f['origin'],'destination':f['destination'],'date':f['date']})
    from trace_gym.targets.tau2.airline import SKILLS
    parts=[]; done=[]
    for r in ok:
        b=w.reservations[r.record]; c=r.call(w,SKILLS); n=len(b['passengers'])
        v=w.copy(); 
        from trace_gym.world import call_tool
        call_tool(v,c.tool,c.arguments)
        nb=v.reservations[r.record]
        t=type(r).__name__
        if t=='Cancel':
            x=policy.refund(b)
            if style==0:
                parts.append(f"**Cancellation of {r.record}** ({b['origin']} → {b['destination']}, {b['cabin']})\n- Refund: ${x} to your original payment method within 5–7 business days"); done.append(f"{r.record} has been cancelled and ${x} will be refunded to your original payment method within 5 to 7 business days")
            elif style==1:
                parts.append(f"I can cancel reservation {r.record}. You'd get a full refund of ${x}, back to the {meth(w,b['payment_history'][0]['payment_id'])}."); done.append(f"reservation {r.record} is cancelled (refund ${x})")
            else:
                parts.append(f"- Reservation {r.record} qualifies for cancellation, and the ${x:.2f} you paid would be returned to {b['payment_history'][0]['payment_id']}."); done.append(f"{r.record} is now cancelled and ${x:.2f} is on its way back to you")
        elif t in('Swap','Upgrade'):
            d=nb['payment_history'][-1]['amount'] if len(nb['payment_history'])>len(b['payment_history']) else 0
            old=sum(p['price'] for p in b['flights'])*n; new=sum(p['price'] for p in nb['flights'])*n
            f=nb['flights'][0]; m=meth(w,c.arguments['payment_id'])
            way=('charged to' if d>0 else 'refunded to')
            if t=='Swap':
                fl=w.flights[f['flight_number']]; 
                if style==0: parts.append(f"Here is the cheapest {b['cabin']} option on {D(r.date)} for {r.record}:\n\n- **Flight:** {f['flight_number']} ({b['origin']} → {b['destination']})\n- **Departure:** {fl['scheduled_departure_time_est'][:5]}\n- **Fare:** ${f['price']} (your current fare is ${b['flights'][0]['price']})\n- **Difference:** ${abs(d)} {way} your {m}")
                elif style==1: parts.append(f"I'd move {r.record} from {b['flights'][0]['flight_number']} to {f['flight_number']} on {r.date}, at ${f['price']} instead of ${b['flights'][0]['price']}. "+(f"That means an additional charge of ${d} on your {m}." if d>0 else f"You would get ${-d} back on your {m}." if d<0 else "There is no price difference."))
                else: parts.append(f"The flights on {r.date} are "+", ".join(f"{k} at ${q['dates'][r.date]['prices'][b['cabin']]} leaving {q['scheduled_departure_time_est'][:5]} ({q['dates'][r.date]['available_seats'][b['cabin']]} seats)" for k,q in w.flights.items() if r.date in q['dates'])+f". The cheapest that fits for {r.record} is {f['flight_number']}; the fare difference is ${abs(d)}.")
                done.append([f"{r.record} is now on flight {f['flight_number']} on {D(r.date)}. ${abs(d)} was {way} your {m}" if d else f"{r.record} is moved",f"I've rebooked {r.record} onto {f['flight_number']}; "+(f"you paid ${d} more" if d>0 else f"you receive a refund of ${-d}"),f"your trip {r.record} has been moved to {f['flight_number']}"][style])
            else:
                if style==0: parts.append(f"**Upgrade of {r.record} to business class**\n- Current fare: ${old} total\n- Business fare: ${new} total ({n} passenger{'s'*(n>1)})\n- **Difference: ${d}**, charged to your {m}")
                elif style==1: parts.append(f"Upgrading {r.record} from {b['cabin'].replace('_',' ')} to business costs ${d} more in total (${new} versus the ${old} you paid); I will charge that to your {m}.")
                else: parts.append(f"Flight {f['flight_number']} on {f['date']}: business is ${f['price']} per person, you paid ${b['flights'][0]['price']}, so the difference is ${f['price']-b['flights'][0]['price']} per passenger x {n} = ${d}, on your {m}. This is for {r.record}.")
                done.append([f"{r.record} is now in business class, and ${d} has been charged to your {m}",f"{r.record} was upgraded for ${d}",f"the upgrade of {r.record} to business is complete"][style])
        else: # Bags
            k=c.arguments['nonfree_baggages']-b['nonfree_baggages']; m=meth(w,c.arguments['payment_id']); tot=c.arguments['total_baggages']
            if style==0: parts.append(f"**Baggage for {r.record}**\n- Adding {r.extra} checked bag(s) → {tot} in total\n- Free allowance: {tot-c.arguments['nonfree_baggages']} used\n- Paid bags: {k} × $50 = ${50*k}, charged to your {m}")
            elif style==1: parts.append(f"I will add {r.extra} checked bags to {r.record}. As a {w.users[w.customer]['membership']} member "+(f"{k} of them must be paid at $50 each, so ${50*k} goes on your {m}." if k else "they are all free, so there is nothing to pay."))
            else: parts.append(f"{r.record} will have {tot} checked bags, {c.arguments['nonfree_baggages']} of which are not free. The total charge is ${50*k} to your {m}.")
            done.append(f"{r.extra} bags were added to {r.record}"+(f" and ${50*k} was charged to your {m}" if k else ' at no cost'))
    for r in no:
        b=w.reservations[r.record]; cr=b['created_at'][:10]
        if style==0: parts.append(f"Unfortunately, I'm not able to cancel **{r.record}**. It is a {b['cabin'].replace('_',' ')} ticket booked on {D(cr)}, which is more than 24 hours ago, and it has no travel insurance.")
        elif style==1: parts.append(f"I'm sorry, but {r.record} can't be cancelled: it was booked on {cr} (over 24 hours ago), it's in {b['cabin'].replace('_',' ')}, and there's no insurance on it that would cover this.")
        else: parts.append(f"Reservation {r.record} does not meet any of the conditions for a cancellation:\n- Booked within 24 hours: No (created {D(cr)})\n- Business class: No ({b['cabin']})\n- Insurance: No\n- Cancelled by the airline: No")
    txt="\n\n".join(parts)
    if ok: txt+=["\n\nWould you like me to proceed? (yes/no)"," Do you want me to go ahead with this?","\n\nPlease confirm and I'll take care of it."][style]
    a=yield Say(txt)
    if not ok:
        return
    if not a.startswith('Yes'): 
        a=yield Say("Shall I go ahead with "+(' and '.join(r.record for r in ok))+"?")
    for r in ok:
        yield r.call(w,SKILLS)
    d='. '.join(x[:1].upper()+x[1:] if i==0 or True else x for i,x in enumerate(done))
    yield Say([f"All set! {d}. Is there anything else I can help you with?",f"Done: {d}.",f"{d}. Have a great trip!"][style])
  return agent
if __name__=='__main__':
  import sys
  for env in ('tau2_structured_data','tau2_airline_desk','tau2_tool_precision'):
    for l in range(registry.level_count(env)):
      for st in range(3):
        go(env,l,plan(st),range(60),f'style{st}')
