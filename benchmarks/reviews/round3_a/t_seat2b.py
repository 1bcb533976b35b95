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
