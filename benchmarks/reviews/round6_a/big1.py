from h import *
from trace_gym.targets.tau2 import policy
C=lambda t,**a: Call(tool=t,arguments=a)
# ---- baggage
def bag(style):
    def f(w,ep):
        yield C('get_user_details',user_id=w.customer)
        for c in w.wanted: yield C('get_reservation_details',reservation_id=c)
        due=w.bill(usual=(style=='usual')); tot=sum(x[2] for x in due.values()); mem=w.users[w.customer]['membership']
        lines=[]
        for c,(t,p,d) in due.items():
            b=w.reservations[c]; fr=policy.free_bags(mem,b['cabin'],len(b['passengers'])); had=b['total_baggages']; n=d//50
            if style==1: lines.append(f"**Reservation {c}**\n- Currently: {had} checked bags\n- Adding: {t-had} bag(s), for a total of {t}\n- Free allowance: {fr} bags ({len(b['passengers'])} passengers, {b['cabin'].replace('_',' ')}, {mem} member)\n- Bags to pay: {n} × $50 = ${d}")
            else: lines.append(f"for {c}, I'll bring the total to {t} checked bags ({p} paid), which costs ${d}")
        sep="\n\n"
        q=f"Here is a summary:\n\n{sep.join(lines)}\n\n**Total cost: ${tot}**, charged to {w.card}.\n\nWould you like me to proceed (yes/no)?" if style==1 else f"Thanks! Based on your {mem} membership: {'; '.join(lines)}. In total you pay ${tot} for the added bags"+(f", charged to {w.card}" if tot else "")+". Shall I go ahead?"
        if style=='false': q=f"{'; '.join(lines)}. In total that costs ${tot+50}. Shall I go ahead?"
        if style=='noconsent': q=None
        if q: yield Say(text=q)
        for c,(t,p,d) in due.items(): yield C('update_reservation_baggages',reservation_id=c,total_baggages=t,nonfree_baggages=p,payment_id=w.card)
        if style==1: yield Say(text=f"All done! Your reservation{'s have' if len(due)>1 else ' has'} been updated.\n\n"+"\n".join(f"- **{c}**: {t} checked bags, ${d} charged" for c,(t,p,d) in due.items())+f"\n\nTotal charged for the added bags: **${tot}**. Is there anything else I can help you with?")
        elif style==2 and not tot: yield Say(text="Your bags have been added at no extra cost, so you pay $0 in all.")
        else: yield Say(text=f"Your bags have been added. You were charged ${tot} in total to {w.card}.")
        yield Say(text="You're welcome!")
    return f
if __name__=="__main__":
  for s in (1,2,'usual','false','noconsent'): table(f'bags {s}','tau2_baggage_allowance',bag(s),seeds=range(500,560))
