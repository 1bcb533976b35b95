from h import *
n='tau2_itinerary_preservation'
def t12(t): h,m=map(int,t.split(':')[:2]); return f"{(h-1)%12+1}:{m:02d} {'AM' if h<12 else 'PM'}"
def info(ep):
    w=ep.start; b=w.reservations[w.code]; p=len(b['passengers']); L=[]
    for i,f in enumerate(b['flights']):
        if i in w.moves:
            new,on=w.moves[i]; F=w.flights[new]; pr=F['dates'][on]['prices'][b['cabin']]
            L.append((i,f,new,on,F['scheduled_departure_time_est'][:5],F['scheduled_arrival_time_est'][:5],pr,pr-f['price']))
    L.sort(key=lambda x:list(w.moves).index(x[0]))
    return w,b,p,L
def mk(v):
    def f(t,k,ep):
        w,b,p,L=info(ep); c=w.code; D=sum(x[7] for x in L)*p; card=w.users[w.customer]['payment_methods'][w.card]; C=f"your card ending in {card['last_four']}"
        keep=[f for i,f in enumerate(b['flights']) if i not in w.moves]
        dd=f"an additional ${D} will be charged to {C}" if D>0 else f"${-D} will be refunded to {C}"
        T=lambda n:w.flights[n] 
        if 'Shall I' in t:
            if v==0: return "I found the flights. Here are the changes:\n\n"+'\n'.join(f"- {x[1]['origin']} to {x[1]['destination']} on {x[3]}: from {x[1]['flight_number']} to {x[2]}, departing at {t12(x[4])} and arriving at {t12(x[5])}, ${x[6]} per person" for x in L)+''.join(f"\n- {f['flight_number']} ({f['origin']} to {f['destination']}, {f['date']}) stays unchanged" for f in keep)+f"\n\nThe price difference is {'$'+str(D) if D>0 else '-$'+str(-D)} for {p} passenger(s), so {dd}. Would you like me to proceed? (yes/no)"
            if v==1: return ' '.join(f"I'll change {x[1]['flight_number']} ({x[1]['origin']}-{x[1]['destination']}, {x[3]}) to {x[2]}, which departs at {x[4]} and arrives at {x[5]}." for x in L)+f" The fare is {' and '.join('$'+str(x[6]) for x in L)} instead of {' and '.join('$'+str(x[1]['price']) for x in L)} per person; {dd}. Do you confirm?"
            if v==2: return "| | Current flight | New flight | Date | Departs | Arrives |\n|---|---|---|---|---|---|\n"+'\n'.join(f"| {x[1]['origin']}→{x[1]['destination']} | {x[1]['flight_number']} | {x[2]} | {x[3]} | {x[4]} | {x[5]} |" for x in L)+f"\n\nAll other flights remain the same. The difference goes to {w.card}. Please confirm (yes)."
            if v==3: return f"I can move you to "+' and to '.join(f"{x[2]} ({x[1]['origin']}–{x[1]['destination']}), leaving at {t12(x[4])} EST" for x in L)+f". Your old flight{'s' if len(L)>1 else ''} left at {' and '.join(t12(T(x[1]['flight_number'])['scheduled_departure_time_est']) for x in L)}. Shall I go ahead and put the difference on {C}?"
        if v==0: return f"Your reservation {c} has been updated. "+' '.join(f"{x[2]} departs {x[1]['origin']} at {t12(x[4])} and arrives in {x[1]['destination']} at {t12(x[5])}." for x in L)+f" {dd[0].upper()+dd[1:]}."
        if v==1: return "Done! Your new itinerary:\n\n"+'\n'.join((lambda m:f"{i+1}. {m[0]}: {f['origin']} to {f['destination']}, {m[1]}, departs {w.flights[m[0]]['scheduled_departure_time_est'][:5]}, arrives {w.flights[m[0]]['scheduled_arrival_time_est'][:5]}")(w.moves.get(i,(f['flight_number'],f['date']))) for i,f in enumerate(b['flights']))
        if v==2: return "The change is complete. "+' and '.join(f"{x[2]} leaves at {x[4]}" for x in L)+". Is there anything else I can help you with?"
        if v==3: return "All set! "+'; '.join(f"Flight {x[2]} from {x[1]['origin']} to {x[1]['destination']} departs at {t12(x[4])}" for x in L)+"."
    return f
if __name__=='__main__':
  for l in range(4):
    for v in range(4): rate(n,l,mk(v),ex=1,label=f'v{v}')
  # proposal with times, then just 'done'
  def short(v):
    def f(t,k,ep): return mk(v)(t,k,ep) if 'Shall I' in t else "Your reservation has been updated."
    return f
  for v in range(4): rate(n,3,short(v),ex=1,label=f'short end v{v}')
