from common import *
from datetime import date, timedelta
def D(s): return date.fromisoformat(s)
def long(s): d=D(s); return d.strftime("%A, %B ")+str(d.day)+", 2024"
def short(s): d=D(s); return d.strftime("%B ")+str(d.day)
FMT=[lambda s:s, long, short, lambda s:D(s).strftime("%a, ")+str(D(s).day)+D(s).strftime(" %b")]
def facts(e):
    w=e.start; write=w.change(w.days); t=w.reservations[w.code]; people=len(t["passengers"])
    new=w.after(write).reservations[w.code]; am=new["payment_history"][-1]["amount"]
    return w,write,t,people,new,am
FIN={ # refund / charge
"a":("The difference of ${a} will be refunded to your {m}.","The difference of ${a} will be charged to your {m}."),
"b":("The new fare is ${n} compared to ${o} before, so you get ${a} back on your {m}.","The new fare is ${n} compared to ${o} before, so you pay an additional ${a} with your {m}."),
"c":("- **Old price:** ${o}\n- **New price:** ${n}\n- **Difference:** ${a} refund to {m}","- **Old price:** ${o}\n- **New price:** ${n}\n- **Difference:** ${a} to be paid with {m}"),
"d":("The new flight is cheaper: ${o} - ${n} = ${a}. You will receive this amount back on your {m}.","The new flight is more expensive: ${n} - ${o} = ${a}. You will pay this amount with your {m}."),
"e":("The fare difference is ${a}, which you get back (credited to {m}).","The fare difference is ${a}, which you pay (charged to {m})."),
"f":("The difference of ${a} will be refunded to your {m}, so no additional payment is needed.","There is an additional cost of ${a}, which has been deducted from {m}."),
"g":("Price difference: -${a} (refund in your favor, to {m}).","Price difference: +${a} (charged to {m})."),
"h":("The total difference is ${a} in your favor. It has been refunded to {m}.","The total difference is ${a}. This amount has been charged to {m}, so you pay it."),
"i":("Per passenger the fare drops by ${g}; for {p} passenger(s) that makes a refund of ${a} to {m}.","Per passenger the fare rises by ${g}; for {p} passenger(s) that makes a charge of ${a} to {m}."),
"j":("Your {m} gets a refund of ${a}. You don't have to pay anything.","You owe ${a}, taken from {m}. There is no refund."),
"k":("You get ${a} back; the amount goes to {m}.","You pay ${a}; the amount is taken from {m}."),
"l":("The difference is ${a}. You get it back, you don't pay.","The difference is ${a}. You pay it."),
}
def agent(e,k,fmt=0,where="both",exp=True):
    w,write,t,people,new,am=facts(e); f=FMT[fmt]
    e.step(Call(tool="get_user_details",arguments={"user_id":w.customer})); e.step(Call(tool="get_reservation_details",arguments={"reservation_id":w.code}))
    for c in w.oracle():
        if isinstance(c,Call) and c.tool=="search_direct_flight": e.step(c)
    names=["outbound flight","return flight"] if len(t["flights"])>1 else ["flight"]
    o=sum(x["price"] for x in t["flights"])*people; n=sum(x["price"] for x in new["flights"])*people
    m="gift card" if w.method.startswith("gift") else f"credit card ({w.method})"
    line=FIN[k][am>0].format(a=abs(am),m=m,o=o,n=n,p=people,g=round(abs(am)/people))
    lines=[]
    for leg in w.legs:
        old,nw=t["flights"][leg],new["flights"][leg]; fl=w.flights[nw["flight_number"]]
        lines.append(f"- **{names[leg].capitalize()}:** from {f(old['date'])} ({old['flight_number']}) to **{f(nw['date'])}** ({nw['flight_number']}, {nw['origin']} → {nw['destination']}, {fl['scheduled_departure_time_est'][:5]}–{fl['scheduled_arrival_time_est'][:5]})")
    keep="".join(f"\n- Your {names[i]} on {f(x['date'])} stays as it is." for i,x in enumerate(t["flights"]) if i not in w.legs)
    u=user(e.step(Say(text=f"I looked at reservation {w.code}. Here is what I would change:\n\n"+"\n".join(lines)+keep+"\n\n"+(line+"\n\n" if where!="end" else "")+"Would you like me to proceed?")))
    if e.done: return
    e.step(write)
    if e.done: return
    u=user(e.step(Say(text=f"Your reservation {w.code} has been updated: "+" and ".join(f"your {names[l]} is now on {f(new['flights'][l]['date'])}" for l in w.legs)+". "+(line if where!="start" else ""))))
    if not e.done and "what is the difference" in u: e.step(Say(text=line))
if __name__=="__main__":
    for n,k in enumerate(FIN):
        run("tau2_relative_date_reasoning",range(3),range(100,160),agent,f"{k}/fmt{n%4}",show=1,k=k,fmt=n%4)
    for wh in ("start","end"): run("tau2_relative_date_reasoning",range(3),range(100,160),agent,f"where {wh}",show=1,k="a",fmt=1,where=wh)
