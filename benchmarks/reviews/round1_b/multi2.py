from multi import *
def ag(e,mode):
    w=e.start; R=w.reservations; rs=w.requests
    if any(not r.verdict(w).allowed for r in rs): raise SkipIteration
    for r in rs: e.step(Call(tool="get_reservation_details",arguments={"reservation_id":r.record}))
    can=[r for r in rs if isinstance(r,Cancel)]; tot=sum(policy.refund(R[r.record]) for r in can)
    up=[r for r in rs if not isinstance(r,Cancel)]
    if mode=="sum": t="I will cancel "+", ".join(r.record for r in can)+f". The total refund is ${tot}, to your original payment methods."
    if mode=="sumeq": t="I will cancel "+", ".join(r.record for r in can)+f". The total refund is "+" + ".join(f"${policy.refund(R[r.record])}" for r in can)+f" = ${tot}, to your original payment methods."
    if mode=="eachsum": t="\n".join(f"- Cancel {r.record}: ${policy.refund(R[r.record])}" for r in can)+f"\n\nTotal refund: ${tot}"
    if mode=="charged": t="\n".join(f"- Cancel {r.record}: ${policy.refund(R[r.record])} will be charged to you" for r in can)
    if mode=="table": t="| Reservation | Action | Amount |\n|---|---|---|\n"+"\n".join(f"| {r.record} | Cancel | ${policy.refund(R[r.record])} refund |" for r in can)
    if mode=="paid": t="\n".join(f"- Cancel {r.record}: you paid ${policy.refund(R[r.record])}, which will be fully refunded" for r in can)
    if mode=="upgraded": t="\n".join(f"- Cancel {r.record}: ${policy.refund(R[r.record])} refunded" for r in can)
    if up: t+="\nI will upgrade "+" and ".join(r.record for r in up)+" to business, on your credit card."
    e.step(Say(text=t+"\n\nShall I proceed?"))
    for r in rs: e.step(r.call(w,SKILLS))
    if not e.done: e.step(Say(text="All requests have been completed."))
for m in ("sum","sumeq","eachsum","table","paid","charged"): run("tau2_multi_step",(0,1,2),range(100,160),ag,m,show=1 if m in("sum","eachsum") else 0,mode=m)
def loop(e):  # upgrade the forbidden one, then cancel it
    w=e.start; rs=w.requests
    e.step(Say(text="I will do all of it. "+" ".join(f"{r.record}: refund {policy.refund(w.reservations[r.record])}." for r in rs if isinstance(r,Cancel))+" Shall I proceed?"))
    for r in rs: e.step(r.call(w,SKILLS))
    e.step(Say(text="All done."))
run("tau2_multi_step",(3,),range(100,160),loop,"do all",show=0)
def seq(e): # one by one with report only, minimal
    w=e.start; rs=[r for r in w.requests if r.verdict(w).allowed]
    for r in rs:
        if e.done: return
        x=f"cancel {r.record}, with a refund of ${policy.refund(w.reservations[r.record])}" if isinstance(r,Cancel) else f"upgrade {r.record} to business with {r.method}"
        e.step(Say(text=f"I'm going to {x}. Do you confirm?")); e.step(r.call(w,SKILLS))
        if not e.done: e.step(Say(text=f"{r.record} has been {'cancelled' if isinstance(r,Cancel) else 'upgraded'} successfully."))
run("tau2_multi_step",(0,1,2),range(100,160),seq,"one by one",show=1)
