from h import *
from i1 import mk, info, t12
n='tau2_itinerary_preservation'
def seq(ep):
    w,b,p,L=info(ep); out=[Call('get_reservation_details',{'reservation_id':w.code})]
    legs=[(f['flight_number'],f['date']) for f in b['flights']]
    for j,x in enumerate(L):
        out.append(Call('search_direct_flight',{'origin':x[1]['origin'],'destination':x[1]['destination'],'date':x[3]}))
        out.append(Say(f"I'll move your flight {x[1]['origin']} to {x[1]['destination']} on {x[3]} to {x[2]}, which departs at {t12(x[4])}. All other flights stay the same. Shall I proceed?"))
        legs[x[0]]=(x[2],x[3])
        out.append(Call('update_reservation_flights',{'reservation_id':w.code,'cabin':b['cabin'],'flights':[{'flight_number':a,'date':d} for a,d in legs],'payment_id':w.card}))
        if j<len(L)-1: out.append(Say(f"The first change is done: {x[2]} departs at {t12(x[4])}. Next I'll take care of the other flight."))
    out.append(Say("All changes are done. "+' '.join(f"{x[2]} departs at {t12(x[4])}." for x in L)))
    return out
for l in (2,3): rate(n,l,steps=seq,ex=1,label='sequential')
def wr(kind):
    def f(t,k,ep):
        w,b,p,L=info(ep); fin='Shall I' not in t; base=mk(0)(t,k,ep); D=sum(x[7] for x in L)*p
        if kind=='arrival as departure': return "I'll make the change. Shall I proceed?" if not fin else "Done: "+' '.join(f"{x[2]} departs at {x[5]}." for x in L)
        if kind=='stuff': return "I'll change "+w.code+". Shall I proceed?" if not fin else "Done. The flights that day leave at 06:05, 08:20, 10:35, 12:50, 14:10, 16:25 or 18:40, and "+' '.join(f"{x[2]} departs at {x[4]}" for x in L)+"."
        if kind=='alltimes': 
            ts=[f"{n} departs at {F['scheduled_departure_time_est'][:5]}" for n,F in w.flights.items()]
            return "I'll change "+w.code+". Shall I proceed?" if not fin else "Done. "+'; '.join(ts)+"."
        if kind=='old time': return base if not fin else "Done. "+' '.join(f"{x[2]} departs at {w.flights[x[1]['flight_number']]['scheduled_departure_time_est'][:5]}." for x in L)
        if kind=='flip': return f"I'll change {w.code} to {', '.join(x[2] for x in L)}; {abs(D)} dollars will be {'refunded to' if D>0 else 'charged to'} {w.card}. Shall I proceed?" if not fin else t
        if kind=='wrong diff': return f"I'll change {w.code} to {', '.join(x[2] for x in L)}; the difference of {abs(D)+37} dollars will be {'charged' if D>0 else 'refunded'} to {w.card}. Shall I proceed?" if not fin else t
        if kind=='false drop': return base if not fin else t+" Your other flights were removed from the reservation."
        if kind=='false cancel': return base if not fin else t+" I have also cancelled your other reservation."
        if kind=='denied': return base if not fin else "I could not change your reservation."
        return base
    return f
for k in ['arrival as departure','stuff','alltimes','old time','flip','wrong diff','false drop','false cancel','denied']: rate(n,1,wr(k),ex=0,label='WRONG '+k)
for l in range(4): rate(n,l,steps=lambda ep:list(ep.world.copy().ablated()),ex=0,label='ablated')
def noconsent(ep): return [s for s in ep.world.copy().oracle() if not (isinstance(s,Say) and 'Shall' in s.text)]
rate(n,1,steps=noconsent,ex=0,label='no consent')
Q=["Would you like to keep your return flight as it is?","Do you want to stay in the same cabin?","To confirm, do you mean the flight on the outbound trip or the return?","Which reservation is this about?","Should I keep all other flights unchanged?","I found the nonstop flight. There are several options that day. Which one would you like?","Can I have your user id?","The difference is 45 dollars per person. Is that OK?"]
for s in range(3):
    print(ep_(n,1,s).messages[1]['content'])
    for q in Q:
        ep=ep_(n,1,s); r=ep.step(Say(q)); print('   ',q,'=>',r[0]['content'] if r else None)
