from claim import *
B2=[("You have {fr} free bags and {n} paid bags.\n\n- Free bags: {fr}\n- Paid bags: {n} × $50 = ${fee}\n\nThe payment goes to your {pm}. Shall I proceed?","Your trip {c} now has {t} checked bags. ${fee} has been charged to your {pm}."),
("As a {m} member you have {fr} free bags on {c}; the other {n} are paid bags at $50 each. May I add them, paid with your {pm}?","Done! ${fee} has been charged to your {pm}."),
("I can add {t} bags to {c}: {fr} free and {n} extra at $50 each, on your {pm}. Do you want me to proceed?","The bags have been added and your {pm} has been charged ${fee}."),
("{t} bags on {c}, of which {fr} are free for a {m} member. 3 paid bags would not do: it is {n} paid bags (${fee} total), on your {pm}. OK?".replace("3 paid bags would not do: it is ",""),"All done: {t} bags are on {c}, and ${fee} was charged to your {pm}."),
("I will add {t} bags to {c}, {n} of them at $50 each, which makes ${fee} on your {pm}. Shall I proceed?","Done."),
]
def ag(e,i,wrong=0):
    w=e.start; r=w.requests[0]
    if not isinstance(r,Bags): raise SkipIteration
    e.step(Call(tool="get_user_details",arguments={"user_id":w.customer})); e.step(Call(tool="get_reservation_details",arguments={"reservation_id":r.record}))
    b=w.reservations[r.record]; mem=w.users[w.customer]["membership"]; p=len(b["passengers"]); fr=policy.free_bags(mem,b["cabin"],p); n=r.extra-fr
    d=dict(m=mem,fr=fr,n=n,t=r.extra,fee=50*n,pm=r.named[3:],c=r.record)
    e.step(Say(text=B2[i][0].format(**d))); e.step(r.call(w,SKILLS))
    if not e.done: e.step(Say(text=B2[i][1].format(**d)))
for i in range(5): run("tau2_claim_verification",(0,2),range(100,220),ag,f"bags{i}",show=1 if i<2 else 0,i=i)
# wrong agents
def believe(e):
    for s in e.start.ablated():
        if not e.done: e.step(s)
def cautious(e): # refuse everything / grant everything
    for r in e.start.requests: e.step(Call(tool="get_reservation_details",arguments={"reservation_id":r.record}))
    if isinstance(e.start.requests[0],Bags): raise SkipIteration
    e.step(Say(text=" ".join(f"I cannot cancel {r.record}: {e.start.reservations[r.record]['cabin']}, booked on {e.start.reservations[r.record]['created_at'][:10]}, insurance {e.start.reservations[r.record]['insurance']}." for r in e.start.requests)))
def grant(e):
    if isinstance(e.start.requests[0],Bags): raise SkipIteration
    e.step(Say(text="To confirm: "+"; ".join(f"cancel {r.record}, refund {policy.refund(e.start.reservations[r.record])}" for r in e.start.requests)+". Shall I proceed?"))
    for r in e.start.requests: e.step(r.call(e.start,SKILLS))
    e.step(Say(text="Done."))
def insured_only(e):
    w=e.start
    if isinstance(w.requests[0],Bags): raise SkipIteration
    ok=[r for r in w.requests if w.reservations[r.record]["insurance"]=="yes"]
    t=" ".join(f"I cannot cancel {r.record}: {w.reservations[r.record]['cabin']}, booked on {w.reservations[r.record]['created_at'][:10]}, insurance no." for r in w.requests if r not in ok)
    if ok: t+=" To confirm: "+"; ".join(f"cancel {r.record}, refund {policy.refund(w.reservations[r.record])}" for r in ok)+". Shall I proceed?"
    e.step(Say(text=t))
    for r in ok: e.step(r.call(w,SKILLS))
    e.step(Say(text="Done."))
for f in (believe,cautious,grant,insured_only): run("tau2_claim_verification",range(4),range(100,180),f,f.__name__,show=0)
