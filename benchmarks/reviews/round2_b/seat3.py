from seat import *
def pl2(style):
    def f(w):
        b,n,g,cab=data(w); p=f"{n} passenger{'s'*(n>1)}"
        for s in reads(w): yield s
        T=[]
        for i,(x,l) in enumerate(zip(g,b['flights'])):
            for d in w.days[i]:
                if d!=x['date'] and x['date']==w.days[i][0]: continue
                fs=sorted(w.search_direct_flight(l['origin'],l['destination'],d),key=lambda y:y['prices'][cab])
                s=lambda y:y['available_seats'][cab]; sw=lambda y:f"{s(y)} seat{'s'*(s(y)!=1)}"; tm=lambda y:y['scheduled_departure_time_est'][:5]
                short=[y for y in fs if s(y)<n and (d!=x['date'] or y['prices'][cab]<x['prices'][cab])]
                if style=='day1list' and short: T.append(f"On {d}, "+', '.join(f"{y['flight_number']} ({tm(y)}, ${y['prices'][cab]}) has {sw(y)}" for y in short)+f", which is not enough for your {p}.")
                if style=='check' and short: T+= [f"- {y['flight_number']} at {tm(y)}: ${y['prices'][cab]}, {sw(y)} ❌ (you need {n})" for y in short]
                if style=='skip' and short: T.append(f"I had to skip {', '.join(y['flight_number'] for y in short)} because {'it has' if len(short)==1 else 'they have'} fewer than {n} {cab} seats available.")
                if style=='onlyx' and short: T.append(' '.join(f"The cheapest flight, {y['flight_number']}, only has {sw(y)} available in {cab}, so it can't accommodate all {n} of you." for y in short[:1]))
                if style=='paren' and short: T+= [f"{y['flight_number']} (${y['prices'][cab]}, {sw(y)} left – too few for {n})." for y in short]
            cur=l
            if style=='current': T.append(f"You're currently booked on {l['flight_number']} on {l['date']} ({b['cabin']}).")
            if style=='next':
                fs=sorted([y for y in w.search_direct_flight(l['origin'],l['destination'],x['date']) if y['available_seats'][cab]>=n and y['flight_number']!=x['flight_number']],key=lambda y:y['prices'][cab])
                if fs: T.append(f"The next cheapest flight with enough seats, {fs[0]['flight_number']} at {fs[0]['scheduled_departure_time_est'][:5]}, costs ${fs[0]['prices'][cab]}.")
        m='\n'.join(T) if style=='check' else ' '.join(T)
        rec=' and '.join(f"{x['flight_number']} on {x['date']} at ${x['prices'][cab]} per person, which departs at {x['scheduled_departure_time_est'][:5]}" for x in g)
        if style=='check': t=f"{m}\n- ✅ "+'\n- ✅ '.join(f"{x['flight_number']} on {x['date']}, departs at {x['scheduled_departure_time_est'][:5]}, ${x['prices'][cab]}, {x['available_seats'][cab]} seats" for x in g)+f"\n\nWould you like me to book {' and '.join(x['flight_number'] for x in g)} with {w.card}?"
        else: t=f"{m} The cheapest nonstop option with enough seats in {cab} is {rec}. Would you like me to book {'it' if len(g)==1 else 'these'} for all {p}, using {w.card}?"
        if style=='next': t=f"The cheapest nonstop option with enough seats in {cab} is {rec}. {m} Would you like me to book the cheapest one?"
        if style=='twomsg':
            yield Say(text=f"The cheapest suitable flight{'s leave' if len(g)>1 else ' leaves'} at {' and '.join(x['scheduled_departure_time_est'][:5] for x in g)}."); t=f"I'd now change {w.code} to {' and '.join(x['flight_number'] for x in g)}. Do you confirm?"
        yield Say(text=t.strip()); yield write(w,g); yield Say(text=f"Your reservation {w.code} has been changed to {' and '.join(x['flight_number'] for x in g)}.")
    return f
V={s:pl2(s) for s in('day1list','check','skip','onlyx','paren','current','next','twomsg')}
if __name__=='__main__': table('tau2_seat_availability',[0,1,2,3],V,n=50)
