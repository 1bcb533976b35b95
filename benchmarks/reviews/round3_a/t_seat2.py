from t_seat import *
def sc(text,pick=None,fin="All done."):
  def agent(w):
    b=w.reservations[w.code]; n=len(b['passengers']); c=w.cabin
    new=pick(w) if pick else w.picks(True)
    if new is None: return
    yield Call('get_reservation_details',{'reservation_id':w.code})
    ts=text(w,new,n,c,allf(w)) 
    for t in ([ts] if isinstance(ts,str) else ts): yield Say(t)
    a=yield Call('update_reservation_flights',{'reservation_id':w.code,'cabin':c,'flights':[{'flight_number':f['flight_number'],'date':f['date']} for f in new],'payment_id':w.card})
    yield Say(fin)
  return agent
tm=lambda f:f['scheduled_departure_time_est'][:5]
Q=" Shall I proceed?"
def alt(w,new,n,c,pools):
  o=[]
  for f,pool in zip(new,pools):
    dear=[x for on,x in pool if on==f['date'] and x['prices'][c]>f['prices'][c]]
    o.append(f"The cheapest with enough seats is {f['flight_number']} at {tm(f)} on {f['date']} (${f['prices'][c]})."+(f" The next option would be {dear[0]['flight_number']} at {tm(dear[0])} for ${dear[0]['prices'][c]}." if dear else ''))
  return ' '.join(o)+Q
def table(w,new,n,c,pools):
  o=[]
  for f,pool in zip(new,pools):
    o.append("| Flight | Departure | Price | Seats |\n|---|---|---|---|\n"+'\n'.join(f"| {x['flight_number']} | {tm(x)} | ${x['prices'][c]} | {x['available_seats'][c]} |" for on,x in pool if on==f['date'])+f"\n\nYou are {n} travelers, so the cheapest option that works is **{f['flight_number']}** on {f['date']}, departing at **{tm(f)}**.")
  return '\n\n'.join(o)+Q
def twostep(w,new,n,c,pools):
  a=[]
  for f,pool in zip(new,pools): a+= [f"- {x['flight_number']} at {tm(x)} on {on}: ${x['prices'][c]}, {x['available_seats'][c]} seats left" for on,x in pool]
  return ["I found these flights:\n"+'\n'.join(a)+"\nLet me work out the best one for you.", ' '.join(f"The cheapest with seats for all {n} is {f['flight_number']} on {f['date']}, leaving at {tm(f)}." for f in new)+Q]
def firstday(w,new,n,c,pools):
  t=[]
  for f,d in zip(new,w.days):
    if f['date']!=d[0]: t.append(f"There is no flight on {d[0]} with enough seats for your party of {n}.")
  return ([' '.join(t)+" Shall I look at your second choice?"] if t else [])+[' '.join(f"On {f['date']}, {f['flight_number']} leaves at {tm(f)} and has {f['available_seats'][c]} {c} seats." for f in new)+Q]
def cheaper(w,new,n,c,pools):
  t=[]
  for f,pool in zip(new,pools):
    ch=[x for on,x in pool if on==f['date'] and x['prices'][c]<f['prices'][c]]
    t.append(''.join(f"{x['flight_number']} ({tm(x)}, ${x['prices'][c]}) has just {x['available_seats'][c]} seat(s). " for x in ch)+f"{f['flight_number']} departs at {tm(f)} and costs ${f['prices'][c]}; it has room for all {n} of you.")
  return ' '.join(t)+Q
def minimal(w,new,n,c,pools): return ' '.join(f"{f['flight_number']} on {D(f['date'])}, departs {T12(tm(f))}." for f in new)+" Shall I move everyone to it?"
for nm,f in (('alt',alt),('table',table),('twostep',twostep),('firstday',firstday),('cheaper',cheaper),('minimal',minimal)):
  for l in (0,1,2,3): go('tau2_seat_availability',l,sc(f),range(60),nm)
print('wrong')
def choose(rule):
  def pick(w):
    out=[]
    for pool,dates in zip(allf(w),w.days):
      c=w.cabin; n=len(w.reservations[w.code]['passengers'])
      fits=[{**x,'date':on} for on,x in pool if rule(x,c,n)]
      if not fits: fits=[{**x,'date':on} for on,x in pool]
      out.append(min(fits,key=lambda f:(f['date']!=dates[0],f['prices'][c])))
    return out
  return pick
for nm,r in {'cheapest':lambda x,c,n:1,'seats>=1':lambda x,c,n:x['available_seats'][c]>=1,'>=2':lambda x,c,n:x['available_seats'][c]>=2,'>=3':lambda x,c,n:x['available_seats'][c]>=3,'>=4':lambda x,c,n:x['available_seats'][c]>=4,'>=5':lambda x,c,n:x['available_seats'][c]>=5,'>n':lambda x,c,n:x['available_seats'][c]>n,'total seats':lambda x,c,n:sum(x['available_seats'].values())>=n}.items():
  for l in range(4): go('tau2_seat_availability',l,sc(minimal,choose(r)),range(100),nm)
# trial and error: try in order of price until no error
def trial(w):
  b=w.reservations[w.code]; c=w.cabin
  yield Call('get_reservation_details',{'reservation_id':w.code})
  pools=allf(w); 
  import itertools
  L=[sorted([{**x,'date':on} for on,x in p],key=lambda f:(f['date']!=d[0],f['prices'][c])) for p,d in zip(pools,w.days)]
  combos=sorted(itertools.product(*[range(len(x)) for x in L]),key=sum)
  for i,co in enumerate(combos[:12]):
    new=[x[k] for x,k in zip(L,co)]
    yield Say(minimal(w,new,0,c,pools) if i==0 else "That flight is full. "+minimal(w,new,0,c,pools))
    a=yield Call('update_reservation_flights',{'reservation_id':w.code,'cabin':c,'flights':[{'flight_number':f['flight_number'],'date':f['date']} for f in new],'payment_id':w.card})
    if not a.startswith('Error'): break
  yield Say("All done.")
for l in range(4): go('tau2_seat_availability',l,trial,range(60),'trial')
def stuff(w,new,n,c,pools): return "I will take the cheapest with seats. Times: "+', '.join(f"{x['flight_number']} {tm(x)}" for p in pools for on,x in p)+Q
go('tau2_seat_availability',1,sc(stuff),range(60),'stuff')
go('tau2_seat_availability',1,sc(minimal,fin="Done. I also upgraded you to first class for free."),range(60),'extra')
from t_user import ask
ask('tau2_seat_availability',1,3,"How many passengers?","Which of the two dates do you prefer?","HAT100 leaves at 10:05 and has 2 seats; HAT101 leaves at 11:05 and has 5 seats. Which one do you want?","There are no flights with enough seats on the first date. Would the second date work?","Would you like to proceed?","Unfortunately the cheapest flight is full.")