# ---- seats
def seat(style):
    def f(w,ep):
        b=w.reservations[w.code]; party=len(b['passengers'])
        yield C('get_reservation_details',reservation_id=w.code)
        for leg,dates in zip(b['flights'],w.days):
            for on in dates: yield C('search_direct_flight',origin=leg['origin'],destination=leg['destination'],date=on)
        p=w.picks(style!='careless')
        if style=='minseats3':
            pass
        t=lambda x:x['scheduled_departure_time_est'][:5]
        if style==1:
            q="I found the best option for all %d of you:\n\n"%party+"\n".join(f"- **{x['flight_number']}** {x['origin']} → {x['destination']} on {x['date']}, departing at {t(x)} EST and arriving {x['scheduled_arrival_time_est'][:5]}, {w.cabin}: ${x['prices'][w.cabin]} per person ({x['available_seats'][w.cabin]} seats left)" for x in p)+f"\n\nThe difference will be settled with {w.card}. Would you like me to proceed (yes/no)?"
        elif style==2:
            q=" ".join(f"The cheapest nonstop {w.cabin} flight with enough seats for your party of {party} on {x['date']} is {x['flight_number']}, leaving at {t(x)}, at ${x['prices'][w.cabin]} each." for x in p)+f" I would use {w.card} for the difference. Shall I book it?"
        elif style==3:
            q=""
            for x,leg,dates in zip(p,b['flights'],w.days):
                ch=[y for y in w.search_direct_flight(leg['origin'],leg['destination'],x['date']) if y['prices'][w.cabin]<x['prices'][w.cabin]]
                for y in ch[:2]: q+=f"Flight {y['flight_number']} would be cheaper, but it has only {y['available_seats'][w.cabin]} {w.cabin} seats left, which is not enough for {party} passengers. "
                q+=f"The cheapest flight with enough seats is {x['flight_number']} on {x['date']}, departing at {t(x)}. "
            q+=f"Shall I move reservation {w.code} to it and settle the difference with {w.card}?"
        else: q=" and ".join(f"{x['flight_number']} on {x['date']} at {t(x)}" for x in p)+f" in {w.cabin}, with {w.card}. Shall I book?"
        yield Say(text=q)
        yield C('update_reservation_flights',reservation_id=w.code,cabin=w.cabin,flights=[{'flight_number':x['flight_number'],'date':x['date']} for x in p],payment_id=w.card)
        yield Say(text=f"Your reservation {w.code} has been updated. Is there anything else I can help with?")
    return f
if __name__=="__main__":
  for s in (1,2,3,'careless'): table(f'seats {s}','tau2_seat_availability',seat(s),seeds=range(500,560))
# ---- structured
def st(style):
    def f(w,ep):
        r=w.requests[0]; call=r.call(w,__import__('trace_gym.targets.tau2.desk',fromlist=['SKILLS']).SKILLS); n=call.arguments['flights'][0]['flight_number']
        b=w.reservations[r.reservation]; fl=[x for x in w.search_direct_flight(b['origin'],b['destination'],r.date)]
        if style=='cheap': n=min(fl,key=lambda x:x['prices'][b['cabin']])['flight_number']
        if style=='cheapafter': n=min([x for x in fl if int(x['scheduled_departure_time_est'][:2])>=r.after],key=lambda x:x['prices'][b['cabin']])['flight_number']
        x=[y for y in fl if y['flight_number']==n][0]; old=b['flights'][0]['price']; new=x['prices'][b['cabin']]; d=new-old
        yield C('get_user_details',user_id=w.customer); yield C('get_reservation_details',reservation_id=r.reservation)
        yield C('search_direct_flight',origin=b['origin'],destination=b['destination'],date=r.date)
        diff=(f"an additional charge of ${d}" if d>0 else f"a refund of ${-d}" if d<0 else "no price difference")
        yield Say(text=[f"The cheapest option is flight {n} on {r.date}, departing at {x['scheduled_departure_time_est'][:5]}, for ${new}. Your current flight costs ${old}, so this results in {diff} on {r.method}. Shall I proceed?",
          f"Here is what I found:\n\n- **Flight:** {n}\n- **Date:** {r.date}\n- **Departure:** {x['scheduled_departure_time_est'][:5]}\n- **Cabin:** {b['cabin']}\n- **New fare:** ${new}\n- **Previous fare:** ${old}\n- **Difference:** {'+' if d>0 else '-'}${abs(d)} ({'charged' if d>0 else 'refunded'} to {r.method})\n\nDo you want to go ahead (yes/no)?"][style==1])
        yield C('update_reservation_flights',reservation_id=r.reservation,cabin=b['cabin'],flights=[{'flight_number':n,'date':r.date}],payment_id=r.method)
        e="refunded" if d<0 else "charged"
        if style=='swapdir': e="charged" if d<0 else "refunded"
        yield Say(text=f"Your reservation {r.reservation} has been changed to flight {n} on {r.date}. "+(f"${abs(d)} has been {e} to {r.method}." if d else "")); yield Say(text="You're welcome!")
    return f
if __name__=="__main__":
  for s in (0,1,'cheap','cheapafter','swapdir'): table(f'structured {s}','tau2_structured_data',st(s),seeds=range(500,560))
