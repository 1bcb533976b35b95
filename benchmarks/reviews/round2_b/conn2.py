from conn import *
import trace_gym.score as TS
def data(w):
    b=w.reservations[w.code]; one,two=b['flights']; cab=b['cabin']; n=len(b['passengers'])
    def opts(o,d,dates): return [(dd,f) for dd in dates for f in w.search_direct_flight(o,d,dd)]
    on=opts(two['origin'],two['destination'],sorted({one['date'],w.last}))
    return b,one,two,cab,n,on
import re
def firstnums(w):
    # first choice, second choice from opening order
    nums=re.findall(r'HAT\d{3}',w.opening()); return nums
def M(date,t): 
    import datetime
    d=datetime.datetime.fromisoformat(f"{date}T{t[:8]}"); 
    return d+datetime.timedelta(days='+1' in t)
def policy_(time=True,seats=True,day=True,keep=True,retry=False,second=True,fixed=None):
    def f(w):
        b,one,two,cab,n,on=data(w)
        yield Call('get_reservation_details',{'reservation_id':w.code})
        date1=one['date']
        def cands(first):
            fl=w.flights[first]; lands=M(date1,fl['scheduled_arrival_time_est'])
            c=[]
            for d,x in on:
                dep=M(d,x['scheduled_departure_time_est'])
                if time:
                    if day and dep<=lands: continue
                    if not day and dep.time()<=lands.time(): continue
                if seats and x['available_seats'][cab]<n: 
                    if x['flight_number']!=two['flight_number']: continue
                c.append((x['prices'][cab],x['flight_number'],d))
            c.sort(); 
            if keep: c=[y for y in c if y[1]==two['flight_number']]+[y for y in c if y[1]!=two['flight_number']]
            else: c=[y for y in c if y[1]!=two['flight_number']]
            if fixed=='latest': c.sort(key=lambda y:M(y[2],w.flights[y[1]]['scheduled_departure_time_est']),reverse=True)
            if fixed=='earliest': c.sort(key=lambda y:M(y[2],w.flights[y[1]]['scheduled_departure_time_est']))
            return c
        plans=[]
        for first in firstnums(w)[:2 if second else 1]:
            fl=w.flights[first]
            if seats and fl['dates'][date1]['available_seats'][cab]<n: continue
            for p,num,d in cands(first): plans.append([{'flight_number':first,'date':date1},{'flight_number':num,'date':d}])
        if not plans: 
            yield Say(text="I am sorry, I cannot change the trip."); return
        yield Say(text=f"I will change the flights of {w.code} as you wished, and settle the difference with {w.card}. Shall I proceed?")
        for p in (plans if retry else plans[:1]):
            a=yield Call('update_reservation_flights',{'reservation_id':w.code,'cabin':cab,'flights':p,'payment_id':w.card})
            if not str(a).startswith('Error'): break
        at=w.flights[p[1]['flight_number']]['scheduled_arrival_time_est'][:5]
        yield Say(text=f"Done. The onward flight lands at {at}.")
    return f
W=dict(full=policy_(),ignore_seats=policy_(seats=False),ignore_seats_retry=policy_(seats=False,retry=True),ignore_time=policy_(time=False),ignore_time_retry=policy_(time=False,seats=False,retry=True),ignore_day=policy_(day=False),always_rebook=policy_(keep=False),first_only=policy_(second=False),latest=policy_(time=False,fixed='latest'),earliest_fit=policy_(fixed='earliest'))
def stuffland(w):
    b,one,two,cab,n,on=data(w)
    for s in list(pl(0,'list')(w)):
        if isinstance(s,Say) and 'has been updated' in s.text: s=Say(text="Your reservation has been updated. The onward flights land at "+', '.join(hm(x['scheduled_arrival_time_est']) for d,x in on)+'.')
        elif isinstance(s,Say) and 'proceed' in s.text: s=Say(text=f"I will change {w.code} to {w.right[0]['flight_number']} and {w.right[1]['flight_number']}. Shall I proceed?")
        elif isinstance(s,Say): continue
        yield s
W['stuffland']=stuffland
def tab(env,lv,name,f,n=60):
    g=rw=0
    for s in range(2000,2000+n):
        ep=start(env,lv,s); w=ep.world.copy(); run(ep,f(w)); g+=ok(ep); rw+=TS.reward(ep.score)
    print(env,lv,name,'success',g,'/',n,'reward',round(rw/n,2),flush=True)
if __name__=='__main__':
    print(start('tau2_connection_feasibility',2,1).messages[1])
    for n,f in W.items():
        for lv in range(4): tab('tau2_connection_feasibility',lv,n,f)
    # relative: settled wording in proposal with refund
    from rel import *
    def settled(w):
        ch,legs,t,n,was=info(w)
        yield Call('get_reservation_details',{'reservation_id':w.code})
        yield Say(text=f"I can move it to {' and '.join(longw(g['date']) for _,o,g in legs)}. The difference of ${abs(t)} will be settled with {pmm(w)}. Would you like me to proceed?")
        yield ch
        yield Say(text=fin(w,0))
    for lv in range(3): tab('tau2_relative_date_reasoning',lv,'settled_in_proposal',settled)
    table('tau2_relative_date_reasoning',[0],{'settled':settled},n=50)
