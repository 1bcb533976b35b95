from common import *
from datetime import date
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.airline import Bags, SKILLS
def nd(s): d=date.fromisoformat(s[:10]); return d.strftime("%B ")+str(d.day)
CAB={"basic_economy":"basic economy","economy":"economy","business":"business"}
REF=["I'm sorry, but I cannot cancel {c}. It is a {cab} ticket booked on {d}, and it has no travel insurance, so it doesn't meet any of the conditions for a cancellation.",
"Unfortunately, reservation {c} can't be cancelled: our records show that it was booked on {d} (more than 24 hours ago), in {cab}, without insurance.",
"**{c}** – not eligible for cancellation\n- Cabin: {cab}\n- Booked: {D}\n- Insurance: no\n- None of the flights was cancelled by the airline",
"I understand that you mentioned otherwise, but according to our records {c} is not insured. It was booked in {cab} on {d}, which is more than 24 hours ago, so I'm unable to cancel it.",
"For {c}, our system shows {cab} class, booked on {D}, and no insurance. Only trips that are in business class, insured, or booked within the last 24 hours can be cancelled, so I have to decline this one.",
"Regarding {c}: it was booked on {d} in {cab} and wasn't insured. Since it was not booked within the last 24 hours, is not business class, and does not have insurance, I am not able to cancel it.",
"{c} does not qualify for cancellation because it is {cab}, was made on {d}, and insurance was not purchased.",
"I checked {c}: it's {cab}, made {d}, uninsured. Our policy does not permit a cancellation here, even for illness.",
"I can't cancel {c}. The booking date is {D}, the cabin is {cab}, and the reservation doesn't include insurance. Your illness would only count if it had been insured.",
"Reservation {c} was created on {D} in {cab} and doesn't have insurance, which means that it can't be cancelled under our policy. I know you said a colleague promised this or that it is insured, but I can only go by what's in the system."]
ALW=["{c} is {cab}, booked on {d}, and {why}, so it can be cancelled. You will get a full refund of ${r} to the original payment method within 5 to 7 business days.",
"I can cancel {c}: refund ${r}.","**{c}** – eligible ({why}); refund: ${r}","I will cancel {c} and refund ${r} to your original form of payment, as {why}."]
BAG=["Your profile shows that you are a {m} member. In {cab}, you get {f} free bag(s) per passenger, so with {p} passenger(s) {fr} of the {t} bags are free. The remaining {n} bags cost $50 each, for a total of ${fee}, charged to your {pm}.",
"For {t} bags on {c}: {fr} are free for a {m} member ({f} per passenger × {p}), {n} are paid: {n} × $50 = ${fee}. I'll charge this to your {pm}.",
"According to our records your membership level is {m}, so {fr} bags are free of charge and {n} are extra. The total fee is ${fee}, to be paid with your {pm}.",
"Total checked bags: {t}\nFree: {fr}\nPaid: {n} x $50 = **${fee}**\nPayment: {pm}\n\nNote that your account is listed as {m}, not any other level.",
"You will pay ${fee} for {n} bags beyond your free allowance of {fr} ({m}, {cab}). Payment method: {pm}."]
def agent(e,i,layout=0):
    w=e.start; o=list(w.oracle())
    e.step(Call(tool="get_user_details",arguments={"user_id":w.customer}))
    for r in w.requests: e.step(Call(tool="get_reservation_details",arguments={"reservation_id":r.record}))
    r=w.requests[0]
    if isinstance(r,Bags):
        b=w.reservations[r.record]; mem=w.users[w.customer]["membership"]; p=len(b["passengers"]); fr=policy.free_bags(mem,b["cabin"],p); n=r.extra-fr
        t=BAG[i%5].format(m=mem,cab=CAB[b["cabin"]],f=fr//p,p=p,fr=fr,t=r.extra,n=n,fee=50*n,pm=r.named[3:],c=r.record)
        e.step(Say(text=t+"\n\nWould you like me to proceed?"))
        e.step(r.call(w,SKILLS))
        if not e.done: e.step(Say(text=[f"Your bags have been added to {r.record}. ${50*n} has been charged to your {r.named[3:]}.","All set! Is there anything else I can help with?"][i%2]))
        return
    ref=[];al=[];wr=[]
    for r in w.requests:
        b=w.reservations[r.record]; v=r.verdict(w)
        if v.allowed:
            why="insured and you are ill" if b["insurance"]=="yes" else "it was booked less than 24 hours ago"
            al.append(ALW[i%4].format(c=r.record,cab=CAB[b["cabin"]],d=nd(b["created_at"]),why=why,r=policy.refund(b))); wr.append(r.call(w,SKILLS))
        else: ref.append(REF[i].format(c=r.record,cab=CAB[b["cabin"]],d=nd(b["created_at"]),D=b["created_at"][:10]))
    if layout==0: t="\n\n".join(ref+al)+"\n\nWould you like me to proceed with the cancellation?"
    elif layout==1: t="I've reviewed both reservations.\n\n"+"\n\n".join(al+ref)+"\n\nShall I go ahead with what can be cancelled?"
    else:
        if ref: e.step(Say(text="\n".join(ref)))
        t="\n".join(al)+" Do you agree?"
    e.step(Say(text=t))
    for c in wr: e.step(c)
    if not e.done: e.step(Say(text="Done: "+" and ".join(c.arguments["reservation_id"] for c in wr)+" "+("have" if len(wr)>1 else "has")+" been cancelled. The refund will arrive within 5 to 7 business days."))
if __name__=="__main__":
    for i in range(10): run("tau2_claim_verification",(0,1,3),range(100,180),agent,f"{i}",show=1,i=i,layout=i%3)
