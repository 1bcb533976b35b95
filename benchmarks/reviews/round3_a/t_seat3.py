from t_seat2b import *
def lst(tail):
  def f(w,new,n,c,pools):
    a=[]
    for g,pool in zip(new,pools): a+= [f"- {x['flight_number']}, departs {tm(x)} on {on}, ${x['prices'][c]}, {x['available_seats'][c]} seats" for on,x in pool if on==g['date']]
    return ["I found these nonstop flights:\n"+'\n'.join(a)+"\n\n"+tail.format(n=n), ' '.join(f"{g['flight_number']} on {g['date']} leaves at {tm(g)}." for g in new)+Q]
  return f
def fits(w,new,n,c,pools):
  a=[]
  for g,pool in zip(new,pools): a+= [f"- {x['flight_number']}, departs {tm(x)} on {on}, ${x['prices'][c]}" for on,x in pool if on==g['date'] and x['available_seats'][c]>=n]
  return ["These nonstop flights have enough seats for your party:\n"+'\n'.join(a)+"\n\nWould you like the cheapest one?", ' '.join(f"{g['flight_number']} on {g['date']} leaves at {tm(g)}." for g in new)+Q]
def fits1(w,new,n,c,pools): 
  a,b=fits(w,new,n,c,pools); return a.replace("\n\nWould you like the cheapest one?","\n\nThe cheapest is "+' and '.join(f"{g['flight_number']} at {tm(g)}" for g in new)+".")+Q
def tick(w,new,n,c,pools):
  a=[]
  for g,pool in zip(new,pools): a+= [f"- {x['flight_number']} ({tm(x)}): ${x['prices'][c]}, {x['available_seats'][c]} seats "+("✅" if x['available_seats'][c]>=n else "❌") for on,x in pool if on==g['date']]
  return "Party of {n}:\n".format(n=n)+'\n'.join(a)+"\n\nI'll book "+' and '.join(f"{g['flight_number']} on {g['date']} (departure {tm(g)})" for g in new)+"."+Q
for nm,f in (('list, which would you like?',lst("You are {n} people. Which one would you like?")),('list, need seats for n',lst("Flights with fewer than {n} seats cannot take all of you. Shall I take the cheapest one that can?")),('fits list then offer',fits),('fits list + choice',fits1),('ticks',tick)):
  for l in (0,1,3): go('tau2_seat_availability',l,sc(f),range(60),nm)
