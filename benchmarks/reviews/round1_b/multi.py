from common import *
from datetime import date
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.airline import Cancel, Upgrade, SKILLS
def nd(s): d=date.fromisoformat(s[:10]); return d.strftime("%B ")+str(d.day)
REF=["Unfortunately, I cannot cancel {c}: it is an economy booking from {d} without the conditions for a cancellation ({i}).",
"I'm unable to cancel {c}. It's an {cab} ticket, booked on {d}, {i2}, so it doesn't qualify for a cancellation.",
"**{c}** – cannot be cancelled: cabin {cab}, booked {D}, insurance: {ins}.",
"For {c}: it was booked on {D} (more than 24 hours ago) in {cab} class and {i2}; your reason, a change of plans, isn't covered, so I have to decline this cancellation.",
"{c} doesn't meet the cancellation policy, as it was booked on {d} in {cab} and {i2}. I'm sorry that I can't help with that one.",
"I cannot cancel {c} because it's {cab}, was booked on {d}, and the insurance ({ins}) doesn't cover a change of plans."]
def agent(e,style,layout):
    w=e.start; R=w.reservations; pm={}
    e.step(Call(tool="get_user_details",arguments={"user_id":w.customer}))
    rs=list(w.requests)
    if style%2: rs=rs[::-1]
    for r in rs: e.step(Call(tool="get_reservation_details",arguments={"reservation_id":r.record}))
    if any(isinstance(r,Cancel) for r in rs):
        u=user(e.step(Say(text=["May I ask for the reason for the cancellations?","Could you tell me why you'd like to cancel these trips?","What is the reason for cancelling?"][style%3])))
    ref=[];pro=[];wr=[];fin=[];
    for r in rs:
        b=R[r.record]
        if not r.verdict(w).allowed:
            yes=b["insurance"]=="yes"
            ref.append(REF[style].format(c=r.record,d=nd(b["created_at"]),D=b["created_at"][:10],cab=b["cabin"].replace("_"," "),ins=b["insurance"],i="the insurance only covers health or weather" if yes else "no insurance",i2="insured only for health or weather reasons" if yes else "has no insurance")); continue
        if isinstance(r,Cancel):
            pro.append(f"Cancel {r.record} – refund of ${policy.refund(b)} to your original payment method"); fin.append(f"{r.record} has been cancelled, and ${policy.refund(b)} will be refunded within 5 to 7 business days")
        else:
            c=r.call(w,SKILLS); want=w.copy(); want.update_reservation_flights(**c.arguments); d=want.reservations[r.record]["payment_history"][-1]["amount"]
            pro.append(f"Upgrade {r.record} from {b['cabin'].replace('_',' ')} to business class – ${abs(d)} {'charged' if d>0 else 'refunded'} to your credit card ({r.method})"); fin.append(f"{r.record} has been upgraded to business class for ${abs(d)}")
        wr.append(r.call(w,SKILLS))
    if e.done: return
    if layout==0:
        e.step(Say(text="Here's a summary of what I can do:\n\n"+"\n".join(f"{n+1}. {p}" for n,p in enumerate(pro))+("\n\n"+"\n".join(ref) if ref else "")+"\n\nWould you like me to proceed with all of these? (yes/no)"))
        for c in wr: e.step(c)
        if not e.done: e.step(Say(text="All done!\n\n"+"\n".join(f"- {f}." for f in fin)+"\n\nIs there anything else I can help you with?"))
    elif layout==1:
        for n,(p,c,f) in enumerate(zip(pro,wr,fin)):
            e.step(Say(text=(f"{fin[n-1]}. Next: " if n else "")+f"{p}. Shall I go ahead?")); e.step(c)
        if not e.done: e.step(Say(text=fin[-1]+". "+" ".join(ref)))
    else:
        if ref: e.step(Say(text=" ".join(ref)))
        e.step(Say(text="The rest I can do for you:\n"+"\n".join(f"- {p}" for p in pro)+"\nDo you agree?"))
        for n,(c,f) in enumerate(zip(wr,fin)):
            e.step(c)
            if not e.done: e.step(Say(text=f"{f}."+(" I'll continue with the next one." if n<len(wr)-1 else " Everything is finished.")))
if __name__=="__main__":
    for st in range(6): run("tau2_multi_step",range(4),range(100,170),agent,f"style{st}/lay{st%3}",show=1,style=st,layout=st%3)
    for st in range(6): run("tau2_multi_step",(0,2,3),range(100,170),agent,f"style{st}/lay{(st+1)%3}",show=1,style=st,layout=(st+1)%3)
