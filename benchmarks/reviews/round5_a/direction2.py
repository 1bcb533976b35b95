"""same wording ('costs $X, $Y less than ...') where the change gives money back: tool_precision swaps, airline_desk moves; rewards"""
from direction import *
from multi import offer
from trace_gym.score import reward
def guard(f,k):
    def p(ep,w):
        if type(w.requests[0]).__name__!='Swap': return
        yield from f(k)(ep,w)
    return p
def desk(k):
    def p(ep,w):
        r=w.requests[0]; b=w.reservations[r.record]
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        c=r.call(w,SKILLS); n=c.arguments['flights'][0]['flight_number']; p_=w.flights[n]['dates'][r.date]['prices'][b['cabin']]; o=b['flights'][0]['price']
        t={'a1':f"The cheapest flight on {r.date} is {n}, which costs ${p_} per person instead of ${o}. I would move {r.record} to it and settle the difference with {c.arguments['payment_id']}. Shall I proceed?",
           'a2':f"The cheapest flight on {r.date} is {n}, which costs ${p_} per person, ${abs(p_-o)} {'more' if p_>o else 'less'} than your current flight. Shall I move {r.record} to it?",
           'a3':f"The cheapest flight on {r.date} is {n} at ${p_} per person. Shall I move {r.record} to it?"}[k]
        yield Say(t); yield c; yield Say("Your flight has been changed.")
    return p
sw=lambda ep: type(ep.start.requests[0]).__name__=='Swap'
for k in ('d1','d2','d4'): run('tau2_retail_tool_precision',guard(pol,k),n=100,label=k,levels=[0,1,2,3],only=sw,examples=0)
for k in ('a1','a2','a3'): run('tau2_airline_desk',guard(desk,k),n=150,label=k,levels=[0],only=sw,examples=1 if k=='a2' else 0)
for N,f,lv in (('tau2_retail_structured_data',pol('d2'),3),('tau2_retail_structured_data',pol('d4'),3),('tau2_itinerary_preservation',it('i1'),0)):
    rs=[reward(play(N,lv,s,f)[1]) for s in range(100,160)]; print(N,lv,'rewards',sorted({round(x,3):rs.count(x) for x in rs}.items()),'mean %.3f'%(sum(rs)/60))
