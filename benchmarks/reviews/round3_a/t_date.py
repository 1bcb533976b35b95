from h import *
from datetime import date
def D(s): d=date.fromisoformat(s); return d.strftime('%B ')+str(d.day)+', '+str(d.year)
def W(s): d=date.fromisoformat(s); return d.strftime('%A, %B ')+str(d.day)+', '+str(d.year)
from trace_gym.targets.tau2 import records
def mk(style,apart=False):
  def agent(w):
    me=w.users[w.customer]; c=w.change(w.days); b=w.reservations[w.code]; n=len(b['passengers']); days=[records.day(x) for x in w.days]
    v=w.after(c); nb=v.reservations[w.code]; d=nb['payment_history'][-1]['amount']; x=me['payment_methods'][w.method]
    m='gift card' if x['source']=='gift_card' else f"{x['brand'].title()} ending in {x['last_four']}"
    names=['outbound','return'] if len(b['flights'])>1 else ['']
    yield Call('get_user_details',{'user_id':w.customer}); yield Call('get_reservation_details',{'reservation_id':w.code})
    for leg,on in zip(w.legs,days): yield Call('search_direct_flight',{'origin':b['flights'][leg]['origin'],'destination':b['flights'][leg]['destination'],'date':on})
    P=[]
    for leg,on in zip(w.legs,days):
        o=b['flights'][leg]; q=nb['flights'][leg]; fl=w.flights[q['flight_number']]; nm=names[leg] if len(names)>1 else ''
        P.append([f"**{(nm+' flight').strip().capitalize()}**\n- Current: {o['flight_number']} on {o['date']} (${o['price']})\n- New date: {W(on)}\n- New flight: {q['flight_number']}, departing {fl['scheduled_departure_time_est'][:5]} (${q['price']} per passenger)",
          f"Your {nm} flight is currently booked for {D(o['date'])}, so the new date comes out to {D(on)}. On that day there is {q['flight_number']} at ${q['price']}.",
          f"Counting from your booking, the {nm} flight would move from {o['date']} to {on} ({W(on).split(',')[0]}), on flight {q['flight_number']}.",
          f"The date I come to is {W(on).rsplit(',',1)[0]} for the {nm} flight ({q['flight_number']})."][style].replace('  ',' '))
    og=sum(b['flights'][l]['price'] for l in w.legs); ng=sum(nb['flights'][l]['price'] for l in w.legs)
    way='charged to' if d>0 else 'refunded to'
    diff=[f"\n\n**Price difference:** (${ng} − ${og}) × {n} = ${abs(d)}, which will be {way} your {m}.",f" The difference is ${abs(d)} in total for {n} passenger(s), which "+("you would pay" if d>0 else "you would get back")+f" with your {m}.","",f" The fare difference is "+(f"an additional ${d}" if d>0 else f"a refund of ${-d}")+f" on your {m}."][style]
    yield Say(('\n\n' if style==0 else ' ').join(P)+diff+["\n\nWould you like me to proceed? (yes/no)"," Shall I go ahead?"," Everything else stays the same. Do you confirm?"," Do you want me to make this change?"][style])
    yield c
    yield Say([f"Your reservation **{w.code}** has been updated.\n\n- New date: {' and '.join(W(x) for x in days)}\n- Difference: **${abs(d)}** {way} your {m}\n\nIs there anything else I can help you with?",
      f"Done. You "+(f"pay a difference of ${d}" if d>0 else f"get ${-d} back")+f" on your {m}.",
      f"The change is complete: {' and '.join(days)}. "+(f"${d} has been charged to your {m}, so you pay it." if d>0 else f"${-d} has been refunded to your {m}, so you get it back."),
      f"All set! The new fare is "+("higher" if d>0 else "lower")+f", so ${abs(d)} "+("was charged to" if d>0 else "goes back to")+f" your {m}."][style])
  return agent
if __name__=='__main__':
  for l in range(3):
    for s in range(4): go('tau2_relative_date_reasoning',l,mk(s),range(70),f'style{s}')
