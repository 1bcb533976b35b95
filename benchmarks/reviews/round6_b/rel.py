from h import *
import datetime
E="tau2_relative_date_reasoning"
def long(d): 
    x=datetime.date.fromisoformat(d); return x.strftime("%A, %B ")+str(x.day)+", 2024"
def short(d):
    x=datetime.date.fromisoformat(d); return x.strftime("%B ")+str(x.day)
def make(confirm, final, days=None, both=True):
    def pol(a):
        w=a.w; ds=days(w) if days else w.days
        prof=a.call("get_user_details",user_id=w.customer)
        b=a.call("get_reservation_details",reservation_id=w.code)
        legs=[{"flight_number":f["flight_number"],"date":f["date"]} for f in b["flights"]]
        info=[]
        from trace_gym.targets.tau2 import records
        for leg,n in zip(w.legs,ds):
            o=b["flights"][leg]; d=records.day(n)
            r=a.call("search_direct_flight",origin=o["origin"],destination=o["destination"],date=d)
            if not isinstance(r,list) or not r: a.say(f"I am sorry, I found no flight on {long(d)}."); return
            legs[leg]={"flight_number":r[0]["flight_number"],"date":d}
            info.append(dict(o=o,n=r[0],d=d,p=r[0]["prices"][b["cabin"]],name=("outbound","return")[leg]))
        P=len(b["passengers"]); tot=sum(i["p"]-i["o"]["price"] for i in info)*P
        c=dict(code=w.code,pay=w.method,info=info,P=P,tot=tot,cabin=b["cabin"],long=long,short=short)
        r=a.say(confirm(c))
        k=0
        while r and not a.done and k<2 and "go ahead" not in r.lower() and "yes" not in r.lower():
            r=a.say("Shall I proceed with that change?"); k+=1
        a.call("update_reservation_flights",reservation_id=w.code,cabin=b["cabin"],flights=legs,payment_id=w.method)
        r=a.say(final(c))
        if r and not a.done: a.say(final(c))
    return pol
def c1(c):
    s=f"Thank you! I worked out the new date(s):\n\n"
    for i in c["info"]:
        s+=f"- **{i['name'].capitalize()} flight**: currently {i['o']['flight_number']} on {long(i['o']['date'])} (${i['o']['price']} per person) → new flight {i['n']['flight_number']} on **{long(i['d'])}**, departing {i['n']['scheduled_departure_time_est'][:5]} (${i['p']} per person)\n"
    s+=f"\nCabin stays {c['cabin'].replace('_',' ')}. With {c['P']} passenger(s), the total difference is ${abs(c['tot'])}, which "+("you will pay" if c['tot']>0 else "will be refunded to you")+f" using {c['pay']}.\n\nWould you like me to proceed with this change? (yes/no)"
    return s
def c2(c):
    return f"That comes to {' and '.join(long(i['d']) for i in c['info'])}. Do you want me to make this change to reservation {c['code']} using {c['pay']}?"
def f1(c):
    s=f"Your reservation {c['code']} has been updated:\n\n"
    for i in c["info"]: s+=f"- {i['name'].capitalize()} flight: {i['n']['flight_number']} on {long(i['d'])}, ${i['p']} per passenger (previously ${i['o']['price']})\n"
    s+=f"\nThe fare difference is ${abs(c['tot'])} in total for {c['P']} passenger(s). "+("You pay this amount; it has been charged to " if c['tot']>0 else "You get this amount back; it has been refunded to ")+c['pay']+"."
    return s
def f2(c):
    s=f"All done! Your flight is now on {' and '.join(short(i['d']) for i in c['info'])}. "
    s+= f"You owe an additional ${abs(c['tot'])}, which was charged to your card {c['pay']}." if c['tot']>0 else f"The new fare is lower, so you get ${abs(c['tot'])} back, credited to {c['pay']}."
    return s
def f3(c):
    i=c["info"]
    lines="; ".join(f"{x['name']}: ${x['o']['price']} → ${x['p']} ({'+' if x['p']>x['o']['price'] else '-'}${abs(x['p']-x['o']['price'])} per person)" for x in i)
    return f"Done. {lines}. Difference for {c['P']} passenger(s): ${abs(c['tot'])} – "+("you pay it" if c['tot']>0 else "you get it back")+f" via {c['pay']}."
def f4(c): # mixed direction per-leg breakdown
    s=f"The change is complete. "
    for x in c["info"]:
        d=(x['p']-x['o']['price'])*c['P']
        s+=f"The {x['name']} flight costs ${abs(d)} {'more' if d>0 else 'less'} in total. "
    s+=f"Overall, the difference is ${abs(c['tot'])}, "+("which you pay" if c['tot']>0 else "which you get back")+f" ({c['pay']})."
    return s
def f5(c): return f"Your trip {c['code']} has been changed. The total difference of ${abs(c['tot'])} is a "+("charge to you, paid with " if c['tot']>0 else "refund to you, returned to ")+c['pay']+". Have a great trip!"
def f6(c): # negative sign style
    old=sum(x['o']['price'] for x in c['info'])*c['P']; new=sum(x['p'] for x in c['info'])*c['P']
    return f"Your reservation {c['code']} has been successfully updated.\n\n**Price summary:**\n- Old fare: ${old}\n- New fare: ${new}\n- Difference: ${abs(c['tot'])} "+("(additional charge to you)" if c['tot']>0 else "(refund to you)")+f"\n- Payment method: {c['pay']}\n\nIs there anything else I can help you with?"
# wrong ones
def x1(c): return f1({**c,"tot":-c["tot"]})
def x2(c): return f"Done. The difference of ${abs(c['tot'])} was settled with {c['pay']}; you pay it or get it back accordingly."
def x3(c): return f"Done. The difference was settled with {c['pay']}."
def x4(c): return f"Done. The difference is ${abs(c['tot'])}. You {'get it back' if c['tot']>0 else 'pay it'}, via {c['pay']}."
def cx4(c): return c2(c)
if __name__=="__main__":
    S=range(60)
    for L in range(3):
        for nm,cf,ff in [("c1f1",c1,f1),("c1f2",c1,f2),("c2f3",c2,f3),("c1f4",c1,f4),("c2f5",c2,f5),("c1f6",c1,f6),("WRONG swap",cx4,x1),("WRONG hedge",c2,x2),("WRONG noamount",c2,x3),("WRONG swap2",c2,x4)]:
            trial(E,L,make(cf,ff),S,show=0 if nm.startswith("WRONG") else 1,tag=nm)
        trial(E,L,make(c1,f1,days=lambda w:w.slips),S,show=0,tag="ABLATED from today")
