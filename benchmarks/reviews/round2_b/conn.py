from lib2 import *
import datetime
def hm(x,ap=False):
    x=x[:5]; h,m=int(x[:2]),x[3:]
    return f"{(h-1)%12+1}:{m} {'AM' if h<12 else 'PM'}" if ap else x
def leg(w,f,ap):
    fl=w.flights[f['flight_number']]; a=fl['scheduled_arrival_time_est']
    return fl, hm(fl['scheduled_departure_time_est'],ap), hm(a,ap)+(' (+1 day)' if '+1' in a else '')
def dt(iso,k): d=datetime.date.fromisoformat(iso); return f"{d:%B} {d.day}, {d.year}" if k%2 else iso
def why(w,k):
    """explains why second choice is used / onward replaced"""
    b=w.reservations[w.code]; old=b['flights'][1]; t=[]
    if w.right[0]!=w.tempting[0]: t.append(f"Unfortunately, the trip cannot be made with {w.tempting[0]['flight_number']}, so I'd use your second choice, {w.right[0]['flight_number']}.")
    if w.right[1]['flight_number']==old['flight_number']: t.append("You can still make your booked onward flight, so it stays as it is.")
    else: t.append(f"With this flight you can no longer make your booked onward flight {old['flight_number']}, so I've picked the cheapest alternative in the same cabin.")
    return ' '.join(t)
def tot(w):
    b=w.reservations[w.code]; return sum(w.flights[n['flight_number']]['dates'][n['date']]['prices'][b['cabin']]-o['price'] for n,o in zip(w.right,b['flights']))*len(b['passengers'])
def pl(k,style):
    def f(w):
        b=w.reservations[w.code]; ap=k%2
        yield Call('get_reservation_details',{'reservation_id':w.code})
        one,two=b['flights']
        for l,d in [(one,one['date']),*((two,d) for d in sorted({one['date'],w.last}))]: yield Call('search_direct_flight',{'origin':l['origin'],'destination':l['destination'],'date':d})
        L=[leg(w,x,ap) for x in w.right]; d=tot(w); diff=f"you'll pay an additional ${d}" if d>0 else f"you'll get ${-d} back"
        if style=='list':
            yield Say(text=f"Thank you! {why(w,k)}\n\nHere's the new itinerary for {w.code}:\n"+'\n'.join(f"{i}. **{x['flight_number']}** – {fl['origin']} → {fl['destination']}, {dt(x['date'],k)}, departs {dep}, arrives {arr}" for i,(x,(fl,dep,arr)) in enumerate(zip(w.right,L),1))+f"\n\nCabin: {b['cabin']}. The price difference: {diff} on {w.card}.\n\nWould you like me to proceed (yes/no)?")
        elif style=='short':
            yield Say(text=f"{why(w,k)} I'll change {w.code} to {w.right[0]['flight_number']} on {w.right[0]['date']} and {w.right[1]['flight_number']} on {w.right[1]['date']}; {diff}, settled with {w.card}. The onward flight lands at {L[1][2]}. Do you confirm?")
        else:
            t=f"| Flight | Route | Date | Departure | Arrival |\n|---|---|---|---|---|\n"+'\n'.join(f"| {x['flight_number']} | {fl['origin']}–{fl['destination']} | {dt(x['date'],k)} | {dep} | {arr} |" for x,(fl,dep,arr) in zip(w.right,L))
            yield Say(text=f"{why(w,k)}\n\n{t}\n\nDifference: {diff} ({w.card}). Shall I go ahead?")
        yield Call('update_reservation_flights',{'reservation_id':w.code,'cabin':b['cabin'],'flights':w.right,'payment_id':w.card})
        fin=[f"Your reservation {w.code} has been updated. Your onward flight {w.right[1]['flight_number']} lands in {L[1][0]['destination']} at {L[1][2]} on {dt(w.right[1]['date'],k)}. Is there anything else I can help you with?",
          f"All done! Here's your new itinerary:\n\n- {w.right[0]['flight_number']}: departs {L[0][1]}, arrives {L[0][2]}\n- {w.right[1]['flight_number']}: departs {L[1][1]}, arrives at the destination at {L[1][2]}\n\n{'$%d was charged to'%d if d>0 else '$%d will be refunded to'%-d} {w.card}.",
          f"The change is complete! The onward flight {w.right[1]['flight_number']} arrives at {L[1][0]['destination']} at **{L[1][2]}**. Have a great trip!",
          f"Done! Your onward flight departs at {L[1][1]} and is scheduled to land at {L[1][2]}.",
          f"Your trip has been changed: {w.right[0]['flight_number']} ({L[0][1]}–{L[0][2]}) and {w.right[1]['flight_number']} ({L[1][1]}–{L[1][2]}). The arrival time at your destination is {L[1][2]}."][k]
        yield Say(text=fin)
        a=yield Say(text=f"The onward flight {w.right[1]['flight_number']} is scheduled to land at {L[1][2]}.")
    return f
V={f'{s}{k}':pl(k,s) for s,k in [('list',0),('list',1),('short',2),('table',3),('table',4),('short',1),('short',4),('list',3)]}
if __name__=='__main__':
    table('tau2_connection_feasibility',[0,1,2,3],V,n=50)
