from h import *
E='tau2_connection_feasibility'
import datetime as D
def nice(d): x=D.date.fromisoformat(d); return x.strftime('%B ')+str(x.day)
def ampm(t): h,m=int(t[:2]),t[3:5]; return f"{(h-1)%12+1}:{m} {'AM' if h<12 else 'PM'}"
def data(w,flights):
    b=w.reservations[w.code]; out=[]
    for f,leg in zip(flights,b['flights']):
        p=w.flights[f['flight_number']]; out.append(dict(n=f['flight_number'],d=f['date'],dep=p['scheduled_departure_time_est'][:5],arr=p['scheduled_arrival_time_est'],o=leg['origin'],t=leg['destination'],price=p['dates'][f['date']]['prices'][b['cabin']]))
    return out
def diff(w):
    b=w.reservations[w.code]; n=len(b['passengers']); return n*(sum(x['price'] for x in data(w,w.right))-sum(l['price'] for l in b['flights'])),n,b
def base(w):
    b=w.reservations[w.code]; one,two=b['flights']
    yield Call("get_user_details",{"user_id":w.customer}); yield Call('get_reservation_details',{'reservation_id':w.code})
    for leg,date in [(one,one['date']),*((two,d) for d in sorted({one['date'],w.last}))]: yield Call('search_direct_flight',{'origin':leg['origin'],'destination':leg['destination'],'date':date})
def agent(prop,end):
    def a(ep):
        w=ep.world.copy(); yield from wrap(base(w))
        rep=yield Say(prop(w))
        b=w.reservations[w.code]
        yield Call('update_reservation_flights',{'reservation_id':w.code,'cabin':b['cabin'],'flights':w.right,'payment_id':w.card})
        yield Say(end(w)); yield Say("You're welcome! Have a great trip.")
    return a
def wrap(g):
    for x in g: yield x
def amt(w):
    d,n,b=diff(w); return f"a refund of ${-d}" if d<0 else f"an additional charge of ${d}"
def p0(w):
    a,b=data(w,w.right); d,n,bk=diff(w)
    return f"Here's what I found for reservation {w.code}:\n\n**First flight:** {a['n']} on {nice(a['d'])}, {a['o']} → {a['t']}, departs {a['dep']}, arrives {a['arr'][:5]}{' (next day)' if '+1' in a['arr'] else ''}\n**Onward flight:** {b['n']} on {nice(b['d'])}, {b['o']} → {b['t']}, departs {b['dep']}, arrives {b['arr'][:5]}{' (next day)' if '+1' in b['arr'] else ''}\n\n**Cabin:** {bk['cabin']}\n**Passengers:** {n}\n**Price difference:** {amt(w)} to {w.card}\n\nWould you like me to proceed with these changes? (yes/no)"
def e0(w):
    a,b=data(w,w.right); return f"Your reservation {w.code} has been updated. You'll fly {a['n']} on {nice(a['d'])} and then {b['n']} on {nice(b['d'])}, which lands in {b['t']} at {ampm(b['arr'])}{' the next day' if '+1' in b['arr'] else ''}. Is there anything else I can help you with?"
def p1(w):
    a,b=data(w,w.right); keep=w.right[1]['flight_number']==w.reservations[w.code]['flights'][1]['flight_number'] and w.right[1]['date']==w.reservations[w.code]['flights'][1]['date']
    first=w.tempting[0]['flight_number']==a['n']
    return (f"Your first choice, {a['n']}, works: it lands in {a['t']} at {a['arr'][:5]}. " if first else f"Your first choice {w.tempting[0]['flight_number']} lands too late for any onward flight with seats, so I would book {a['n']} instead, which arrives at {a['arr'][:5]}. ")+(f"You can still make your onward flight {b['n']}, which departs at {b['dep']}, so I'll keep it. " if keep else f"Your original onward flight can't be reached anymore, so I suggest the cheapest alternative, {b['n']} on {b['d']} departing at {b['dep']} and landing at {b['arr'][:5]}. ")+f"The difference will be settled with {w.card}. Do you want me to go ahead?"
def e1(w):
    a,b=data(w,w.right); return f"All done! The onward flight lands at {b['arr'][:5]}."
def e2(w):
    a,b=data(w,w.right); d,n,bk=diff(w)
    return f"The change is complete:\n\n| Leg | Flight | Date | Departure | Arrival |\n|---|---|---|---|---|\n| {a['o']}-{a['t']} | {a['n']} | {a['d']} | {a['dep']} | {a['arr'][:5]} |\n| {b['o']}-{b['t']} | {b['n']} | {b['d']} | {b['dep']} | {b['arr'][:5]} |\n\nThe onward flight arrives at **{b['arr'][:5]}**{' (+1 day)' if '+1' in b['arr'] else ''}. {amt(w).capitalize()} was applied to {w.card}."
def e3(w):
    a,b=data(w,w.right); return f"Your trip has been updated: {a['n']} ({a['o']} to {a['t']}, {nice(a['d'])}, {a['dep']}–{a['arr'][:5]}) connecting to {b['n']} ({b['o']} to {b['t']}, {nice(b['d'])}, {b['dep']}–{b['arr'][:5]}). Arrival at your destination: {b['arr'][:5]}."
def e4(w): return f"Your reservation has been changed successfully. {amt(w).capitalize()} goes to {w.card}."
def p2(w):
    a,b=data(w,w.right); return f"I'll change {w.code} to {a['n']} on {a['d']} and {b['n']} on {b['d']}, keeping {w.reservations[w.code]['cabin']} class for all passengers. The onward flight will land at {b['arr'][:5]}. {amt(w).capitalize()} applies on {w.card}. Please confirm."
S=range(500,555)
if __name__=='__main__':
    rate(E,range(4),S,{'c00':agent(p0,e0),'c11':agent(p1,e1),'c22':agent(p2,e2),'c13':agent(p1,e3),'c24':agent(p2,e4),'c04':agent(p0,e4)},show=2)
