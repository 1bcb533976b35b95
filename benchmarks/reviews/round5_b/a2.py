from a1 import *
W={"prop":["You paid {tot} dollars in all. I am going to cancel one of your trips. Do you agree?","You paid {tot} dollars in all. I will cancel all your trips. Do you agree?","You paid {tot} or {ref} or 5000 dollars in all. I am going to cancel {ch}. Do you agree?","I am going to cancel {ch}. {inl}. Do you agree?","Your trips cost 1000, 1500, 2000, 2500, 3000, {tot}, 4000 dollars. I am going to cancel {ch}. Do you agree?","I was charged {tot} dollars. I am going to cancel {ch}. Do you agree?"],
"done":["It is cancelled.","{ch} {verb} cancelled, and {ref} dollars were charged to you.","{ch} {verb} cancelled. You get back {tot} dollars.","{ch} {verb} cancelled. You get back {chi} .","{ch} {verb} cancelled. You get {ref} or {tot} dollars back.","All your trips are cancelled. {ref} dollars come back.","I could not cancel it. {ref} dollars come back."]}
def agent_nof(t,pick):
    w=t.w.copy(); c=ctx(w); t.say(pick("prop").format(**c))
    for r in w.requests: t.call("cancel_reservation",reservation_id=r.reservation)
    a=t.say(pick("done").format(**c)); k=0
    while a and k<2: a=t.say("Yes, everything that you asked for is done."); k+=1
PLAIN={"prop":["You paid {tot} dollars in all. I am going to cancel {ch}. Do you agree?"],"done":V["done"][:1]}
wrong(E,range(4),range(25),{"prop":W["prop"]},PLAIN,agent_nof)
P2={"prop":PLAIN["prop"],"done":V["done"][:1]}
wrong(E,range(4),range(25),{"done":W["done"]},P2,agent_nof)
from collections import Counter
# correct: no amount in proposal, only at the end
sweep(E,range(4),range(25),{"prop":["You paid {tot} dollars in all. I am going to cancel {ch}. Do you agree?","You paid {tot} dollars in all for {scope}: {inl}. The one{s} to be cancelled: {ch}. OK?"],"done":V["done"][:6]},agent)
# two step: tell total first, then proposal
def two(t):
    w=t.w.copy(); c=ctx(w); t.log.append(str(t.say("The total you paid for {scope} is ${tot}.".format(**c)))); a=t.say("I would cancel {ch}; ${ref} come back. Shall I proceed?".format(**c))
    for r in w.requests: t.call("cancel_reservation",reservation_id=r.reservation)
    a=t.say("{ch} {verb} cancelled and ${ref} come back.".format(**c)); 
    if a: t.say("Yes, all is done.")
def onebyone(t):
    w=t.w.copy(); c=ctx(w); t.say("You paid ${tot} in all. I will cancel {ch}. Shall I proceed?".format(**c))
    for r in w.requests:
        t.call("cancel_reservation",reservation_id=r.reservation); t.say(f"{r.reservation} is cancelled; ${policy.refund(w.reservations[r.reservation])} come back.")
    a=t.say("In all, ${ref} come back.".format(**c)); 
    if a: t.say("Yes, all is done.")
def consent1(t): # asks consent per trip
    w=t.w.copy(); c=ctx(w); t.say("You paid ${tot} in all for {scope}.".format(**c))
    for r in w.requests:
        t.say(f"I will cancel {r.reservation}; ${policy.refund(w.reservations[r.reservation])} come back. Shall I proceed?"); t.call("cancel_reservation",reservation_id=r.reservation)
    a=t.say("All are cancelled. In all, ${ref} come back.".format(**c)); 
    if a: t.say("Yes, all is done.")
def abl_n(n):
    def f(t):
        w=t.w.copy(); cs=w.users[w.customer]["reservations"]
        for s in w.steps(cs[:n]): t.do(s)
    return f
def firstpay(t):
    w=t.w.copy(); R=w.reservations
    import generated_envs.tau2_aggregation as A
    tr={c:(b["payment_history"][0]["amount"],len(b["passengers"])) for c,b in R.items()}
    ch=[w.named] if w.named else A.meant(w.rule,w.limit,w.heads,tr); tot=sum(v[0] for c,v in tr.items() if not w.named or c==w.named); ref=sum(tr[c][0] for c in ch)
    t.say(f"You paid {tot} dollars in all. I am going to cancel {', '.join(ch)}, and {ref} dollars come back. Do you agree?")
    for c in ch: t.call("cancel_reservation",reservation_id=c)
    if t.say(f"It is cancelled. {ref} dollars come back."): t.say("Yes, all is done.")
shortcuts(E,range(4),range(50),dict(oracle=oracle,ablated=ablated,two=two,onebyone=onebyone,consent1=consent1,first1=abl_n(1),first2=abl_n(2),first4=abl_n(4),firstpay=firstpay))
