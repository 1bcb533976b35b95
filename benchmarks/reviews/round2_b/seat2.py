from seat import *
def pickf(rule):
    """rule(fs, cab, n)-> chosen or None; first day then the second"""
    def picks(w):
        b,n,g,cab=data(w); out=[]
        for l,ds in zip(b['flights'],w.days):
            c=None
            for d in ds:
                fs=[{**f,'date':d} for f in w.search_direct_flight(l['origin'],l['destination'],d)]
                c=rule(fs,cab,n)
                if c: break
            if not c: c={**w.search_direct_flight(l['origin'],l['destination'],ds[0])[0],'date':ds[0]}
            out.append(c)
        return out
    def f(w):
        g=picks(w)
        for s in reads(w): yield s
        yield Say(text=f"To confirm, I would move {w.code} to "+' and '.join(f"{x['flight_number']} on {x['date']}, which leaves at {x['scheduled_departure_time_est'][:5]}" for x in g)+f", in {w.cabin}. The difference goes to {w.card}. Shall I proceed?")
        a=yield write(w,g)
        yield Say(text=f"I am sorry, I cannot change {w.code} to that." if str(a).startswith('Error') else f"All done: {w.code} is changed.")
    return f
P=lambda c:(lambda x:x['prices'][c]); mn=lambda l,c:min(l,key=P(c)) if l else None
R=dict(gold=lambda fs,c,n:mn([f for f in fs if f['available_seats'][c]>=n],c),cheapest=lambda fs,c,n:mn(fs,c),first_ok=lambda fs,c,n:next((f for f in fs if f['available_seats'][c]>=n),None),strict=lambda fs,c,n:mn([f for f in fs if f['available_seats'][c]>n],c),most=lambda fs,c,n:max(fs,key=lambda f:f['available_seats'][c]),second=lambda fs,c,n:sorted(fs,key=P(c))[min(1,len(fs)-1)],dearest=lambda fs,c,n:max(fs,key=P(c)),exact=lambda fs,c,n:mn([f for f in fs if f['available_seats'][c]==n],c) or mn([f for f in fs if f['available_seats'][c]>=n],c),
  othercabin=lambda fs,c,n:mn([f for f in fs if max(f['available_seats'].values())>=n],c))
for k in range(1,6): R[f'seats>={k}']=(lambda k:lambda fs,c,n:mn([f for f in fs if f['available_seats'][c]>=k],c))(k)
def retry(w): # names the cheapest, on an error the next
    b,n,g,cab=data(w)
    for s in reads(w): yield s
    import itertools
    opts=[]
    for l,ds in zip(b['flights'],w.days):
        opts.append([{**f,'date':d} for d in ds for f in sorted(w.search_direct_flight(l['origin'],l['destination'],d),key=P(cab))])
    for combo in itertools.islice(itertools.product(*opts),12):
        yield Say(text=f"I would move {w.code} to "+' and '.join(f"{x['flight_number']} on {x['date']}, which leaves at {x['scheduled_departure_time_est'][:5]}" for x in combo)+". Shall I proceed?")
        a=yield write(w,list(combo))
        if not str(a).startswith('Error'): break
        yield Say(text="I'm sorry, that flight doesn't have enough seats for everyone. Let me look at the next one.")
    yield Say(text=f"All done: {w.code} is changed.")
def mut(g,base=pl(0)):
    def f(w):
        for s in list(base(w)):
            if isinstance(s,Say):
                t=g(s.text,w)
                if t is None: continue
                s=Say(text=t)
            yield s
    return f
import re
def alltimes(t,w):
    if 'proceed' not in t: return t
    b,n,g,cab=data(w); xs=[x for l,ds in zip(b['flights'],w.days) for d in ds for x in w.search_direct_flight(l['origin'],l['destination'],d)]
    return f"The flights are "+', '.join(f"{x['flight_number']} at {hm(x['scheduled_departure_time_est'],0)}" for x in xs)+f". I'll take the cheapest one with enough seats. Shall I proceed?"
W=dict(alltimes=mut(alltimes),noconsent=mut(lambda t,w:None if 'proceed' in t else t),notold=mut(lambda t,w:re.sub(r', departing at [\d:]+','',t)),arrive=mut(lambda t,w:t.replace('departing at','arriving at')),tell_no_ask=mut(lambda t,w:t.replace('Would you like me to proceed?','')))
def tab(env,lv,name,f,n=60):
    g=rw=0
    for s in range(2000,2000+n):
        ep=start(env,lv,s); w=ep.world.copy(); run(ep,f(w)); g+=ok(ep); rw+=TS.reward(ep.score)
    print(env,lv,name,'success',g,'/',n,'reward',round(rw/n,2),flush=True)
if __name__=='__main__':
    for n,r in R.items():
        for lv in range(4): tab('tau2_seat_availability',lv,n,pickf(r))
    for n,f in (W|dict(retry=retry)).items():
        for lv in range(4): tab('tau2_seat_availability',lv,n,f)
