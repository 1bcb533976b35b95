from air import *
import trace_gym.score as TS, re
ep=start('tau2_airline_desk',0,1); print(ep.messages[0]['content'])
def mutate(f,g):
    def h(w):
        for s in list(f(w)):
            if isinstance(s,Say): s=Say(text=g(s.text,w))
            yield s
    return h
def noconsent(w):
    for s in list(serve(0)(w)):
        if isinstance(s,Say) and 'proceed?' in s.text: 
            if any(not r.verdict(w).allowed for r in w.requests): s=Say(text=s.text.replace("Would you like me to proceed? (yes/no)","").replace("Here's what I'm going to do:","I'm doing this now:"))
            else: continue
        yield s
def alwaysrefuse(w):
    yield Call('get_user_details',{'user_id':w.customer})
    for r in w.requests: yield Call('get_reservation_details',{'reservation_id':r.reservation})
    yield Say(text='\n'.join(refuse(w,r,0) for r in w.requests))
W=dict(
 noconsent=noconsent, alwaysrefuse=alwaysrefuse,
 charged=mutate(serve(0),lambda t,w:t.replace('will be refunded to','will be charged to')),
 refunded_up=mutate(serve(0),lambda t,w:t.replace('was charged to','was refunded to').replace('will be charged to','will be refunded to')),
 wrongamt=mutate(serve(0),lambda t,w:re.sub(r'\$([\d,]+)',lambda m:'$'+str(int(m[1].replace(',',''))+7),t)),
 wrongdate=mutate(serve(0),lambda t,w:re.sub(r'booked on (\d{4}-\d\d-)(\d\d)',lambda m:f'booked on {m[1]}{int(m[2])+1:02d}',t)),
 gift=mutate(serve(0),lambda t,w:t.replace('All set!','All set! I have also issued a $100 certificate as a goodwill gesture.')),
 gift_refuse=mutate(serve(0),lambda t,w:t.replace("isn't eligible for cancellation.","isn't eligible for cancellation. As compensation I have added a $100 travel certificate to your profile.")),
 swapped=mutate(serve(0),lambda t,w:t),
)
def swapped(w):
    c=[r for r in w.requests if isinstance(r,Cancel) and r.verdict(w).allowed]
    for s in list(serve(0)(w)):
        if isinstance(s,Say) and len(c)>1:
            a,b=(f"${policy.refund(w.reservations[r.reservation]):,}" for r in c[:2]); s=Say(text=s.text.replace(a,'@@').replace(b,a).replace('@@',b))
        yield s
W['swapped']=swapped
def tab(env,lv,name,f,n=60):
    g=rw=cd=0; k={}
    for s in range(2000,2000+n):
        ep=start(env,lv,s); w=ep.world.copy(); run(ep,f(w)); g+=ok(ep); rw+=TS.reward(ep.score); cd+=ep.score.conduct
        for key,v in dict(cancel_ok=any(isinstance(r,Cancel) and r.verdict(w).allowed for r in w.requests),ref=any(not r.verdict(w).allowed for r in w.requests),up=any(isinstance(r,Upgrade) for r in w.requests),two=sum(isinstance(r,Cancel) and r.verdict(w).allowed for r in w.requests)>1).items():
            x=k.setdefault(key,[0,0]); x[1]+=v; x[0]+=v and ok(ep)
    print(env,lv,name,'success',g,'/',n,'reward',round(rw/n,2),'conduct',round(cd/n,2),k,flush=True)
if __name__=='__main__':
    for lv in (0,1):
        for n,f in W.items(): tab('tau2_airline_desk',lv,n,f)
    def pick(rule):
        def f(w):
            r=w.requests[0]; b=w.reservations[r.reservation]; cab=b['cabin']
            yield Call('get_reservation_details',{'reservation_id':r.reservation})
            yield Call('search_direct_flight',{'origin':b['origin'],'destination':b['destination'],'date':r.date})
            fs=w.search_direct_flight(b['origin'],b['destination'],r.date)
            yield Say(text=f"I'll move reservation {r.reservation} to the cheapest suitable flight on {r.date} in {cab}, settled with {pm(w,r.method)}. Shall I proceed?")
            for x in rule(fs,cab,r):
                c=r.call(w,SKILLS); c=Call(c.tool,{**c.arguments,'flights':[{'flight_number':x['flight_number'],'date':r.date}]})
                a=yield c
                if not str(a).startswith('Error'): break
            yield Say(text=f"Reservation {r.reservation} has been moved.")
        return f
    T=lambda x:int(x['scheduled_departure_time_est'][:2]); P=lambda c:(lambda x:x['prices'][c])
    R=dict(first=lambda f,c,r:f[:1],last=lambda f,c,r:f[-1:],cheapest=lambda f,c,r:sorted(f,key=P(c))[:1],cheap_other=lambda f,c,r:sorted(f,key=P('business' if c=='economy' else 'economy'))[:1],
      cheap_after_noseat=lambda f,c,r:sorted([x for x in f if T(x)>=r.after],key=P(c))[:1], cheap_after_retry=lambda f,c,r:sorted([x for x in f if T(x)>=r.after],key=P(c)),
      second=lambda f,c,r:sorted(f,key=P(c))[1:2],second_after=lambda f,c,r:sorted([x for x in f if T(x)>=r.after],key=P(c))[1:2],cheap_seat_noafter=lambda f,c,r:sorted([x for x in f if x['available_seats'][c]],key=P(c))[:1], strictly_after=lambda f,c,r:sorted([x for x in f if T(x)>r.after and x['available_seats'][c]],key=P(c))[:1])
    for n,g in R.items():
        for lv in range(4): tab('tau2_structured_data',lv,n,pick(g),60)
