from h import *
from trace_gym.targets.tau2.airline import SKILLS
# shortcuts
def sd(rule):
  def agent(w):
    r=w.requests[0]; b=w.reservations[r.record]
    found=w.copy().search_direct_flight(b['origin'],b['destination'],r.date)
    cab=b['cabin']
    n=rule(found,cab,r,b)
    def g():
        yield from r.reads(w,SKILLS)
        yield Say(f"To confirm: {n} on {r.date} for {r.record}. Shall I proceed?")
        yield Call('update_reservation_flights',{'reservation_id':r.record,'cabin':cab,'flights':[{'flight_number':n,'date':r.date}],'payment_id':r.method})
        yield Say("All done.")
    return g()
  return agent
P=lambda f,c:f['prices'][c]
H=lambda f:int(f['scheduled_departure_time_est'][:2])
rules={'first':lambda F,c,r,b:F[0]['flight_number'],'cheapest any':lambda F,c,r,b:min(F,key=lambda f:P(f,c))['flight_number'],
'cheapest seats no time':lambda F,c,r,b:min([f for f in F if f['available_seats'][c]],key=lambda f:P(f,c))['flight_number'],
'cheapest time no seats':lambda F,c,r,b:min([f for f in F if H(f)>=r.after],key=lambda f:P(f,c))['flight_number'],
'other cabin':lambda F,c,r,b:min(F,key=lambda f:P(f,'basic_economy'))['flight_number'],
'wrong cabin':lambda F,c,r,b:min(F,key=lambda f:P(f,'business' if c=='economy' else 'economy'))['flight_number'],
'strict after':lambda F,c,r,b:min([f for f in F if H(f)>r.after and f['available_seats'][c]] or F,key=lambda f:P(f,c))['flight_number'],
'second cheapest':lambda F,c,r,b:sorted(F,key=lambda f:P(f,c))[1]['flight_number'],
'last':lambda F,c,r,b:F[-1]['flight_number']}
for l in range(4):
  for k,f in rules.items(): go('tau2_structured_data',l,sd(f),range(100),k)
