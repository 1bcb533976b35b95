from h import *
from datetime import date
def D(s): d=date.fromisoformat(s); return d.strftime('%B ')+str(d.day)+', '+str(d.year)
def T12(t):
    h,m=int(t[:2]),t[3:5]; return f"{(h-1)%12+1}:{m} {'AM' if h<12 else 'PM'}"
def allf(w):
    out=[]
    for leg,dates in zip(w.reservations[w.code]['flights'],w.days):
        out.append([(on,f) for on in dates for f in w.copy().search_direct_flight(leg['origin'],leg['destination'],on)])
    return out
def mk(style):
  def agent(w):
    b=w.reservations[w.code]; n=len(b['passengers']); new=w.picks(True); c=w.cabin
    yield Call('get_reservation_details',{'reservation_id':w.code}); yield Call('get_user_details',{'user_id':w.customer})
    for leg,dates in zip(b['flights'],w.days):
        for on in dates: yield Call('search_direct_flight',{'origin':leg['origin'],'destination':leg['destination'],'date':on})
    old=sum(f['price'] for f in b['flights'])*n; tot=sum(f['prices'][c] for f in new)*n; d=tot-old
    P=[]
    for f,pool,dates in zip(new,allf(w),w.days):
        dep=f['scheduled_departure_time_est'][:5]; cheaper=[(on,x) for on,x in pool if x['prices'][c]<f['prices'][c] and on==f['date'] and x['available_seats'][c]<n]
        arr=f['scheduled_arrival_time_est'][:5]
        if style==0: P.append(f"**{f['flight_number']}** on {D(f['date'])}\n- Departs: {dep} EST, arrives: {arr} EST\n- {c.capitalize()} fare: ${f['prices'][c]} per person × {n} = ${f['prices'][c]*n}\n- Seats available: {f['available_seats'][c]}")
        elif style==1: P.append(f"The cheapest nonstop flight with enough {c} seats for all {n} of you is {f['flight_number']} on {D(f['date'])}, leaving at {T12(dep)}, at ${f['prices'][c]} per person.")
        elif style==2: P.append((f"{dates[0]} has no flight with enough seats for your group, so I looked at {f['date']}. " if f['date']!=dates[0] else '')+(''.join(f"{x['flight_number']} is cheaper at ${x['prices'][c]}, but only has {x['available_seats'][c]} {c} seats left. " for on,x in cheaper))+f"The cheapest flight with room for {n} is {f['flight_number']} on {f['date']}, which departs at {dep} for ${f['prices'][c]} each.")
        elif style==3: P.append(f"Here are the flights on {D(f['date'])}:\n"+'\n'.join(f"- {x['flight_number']}: {x['scheduled_departure_time_est'][:5]}, ${x['prices'][c]}, {x['available_seats'][c]} seats"+(' (not enough seats)' if x['available_seats'][c]<n else '') for on,x in pool if on==f['date'])+f"\n\nThe cheapest with enough seats for {n} is {f['flight_number']}, departing at {dep}.")
        elif style==4: P.append(f"For {n} passenger{'s'*(n>1)}, the best option is {f['flight_number']} ({b['origin']}–{b['destination']}), {f['date']}, departure {dep}, arrival {arr}. "+("A cheaper flight exists but doesn't have enough seats for everyone. " if cheaper else ''))
        else: P.append(f"| Flight | Date | Departure | Fare | Seats |\n|---|---|---|---|---|\n| {f['flight_number']} | {f['date']} | {dep} | ${f['prices'][c]} | {f['available_seats'][c]} |")
    x=w.card
    t='\n\n'.join(P)+(f"\n\nThe total fare difference is ${abs(d)}, which will be {'charged to' if d>0 else 'refunded to'} {x}." if style!=4 else '')+["\n\nWould you like me to proceed with this change? (yes/no)"," Shall I book it?"," Shall I go ahead?","\n\nDo you confirm?"," Would you like me to make this change?","\n\nPlease confirm that I should make this change."][style]
    yield Say(t)
    yield Call('update_reservation_flights',{'reservation_id':w.code,'cabin':c,'flights':[{'flight_number':f['flight_number'],'date':f['date']} for f in new],'payment_id':x})
    yield Say(f"Your reservation {w.code} has been updated. Everyone is now on "+' and '.join(f"{f['flight_number']} on {D(f['date'])} departing at {f['scheduled_departure_time_est'][:5]}" for f in new)+f". The difference of ${abs(d)} was {'charged' if d>0 else 'refunded'} to {x}.")
  return agent
if __name__=='__main__':
  for l in range(4):
    for s in range(6): go('tau2_seat_availability',l,mk(s),range(60),f'style{s}')
