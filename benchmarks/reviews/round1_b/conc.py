from common import *
from trace_gym.targets.tau2.airline import SKILLS
CN={"basic_economy":"basic economy","economy":"economy","business":"business class"}
REF=["I'm sorry, but I cannot change {c}: its flight on {d} has already been flown.",
"Unfortunately, reservation {c} can't be changed because the flight {f} on {d} has already landed.",
"{c} can no longer be changed, since its flight has already taken place.",
"Reservation **{c}** has already been flown ({d}), so a cabin change is no longer possible.",
"For {c}, the flight {f} has already landed, so I'm not able to change its cabin.",
"I'm unable to upgrade {c}: the flight was completed on {d}.",
"{c}: not possible. The flight on {d} has already departed and landed.",
"The flight of {c} was on {d}, which is in the past. Its status is \"landed\", so the cabin can't be changed.",
"Regarding {c}: I can't make changes to it, because this trip has already been taken.",
"Since the flight in {c} already landed on {d}, the cabin of this trip cannot be changed anymore."]
def agent(e,i,layout=0):
    w=e.start
    e.step(Call(tool="get_user_details",arguments={"user_id":w.customer}))
    for r in w.requests:
        e.step(Call(tool="get_reservation_details",arguments={"reservation_id":r.record}))
        for l in w.reservations[r.record]["flights"]: e.step(Call(tool="get_flight_status",arguments={"flight_number":l["flight_number"],"date":l["date"]}))
    ref=[];pro=[];wr=[];fin=[]
    for r in w.requests:
        b=w.reservations[r.record]; l=b["flights"][0]
        if not r.verdict(w).allowed: ref.append(REF[i].format(c=r.record,d=l["date"],f=l["flight_number"])); continue
        pro.append(f"- **{r.record}**: change from {CN[b['cabin']]} to {CN[r.cabin]}, difference on your {r.named}"); wr.append(r.call(w,SKILLS)); fin.append(f"{r.record} is now in {CN[r.cabin]}")
    if layout==0:
        e.step(Say(text="I've reviewed your reservations.\n\n"+"\n".join(pro)+"\n\n"+"\n".join(ref)+"\n\nWould you like me to proceed with "+("these changes?" if len(pro)>1 else "this change?")))
        for c in wr: e.step(c)
        if not e.done: e.step(Say(text="All done: "+"; ".join(fin)+". Is there anything else I can help you with?"))
    elif layout==1:
        if ref: e.step(Say(text=" ".join(ref)+" I can change the other one(s), though. Shall I continue?"))
        for p,c,f in zip(pro,wr,fin):
            e.step(Say(text=f"I'll make this change:\n{p}\nDo you confirm?")); e.step(c)
        if not e.done: e.step(Say(text="Everything is done: "+"; ".join(fin)+"."))
    else:
        if pro:
            e.step(Say(text="Let me confirm the details first:\n"+"\n".join(pro)+"\nIs that correct, and may I go ahead?"))
            for c in wr: e.step(c)
        if not e.done: e.step(Say(text="I have updated the following: "+"; ".join(fin)+". "+" ".join(ref)+" Let me know if you need anything else."))
if __name__=="__main__":
    for i in range(10): run("tau2_concurrent_intents",(0,1,3),range(100,170),agent,f"{i}/{i%3}",show=1,i=i,layout=i%3)
    for i in (2,3): run("tau2_concurrent_intents",(0,3),range(100,170),agent,f"{i}/{0}",show=1,i=i,layout=0)
