"""upgrade proposals in airline_desk / multi_step / numerical in other words; cabin words"""
from multi import *
from trace_gym.world import call_tool
U=["{c} is currently in {cab}. The upgrade to business class costs ${d} in total, charged to your {m}. Shall I proceed?",
"I can upgrade {c} to business. The fare difference is ${d}. Should I use your {m} ({pm})?",
"Upgrading {c} from {cab} to business would be ${d} for all passengers. Do you want to go ahead with {pm}?",
"Current cabin: {cab}\nNew cabin: business\nDifference: ${d}\nPayment: {pm}\n\nConfirm?",
"The business fare is ${np} per person; your {cab} fare was ${op}. I'd charge ${d} to {pm}. OK?",
"You would fly in business class instead of {cab} on the same flights; the ${d} difference goes on your {m}. Is that right?",
"For {c}, I'd switch the cabin to business and bill {pm}. Please confirm.",
"Business seats are available on your flight. I'd put {c} into business for ${d} with your {m}. All right?"]
def pol(i):
    def p(ep,w):
        r=w.requests[0]
        if type(r).__name__!='Upgrade' or len(w.requests)>1: return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        b=w.reservations[r.record]; leg=b['flights'][0]; yield Call('search_direct_flight',{'origin':leg['origin'],'destination':leg['destination'],'date':leg['date']})
        c=r.call(w,SKILLS); ww=w.copy(); call_tool(ww,c.tool,c.arguments); nb=ww.reservations[r.record]
        d=sum(x['amount'] for x in nb['payment_history'])-sum(x['amount'] for x in b['payment_history']); pm=c.arguments['payment_id']
        yield Say(U[i].format(c=r.record,cab=b['cabin'].replace('_',' '),d=d,pm=pm,m=pm.rsplit('_',1)[0].replace('_',' '),np=nb['flights'][0]['price'],op=leg['price']))
        yield c; yield Say(f"{r.record} is now in business class. The total charge was ${d}.")
    return p
for i in range(len(U)): run('tau2_airline_desk',pol(i),n=120,levels=[0],label=str(i),only=lambda ep:len(ep.start.requests)==1 and type(ep.start.requests[0]).__name__=='Upgrade')
