from lib2 import *
import trace_gym.score as TS, datetime
def hm(x,k): 
    h,m=int(x[:2]),x[3:5]; return [f"{h:02d}:{m}",f"{(h-1)%12+1}:{m} {'AM' if h<12 else 'PM'}"][k%2]
def D(iso,k): d=datetime.date.fromisoformat(iso); return [iso,f"{d:%B} {d.day}",f"{d:%A}, {d:%B} {d.day}, {d.year}"][k%3]
def data(w):
    b=w.reservations[w.code]; n=len(b['passengers']); g=w.picks(True)
    return b,n,g,w.cabin
def reads(w):
    b=w.reservations[w.code]
    yield Call('get_reservation_details',{'reservation_id':w.code})
    for l,ds in zip(b['flights'],w.days):
        for d in ds: yield Call('search_direct_flight',{'origin':l['origin'],'destination':l['destination'],'date':d})
def write(w,g): return Call('update_reservation_flights',{'reservation_id':w.code,'cabin':w.cabin,'flights':[{'flight_number':f['flight_number'],'date':f['date']} for f in g],'payment_id':w.card})
def cheaper(w,i,f):
    b=w.reservations[w.code]; l=b['flights'][i]
    return sorted([x for x in w.search_direct_flight(l['origin'],l['destination'],f['date']) if x['prices'][w.cabin]<f['prices'][w.cabin]],key=lambda x:x['prices'][w.cabin])
def pl(k,why=''):
    def f(w):
        b,n,g,cab=data(w)
        for s in reads(w): yield s
        dep=[hm(x['scheduled_departure_time_est'],k) for x in g]; p='passenger'+'s'*(n>1)
        tot=sum((x['prices'][cab]-l['price'])*n for x,l in zip(g,b['flights'])); df=f"an additional ${tot} will be charged to" if tot>0 else f"${-tot} will be refunded to"
        W=''
        if why:
            for i,x in enumerate(g):
                if x['date']!=w.days[i][0]: W+=f"On {D(w.days[i][0],k)}, none of the nonstop flights has enough {cab} seats for all {n} of you. "
                ch=cheaper(w,i,x)
                if ch and why=='names': W+=' '.join(f"{c['flight_number']} is cheaper at ${c['prices'][cab]} but has only {c['available_seats'][cab]} {cab} seat{'s'*(c['available_seats'][cab]!=1)} left, which isn't enough for {n} {p}." for c in ch)+' '
                if ch and why=='vague': W+=f"The cheaper flights don't have enough seats for your party of {n}. "
                if ch and why=='full': W+=f"Although {' and '.join(c['flight_number'] for c in ch)} {'is' if len(ch)==1 else 'are'} cheaper, {'it does' if len(ch)==1 else 'they do'} not have enough seats for all {n} passengers. "
        if k==0: t=f"{W}The cheapest nonstop flight in {cab} with room for everyone is "+' and '.join(f"{x['flight_number']} on {D(x['date'],k)}, departing at {d} (${x['prices'][cab]} per person)" for x,d in zip(g,dep))+f". For {n} {p}, {df} {w.card}. Would you like me to proceed?"
        if k==1: t=f"{W}Here's what I'd book for {w.code}:\n\n"+'\n'.join(f"- **Flight {x['flight_number']}** on {D(x['date'],k)}\n  - Departure: {d}\n  - Price: ${x['prices'][cab]} per person in {cab}" for x,d in zip(g,dep))+f"\n\nTotal for {n} {p}: {df} {w.card}.\n\nDo you confirm (yes/no)?"
        if k==2: t=f"{W}I found "+' and '.join(f"flight {x['flight_number']} leaving at {d} on {D(x['date'],k)} for ${x['prices'][cab]}" for x,d in zip(g,dep))+f", with enough {cab} seats for all {n}. Shall I move {w.code} to {'it' if len(g)==1 else 'these'} and settle the difference with {w.card}?"
        if k==3: t=f"{W}\n\n| Flight | Date | Departs | Seats | Fare |\n|---|---|---|---|---|\n"+'\n'.join(f"| {x['flight_number']} | {D(x['date'],k)} | {d} | {x['available_seats'][cab]} | ${x['prices'][cab]} |" for x,d in zip(g,dep))+f"\n\nThis is the cheapest option in {cab} for your party of {n}. Shall I go ahead and book it with {w.card}?"
        yield Say(text=t)
        yield write(w,g)
        yield Say(text=[f"All done! Reservation {w.code} has been changed to {' and '.join(x['flight_number'] for x in g)}. Is there anything else I can help you with?",f"Your reservation {w.code} is updated. {df.replace('will be','has been')} {w.card}. Have a great trip!"][k%2])
    return f
V={f'v{k}':pl(k) for k in range(4)}|{f'{y}{k}':pl(k,y) for k in range(4) for y in('names','vague','full')}
def lst(k):
    def f(w):
        b,n,g,cab=data(w)
        for s in reads(w): yield s
        t=''
        for i,(x,l) in enumerate(zip(g,b['flights'])):
            for d in w.days[i]:
                if d>x['date'] and x['date']==w.days[i][0]: continue
                fs=sorted(w.search_direct_flight(l['origin'],l['destination'],d),key=lambda y:y['prices'][cab])
                t+=f"Nonstop flights on {d}:\n"+'\n'.join((f"- {y['flight_number']}, departs {hm(y['scheduled_departure_time_est'],k)}, ${y['prices'][cab]}, {y['available_seats'][cab]} seats left") if k<2 else f"| {y['flight_number']} | {hm(y['scheduled_departure_time_est'],k)} | ${y['prices'][cab]} | {y['available_seats'][cab]} |" for y in fs)+"\n\n"
        t+=f"You are {n} passenger{'s'*(n>1)}, so the cheapest one with enough {cab} seats is "+' and '.join(f"{x['flight_number']} on {x['date']}, departing at {hm(x['scheduled_departure_time_est'],k)}" for x in g)+". Shall I book it?"
        yield Say(text=t); yield write(w,g); yield Say(text=f"Done, {w.code} has been changed.")
    return f
V|={f'lst{k}':lst(k) for k in range(3)}
if __name__=='__main__': table('tau2_seat_availability',[0,1,2,3],V,n=50)
