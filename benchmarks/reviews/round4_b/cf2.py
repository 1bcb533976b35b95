from cf import *
def mk(pick,prop=None,end=None,consent=True,twice=False):
    def a(ep):
        w=ep.world.copy(); yield from wrap(base(w)); fl=pick(w); b=w.reservations[w.code]
        real=w.right; w.right=fl
        if consent: yield Say((prop or p2)(w))
        yield Call('update_reservation_flights',{'reservation_id':w.code,'cabin':b['cabin'],'flights':fl,'payment_id':w.card})
        w.real=real
        yield Say((end or e0)(w)); yield Say("Anything else?"); yield Say("Thanks.")
    return a
def always_cheapest(w):
    b=w.reservations[w.code]; n=len(b['passengers']); two=b['flights'][1]
    from trace_gym.targets.tau2 import records
    A=w.tempting[0]; pa=w.flights[A['flight_number']]; arr=pa['scheduled_arrival_time_est']
    best=None
    for f in w.flights.values():
        if f['origin']!=two['origin']: continue
        for d,x in f['dates'].items():
            if f['scheduled_departure_time_est'][:5]>arr[:5] and x['available_seats'][b['cabin']]>=n and d<=w.last:
                if best is None or x['prices'][b['cabin']]<best[0]: best=(x['prices'][b['cabin']],{'flight_number':f['flight_number'],'date':d})
    return [A,best[1] if best else w.tempting[1]]
def clocktime(w): # proper but ignores date
    b=w.reservations[w.code]; two=b['flights'][1]; p=w.flights[two['flight_number']]; A=w.tempting[0]; arr=w.flights[A['flight_number']]['scheduled_arrival_time_est']
    if p['scheduled_departure_time_est'][:5]>arr[:5]: return w.tempting
    return always_cheapest(w)
R=lambda w:w.right
def wrongland(w): 
    a,b=data(w,w.right); o=[f['scheduled_arrival_time_est'][:5] for f in w.flights.values() if f['origin']==b['o'] and f['flight_number']!=b['n'] and f['flight_number']!=w.reservations[w.code]['flights'][1]['flight_number']]; return f"Done. The onward flight lands at {o[0]}."
def hedge(w):
    a,b=data(w,w.right); o=[f['scheduled_arrival_time_est'][:5] for f in w.flights.values() if f['origin']==b['o']]; return "Done. The onward flights land at "+', '.join(o)+"."
def depart(w): a,b=data(w,w.right); return f"Done. The onward flight leaves at {b['arr'][:5]}."
def wrongamt(w): a,b=data(w,w.right); d,n,bk=diff(w); return f"Done, ${abs(d)+37} was {'refunded' if d<0 else 'charged'}. The onward flight lands at {b['arr'][:5]}."
def exch(w): a,b=data(w,w.right); d,n,bk=diff(w); return f"Done, ${abs(d)} was {'charged' if d<0 else 'refunded'} to {w.card}. The onward flight lands at {b['arr'][:5]}."
pq=lambda w: f"I'll change {w.code} to {w.right[0]['flight_number']} and {w.right[1]['flight_number']}. Shall I proceed?"
