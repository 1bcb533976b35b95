from lib2 import *
from trace_gym.targets.tau2 import records
import datetime,re
def D(iso): d=datetime.date.fromisoformat(iso); return d
def long(iso): d=D(iso); return f"{d:%B} {d.day}, {d.year}"
def longw(iso): d=D(iso); return f"{d:%A}, {d:%B} {d.day}, {d.year}"
def pmm(w): 
    x=w.users[w.customer]['payment_methods'][w.method]; return f"your credit card ending in {x['last_four']}" if x['source']=='credit_card' else 'your gift card'
def info(w):
    ch=w.change(w.days); goal=w.after(ch).reservations[w.code]; was=w.reservations[w.code]; n=len(was['passengers'])
    legs=[(l,was['flights'][l],goal['flights'][l]) for l in w.legs]; tot=sum(g['price']-o['price'] for _,o,g in legs)*n
    return ch,legs,tot,n,was
def prop(w,k,final=False):
    ch,legs,tot,n,was=info(w); nm=['outbound','return'] if len(was['flights'])>1 else ['flight','']
    L=[]
    for l,o,g in legs:
        lab={0:'Outbound flight',1:'Return flight'}[l] if len(was['flights'])>1 else 'Flight'
        L.append([f"- **{lab}**: from {o['flight_number']} on {long(o['date'])} to {g['flight_number']} on {longw(g['date'])} (${g['price']} per passenger, was ${o['price']})",
                  f"- {lab}: {g['flight_number']} on {g['date']} instead of {o['flight_number']} on {o['date']}",
                  f"The new date for the {lab.lower()} is {longw(g['date'])}. Flight {g['flight_number']} is available that day at ${g['price']} per person."][k%3])
    s=f"an additional charge of ${tot}" if tot>0 else f"a refund of ${-tot}"
    s2=f"you pay an additional ${tot}" if tot>0 else f"you get ${-tot} back"
    return [f"I found your reservation. Here are the details of the change:\n\n"+'\n'.join(L)+f"\n\nThe total price difference for {n} passenger{'s' if n>1 else ''} is ${abs(tot)}, which means {s} to {pmm(w)}. Would you like me to proceed?",
      f"Here's what I'd do for {w.code}:\n"+'\n'.join(L)+f"\nThe {was['cabin']} cabin stays the same. Price difference: {s} ({w.method}).\n\nDo you confirm (yes/no)?",
      ' '.join(L)+f" In total, {s2}, settled with {pmm(w)}. Shall I go ahead?"][k%3]
def fin(w,k):
    ch,legs,tot,n,was=info(w); a=abs(tot); ds=' and '.join(longw(g['date']) for _,o,g in legs); pos=tot>0
    new=sum(g['price'] for *_,g in legs)*n; old=sum(o['price'] for _,o,_ in legs)*n
    return [
     f"Your reservation {w.code} has been updated! You'll now fly on {ds}. The total price difference is ${a}, which {'has been charged to' if pos else 'will be refunded to'} {pmm(w)}. Is there anything else I can help you with?",
     f"Done! Reservation {w.code} now has the new flight on {ds}. {'You pay' if pos else 'You get back'} ${a} {'with' if pos else 'on'} {pmm(w)}.",
     f"The change is complete.\n\n- New date: {ds}\n- Price difference: **${a}** ({'charged' if pos else 'refunded'} to {w.method})\n\nIs there anything else?",
     f"All set! The new fare is ${new} in total compared to ${old} before, so the difference is ${a}, which {'you pay – it was charged' if pos else 'you get back – it was refunded'} to {pmm(w)}.",
     f"Your flight has been successfully changed to {ds}. Difference: ${a} – {'you pay this amount' if pos else 'this amount is refunded to you'}.",
     f"I've updated {w.code}. The fare {'increased' if pos else 'decreased'} by ${a} in total, and {'that amount has been charged to' if pos else 'that amount has been credited back to'} {pmm(w)}.",
     f"The flight change is confirmed for {ds}. "+' '.join(f"{['Outbound','Return'][l] if len(was['flights'])>1 else 'Flight'}: ${g['price']} vs. ${o['price']} per passenger ({'+' if g['price']>o['price'] else '-'}${abs(g['price']-o['price'])})." for l,o,g in legs)+f" For {n} passenger{'s' if n>1 else ''}, the total difference is ${a}, and you {'pay it' if pos else 'get it back'} via {pmm(w)}.",
     f"Your booking has been changed. The new flights are {'$%d more expensive'%a if pos else '$%d cheaper'%a} in total, so {'you were charged' if pos else 'you were refunded'} ${a} on {pmm(w)}.",
     f"Everything is updated: new date {ds}. The difference of ${a} {'was charged to' if pos else 'has been credited to'} {pmm(w)}; {'you pay it' if pos else 'you receive it back'}.",
    ][k]
def plan(k,pk=None):
    def f(w):
        ch,legs,tot,n,was=info(w)
        yield Call('get_user_details',{'user_id':w.customer}); yield Call('get_reservation_details',{'reservation_id':w.code})
        for l,o,g in legs: yield Call('search_direct_flight',{'origin':o['origin'],'destination':o['destination'],'date':g['date']})
        yield Say(text=prop(w,k if pk is None else pk))
        yield ch
        yield Say(text=fin(w,k))
    return f
V={f'v{k}':plan(k) for k in range(9)}
if __name__=='__main__':
    table('tau2_relative_date_reasoning',[0,1,2],V,n=50)
