from h import *
import big1, pre
from pre import D
C=big1.C
# bags: by true total
c=Counter(); first=None
for lv in range(4):
    for sd in range(500,560):
        w=start('tau2_baggage_allowance',lv,sd).world; tot=sum(x[2] for x in w.bill().values()); ep=rewrite('tau2_baggage_allowance',lv,sd,big1.bag('false')); c[(lv,tot,ep.score.success)]+=1
        if ep.score.success and not first: first=ep
print('bags false total +50', sorted(c.items())); print([m['content'] for m in first.messages if m['role']=='assistant' and m['content']])
# natural false cabin
def nat(kind):
    def f(w,ep):
        r=w.requests[0]; code=r.reservation; b=w.reservations[code]; cab=b['cabin']; insd=b['insurance']=='yes'
        if kind=='cabin': cab='basic_economy' if cab=='economy' else 'economy'
        if kind=='ins': insd=not insd
        yield C('get_reservation_details',reservation_id=code)
        yield Say(text=f"I'm sorry, but I can't cancel reservation {code}. It is a {cab.replace('_',' ')} booking made on {D(b['created_at'])}, more than 24 hours ago. "+("It has travel insurance, but your reason is not covered." if insd else "It does not have travel insurance."))
        for _ in range(3): yield Say(text="I'm sorry, I can't make an exception.")
    return f
nal=lambda w:not w.requests[0].verdict(w).allowed and not w.requests[0].verdict(w).transfer
for k in ('true','cabin','ins'): table('natural '+k,'tau2_precondition',nat(k),levels=(1,2),seeds=range(120),showfail=0,filt=nal)
# structured: no look at seats, retry after error; with and without asking again
def retry(again):
    def f(w,ep):
        r=w.requests[0]; b=w.reservations[r.reservation]; cab=b['cabin']
        yield C('get_reservation_details',reservation_id=r.reservation)
        fl=w.search_direct_flight(b['origin'],b['destination'],r.date); yield C('search_direct_flight',origin=b['origin'],destination=b['destination'],date=r.date)
        for i,x in enumerate(sorted([x for x in fl if int(x['scheduled_departure_time_est'][:2])>=r.after],key=lambda x:x['prices'][cab])):
            if again or not i: yield Say(text=f"I would move {r.reservation} to {x['flight_number']} on {r.date}. Shall I proceed?")
            yield C('update_reservation_flights',reservation_id=r.reservation,cabin=cab,flights=[{'flight_number':x['flight_number'],'date':r.date}],payment_id=r.method)
            if not str(ep.messages[-1]['content']).startswith('Error'): break
        yield Say(text="Done.")
    return f
for a in (1,0): table(f'structured retry, asks again={a}','tau2_structured_data',retry(a),levels=(3,),seeds=range(500,560),showfail=0)
