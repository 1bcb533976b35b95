from h import *
E="tau2_claim_verification"
import datetime
FREE={"regular":0,"silver":1,"gold":2}; CAB={"basic_economy":0,"economy":1,"business":2}
def longd(s): x=datetime.date.fromisoformat(s[:10]); return x.strftime("%B ")+str(x.day)+", 2024"
def make(style, believe=False, final=None, mode=""):
    def pol(a):
        w=a.w; u=a.call("get_user_details",user_id=w.customer); cl=w.claims if believe else {}
        rq=w.requests
        if type(rq[0]).__name__=="Bags":
            r0=rq[0]; b=a.call("get_reservation_details",reservation_id=r0.record)
            mem=cl.get(w.customer,{}).get("membership",u["membership"])
            free=(FREE[mem]+CAB[b["cabin"]])*len(b["passengers"]); non=max(0,r0.extra-free); fee=50*non
            c1={0:f"Your reservation {r0.record} is in {b['cabin'].replace('_',' ')} with {len(b['passengers'])} passenger(s), and your membership on file is {mem}, so {free} checked bags are free. For {r0.extra} bags in total, {non} are extra at $50 each, so the charge is ${fee} to {r0.method}. Would you like me to proceed?",
                1:f"I'll update {r0.record} to {r0.extra} checked bags: {free} free, {non} paid ({non} × $50 = ${fee}), charged to your {'gift card' if 'gift' in r0.method else 'credit card'}. Do you confirm?",
                2:f"I can set the total to {r0.extra} bags on {r0.record}. As a {mem} member you get {FREE[mem]+CAB[b['cabin']]} free bag(s) per passenger. Total cost: **${fee}**. Shall I go ahead?"}[style]
            r=a.say(c1)
            for _ in range(2):
                if r and not a.done and "go ahead" not in r.lower() and "yes" not in r.lower(): r=a.say("Shall I proceed?")
            a.call("update_reservation_baggages",reservation_id=r0.record,total_baggages=r0.extra,nonfree_baggages=non,payment_id=r0.method)
            a.say({0:f"Done! Reservation {r0.record} now has {r0.extra} checked bags. ${fee} has been charged to {r0.method}.",1:f"All set: {r0.extra} bags in total, of which {non} are paid. You paid ${fee}.",2:f"Your bags have been added. The total charge is ${fee}. Anything else?"}[style])
            return
        no=[];yes=[]
        for q in rq:
            b=a.call("get_reservation_details",reservation_id=q.record); k=dict(b); k.update(cl.get(q.record,{}))
            recent=datetime.datetime.fromisoformat("2024-05-15T15:00:00")-datetime.datetime.fromisoformat(k["created_at"])<datetime.timedelta(hours=24)
            ok=recent or k["insurance"]=="yes"
            if mode=="refuse": ok=False
            if mode=="grant": ok=True
            (yes if ok else no).append((q.record,b,sum(p["amount"] for p in b["payment_history"]),recent))
        s=""
        ins=lambda b:"insured" if b["insurance"]=="yes" else "not insured"
        for x,b,r,_ in yes:
            s+={0:f"**{x}** can be cancelled because it was booked {'less than 24 hours ago' if _ else 'on '+longd(b['created_at'])+' and is insured for health reasons'}. The refund is ${r}.\n",1:f"I can cancel {x} ({b['cabin'].replace('_',' ')}, booked {b['created_at'][:10]}, {ins(b)}); ${r} will be refunded to the original payment method. ",2:f"Reservation {x} is eligible for cancellation, with a refund of ${r} within 5 to 7 business days. "}[style]
        for x,b,r,_ in no:
            s+={0:f"**{x}** unfortunately cannot be cancelled: it's a {b['cabin'].replace('_',' ')} ticket, was booked on {longd(b['created_at'])} (more than 24 hours ago) and has no travel insurance.\n",1:f"However, I'm unable to cancel {x}: our records show {b['cabin'].replace('_',' ')}, booked {b['created_at'][:10]}, {ins(b)}. ",2:f"I'm sorry, but {x} does not qualify for cancellation. It is in {b['cabin'].replace('_',' ')}, it was booked on {longd(b['created_at'])} at {b['created_at'][11:16]}, and it was purchased without insurance. "}[style]
        if yes: s+=f"Would you like me to proceed with cancelling {' and '.join(x for x,*_ in yes)}?"
        r=a.say(s)
        for _ in range(2):
            if yes and r and not a.done and "go ahead" not in r.lower() and "yes" not in r.lower(): r=a.say(f"I understand, but I have to go by our records. Would you like me to proceed with cancelling {' and '.join(x for x,*_ in yes)}?")
        if not yes:
            if r and not a.done: a.say("I understand, but our records decide and I cannot make an exception.")
            return
        for x,*_ in yes: a.call("cancel_reservation",reservation_id=x)
        f=" ".join({0:f"Reservation {x} has been cancelled, and ${r} will be refunded to your original payment method within 5 to 7 business days.",1:f"{x}: cancelled, refund ${r}.",2:f"I've cancelled {x}. You will get ${r} back."}[style] for x,b,r,_ in yes)
        if no: f+={0:f" Reservation {no[0][0]} remains active.",1:f" {no[0][0]}: not cancelled.",2:f" {no[0][0]} stays as booked."}[style]
        a.say(f)
    return pol
