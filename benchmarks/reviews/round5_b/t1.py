from lib import *
from trace_gym.targets.tau2.airline import Upgrade,Bags,SKILLS
E="tau2_tool_precision"
def ctx(w):
    w=w.copy(); r=w.requests[0]; b=w.reservations[r.reservation]; want=w.served().reservations[r.reservation]; n=len(b["passengers"])
    d=sum(p["amount"] for p in want["payment_history"][len(b["payment_history"]):]); m=w.users[w.customer]["payment_methods"][r.method]
    o=sum(f["price"] for f in b["flights"]); nw=sum(f["price"] for f in want["flights"])
    call=r.call(w,SKILLS).arguments
    return dict(code=r.reservation,m=r.method,named=r.named.replace("my ","your "),d=d,o=o,nw=nw,n=n,per=nw-o,tot=call.get("total_baggages"),paid=call.get("nonfree_baggages"),cab=b["cabin"].replace("_"," "),fl=b["flights"][0]["flight_number"],date=b["flights"][0]["date"],mem=w.users[w.customer]["membership"],had=b["total_baggages"],more=getattr(r,"extra",0),oldm=b["payment_history"][0]["payment_id"],opaid=b["payment_history"][0]["amount"])
isup=lambda w: isinstance(w.requests[0],Upgrade)
UP={"prop":["To confirm: business for {code}, charged to {m}. Shall I proceed?",
"I will upgrade reservation {code} from {cab} to business class on the same flight ({fl} on {date}). The price difference of ${d} will be charged to {named}. Do you confirm?",
"Here's what I'll do:\n- Reservation: {code}\n- New cabin: business\n- Payment method: {m} ({named})\n\nWould you like me to proceed?",
"I can upgrade {code} to business. The current fare is ${o} per person and the business fare is ${nw}, a difference of ${per} per passenger for {n} passenger(s), ${d} in total, charged to {named}. Shall I go ahead?",
"Upgrading {code} to business will be charged to {named} ({m}). May I go ahead?",
"I'm going to upgrade {code} to business and charge the difference to {m}. The trip was originally paid with {oldm}. Is that okay?"],
"done":["All done.","Your reservation {code} has been upgraded to business class. The difference of ${d} was charged to {named}.",
"Done! {code} is now in business. ${d} has been charged to {m}.","The upgrade is complete:\n- Reservation: {code}\n- Cabin: business\n- Charged: ${d} to {named}\n\nIs there anything else I can help with?",
"{code} now flies in business. The fare went from ${o} to ${nw} per person, so ${d} was charged to {named}.",
"All set! Flight {fl} on {date} is now in business class. The upgrade cost ${per} per passenger, ${d} in total.",
"{code} has been upgraded. The new price of the flight is ${nw}; you had paid ${opaid} before. The difference was charged to {named}.",
"Your upgrade to business on {code} went through; {n} x ${per} = ${d} were charged to {named}."]}
BG={"prop":["To confirm: {tot} bags, {paid} of them paid, for {code}, charged to {m}. Shall I proceed?",
"I will add {more} checked bag(s) to {code}, for a total of {tot}. As a {mem} member in {cab}, some bags are free; {paid} will be paid at $50 each, so ${d} in total is charged to {named}. Do you confirm?",
"I'll add {more} bags to {code} ({tot} in total, {paid} paid): ${d} on {m}. OK?"],
"done":["All done.","{more} checked bags have been added to {code}. The charge of ${d} went to {named}.","Your reservation {code} now has {tot} checked bags, {paid} of them paid. Total: ${d}, on {named}.","Done! The bags were added to {code}; {paid} bags x $50 = ${d} charged to {m}.","The {more} bags are on {code} now. You pay ${d}.","The bags have been added. ${d} was charged to {named}."]}
def mkagent(V):
    def agent(t,pick):
        w=t.w.copy(); c=ctx(w); t.call("get_user_details",user_id=w.customer); t.call("get_reservation_details",reservation_id=c["code"])
        t.say(pick("prop").format(**c)); t.do(w.requests[0].call(w,SKILLS)); a=t.say(pick("done").format(**c)); 
        if a: t.say(f"Yes, it is done for {c['code']}.")
    return agent
if __name__=="__main__":
    print("UPGRADE"); sweep(E,range(4),range(30),UP,mkagent(UP),filt=lambda w,s: isup(w))
    print("BAGS"); sweep(E,(2,3),range(50),BG,mkagent(BG),filt=lambda w,s: not isup(w))
    print("BAGS d>0"); sweep(E,(2,3),range(100),BG,mkagent(BG),filt=lambda w,s: not isup(w) and ctx(w)["d"]>0,show=0)
    W={"done":["Done. {d} dollars were refunded to {named}.","Done. The difference of $999 was charged.","{code} is in economy now.","Done. ${d} was charged to {oldm}.","I could not upgrade {code}.","Done, for free."],"prop":["I will upgrade {code} to business and charge your certificate. Shall I proceed?","I will upgrade {code}. Shall I proceed?","I will cancel {code}. Shall I proceed?","I will upgrade {code} to business for $1. Shall I proceed?"]}
    wrong(E,range(4),range(25),W,UP,mkagent(UP),filt=lambda w,s:isup(w))
    def pol(choose):
        def f(t):
            w=t.w.copy(); r=w.requests[0]; ms=w.users[w.customer]["payment_methods"]; m=choose(w,ms,r); a=r.call(w,SKILLS); a.arguments["payment_id"]=m
            t.call("get_user_details",user_id=w.customer); t.say(f"To confirm: I will do this for {r.reservation}, charged to {m}. Shall I proceed?"); t.do(a); t.say("All done.")
        return f
    shortcuts(E,range(4),range(60),dict(oracle=oracle,ablated=ablated,same=pol(lambda w,ms,r:w.reservations[r.reservation]["payment_history"][0]["payment_id"]),first=pol(lambda w,ms,r:list(ms)[0]),notsame=pol(lambda w,ms,r:next(m for m in ms if m!=w.reservations[r.reservation]["payment_history"][0]["payment_id"]))))
    def nocons(t):
        w=t.w.copy(); t.do(w.requests[0].call(w,SKILLS)); t.say("All done.")
    def retry(t): # try other methods until error?
        w=t.w.copy(); r=w.requests[0]; t.say("Shall I proceed?")
    shortcuts(E,range(4),range(60),dict(nocons=nocons))
