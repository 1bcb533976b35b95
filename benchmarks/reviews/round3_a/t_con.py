from h import *
from datetime import date
from trace_gym.targets.tau2.airline import SKILLS
CN={'basic_economy':'basic economy','economy':'economy','business':'business class'}
def D(s): d=date.fromisoformat(s); return d.strftime('%B ')+str(d.day)
def info(w,r):
    b=w.reservations[r.reservation]; n=len(b['passengers']); v=w.copy()
    c=r.call(w,SKILLS); v.update_reservation_flights(**c.arguments); nb=v.reservations[r.reservation]
    d=sum(p['amount'] for p in nb['payment_history'])-sum(p['amount'] for p in b['payment_history'])
    return c,b,nb,n,d,sum(f['price'] for f in b['flights'])*n,sum(f['price'] for f in nb['flights'])*n
def mk(style,sep=False):
  def agent(w):
    yield Call('get_user_details',{'user_id':w.customer})
    ok=[];parts=[];done=[];no=[]
    for r in w.requests:
        b=w.reservations[r.reservation]; yield Call('get_reservation_details',{'reservation_id':r.reservation})
        fl=False
        for f in b['flights']:
            a=yield Call('get_flight_status',{'flight_number':f['flight_number'],'date':f['date']})
            if 'landed' not in a: yield Call('search_direct_flight',{'origin':f['origin'],'destination':f['destination'],'date':f['date']})
        if not r.verdict(w).allowed:
            on=b['flights'][0]['date']; num=b['flights'][0]['flight_number']
            no.append([f"**{r.reservation}** – Unfortunately, I can't change this one. Flight {num} on {D(on)} has already landed, and the cabin can't be changed once a flight has been flown.",
              f"Reservation {r.reservation} cannot be changed because its flight on {on} has already been flown.",
              f"I'm unable to change the cabin for {r.reservation}, since the flight already took place on {D(on)}.",
              f"Regarding {r.reservation}: the flight {num} ({on}) has already departed and landed, so I'm not able to make a cabin change for it."][style])
            continue
        if b['cabin']==r.cabin:
            pass
        c,b,nb,n,d,old,new=info(w,r); ok.append((r,c))
        way=f"additional charge of ${d}" if d>0 else f"refund of ${-d}" if d<0 else "no difference"
        parts.append([f"**{r.reservation}** – change from {CN[b['cabin']]} to {CN[r.cabin]}\n- Current fare: ${old} → New fare: ${new} ({n} passenger(s))\n- Difference: {way} to your {r.named}",
          f"{r.reservation} to {CN[r.cabin]}, with the difference on your {r.named}",
          f"{r.reservation} will be moved from {CN[b['cabin']]} to {CN[r.cabin]}, for {'an ' if d>0 else 'a '}{way} to your {r.named}.",
          f"| {r.reservation} | {CN[b['cabin']]} → {CN[r.cabin]} | {r.named} | {'+' if d>0 else '-'}${abs(d)} |"][style])
        done.append([f"{r.reservation} is now in {CN[r.cabin]} ({way} to your {r.named})",f"{r.reservation} is in {CN[r.cabin]}",f"I changed {r.reservation} to {CN[r.cabin]}, with {'an ' if d>0 else 'a '}{way} to your {r.named}",f"{r.reservation} has been updated to {CN[r.cabin]}"][style])
    if sep:
        if no: yield Say(' '.join(no)+(' I can still help with the other one' if ok else ''))
        for (r,c),p,d in zip(ok,parts,done):
            yield Say(p+" Shall I proceed?"); yield c
        if ok: yield Say("All changes are done. "+'. '.join(done)+'.')
        return
    sepa='\n\n' if style in(0,) else '; ' if style==1 else '\n' if style==3 else ' '
    txt='\n\n'.join(no)+('\n\n' if no else '')
    if ok:
        txt+=["Here's what I'll change:\n\n","I will change ","","Here is a summary of the cabin changes:\n\n| Trip | Cabin | Payment | Difference |\n|---|---|---|---|\n"][style]+sepa.join(parts)+["\n\nWould you like me to proceed? (yes/no)",". Shall I go ahead?"," Do you want me to make these changes?","\n\nDo you confirm these changes?"][style]
    yield Say(txt)
    if ok:
        for r,c in ok: yield c
        yield Say(["All done! Here's a summary:\n\n- "+'\n- '.join(done)+("\n\nAs mentioned, "+' and '.join(x.reservation for x in w.requests if not x.verdict(w).allowed)+" could not be changed because it has already been flown." if no else "")+"\n\nIs there anything else I can help you with?","Done: "+', '.join(done)+".",'. '.join(done)+'.',"Your changes are complete: "+'; '.join(done)+"."][style])
  return agent
if __name__=='__main__':
  for l in range(4):
    for s in range(4): go('tau2_concurrent_intents',l,mk(s),range(60),f'style{s}')
    go('tau2_concurrent_intents',l,mk(2,True),range(60),f'separate')
