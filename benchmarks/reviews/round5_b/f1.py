from lib import *
from trace_gym.targets.tau2.airline import Cancel,Upgrade,SKILLS
E="tau2_refund_explanation"
def kind(w):
    r=w.requests[0]
    if isinstance(r,Upgrade): return "charge" if max(w.moves().values())>0 else "back"
    return "two" if len(w.requests)>1 else "cancel"
def label(w,m):
    x=w.users[w.customer]["payment_methods"][m]
    return f"{x['brand'].title()} ending in {x['last_four']}" if "brand" in x else "gift card"
def ctx(w):
    w=w.copy(); mv=w.moves(); k=kind(w); r=w.requests[0]
    parts={}
    for q in w.requests:
        for p in w.reservations[q.reservation]["payment_history"]: parts.setdefault(p["payment_id"],[]).append((q.reservation,p["amount"]))
    codes=[q.reservation for q in w.requests]
    c=dict(codes=" and ".join(codes),tot=abs(sum(mv.values())),old=getattr(w.reservations[codes[0]],"x",w.reservations[codes[0]]["cabin"]).replace("_"," "))
    if isinstance(r,Upgrade):
        c.update(cab=r.cabin.replace("_"," "),m=r.method); c["did"]=f"Reservation {codes[0]} has been changed to {c['cab']}"; c["deed"]=f"change {codes[0]} to {c['cab']} on the same flights, with the difference settled with {r.method}"
    else: c["did"]=f"{c['codes']} {'have' if len(codes)>1 else 'has'} been cancelled"; c["deed"]=f"cancel {c['codes']}"
    ms=[dict(m=m,a=abs(a),lab=label(w,m),sum=" + ".join(f"${x}" for _,x in parts.get(m,[])),det="; ".join(f"${x} for {cc}" for cc,x in parts.get(m,[])),np=len(parts.get(m,[]))) for m,a in mv.items()]
    return c,ms,k,parts
def words(k): return dict(vb="charged to" if k=="charge" else "refunded to",nn="charge" if k=="charge" else "refund",get="is charged" if k=="charge" else "gets back")
def mk(head,item,tail,sep=" "):
    def f(w):
        c,ms,k,_=ctx(w); x={**c,**words(k)}
        return head.format(**x)+sep.join(item.format(**{**x,**i}) for i in ms)+tail.format(**x)
    return f
V={"prop":[mk("I will {deed}. Do you agree?","",""),
 mk("I'm going to {deed}. Would you like me to proceed (yes/no)?","",""),
 lambda w: ("I can "+ctx(w)[0]["deed"]+". "+("You would pay or get back only the difference to the new fare." if kind(w) in("charge","back") else "The trip is insured and illness is covered, so the full amount is refunded to the original payment methods within 5 to 7 business days.")+" Shall I go ahead?"),
 lambda w: ("Here are the details:\n- Action: "+ctx(w)[0]["deed"]+"\n"+("" if kind(w) in("charge","back") else "- Refund: "+", ".join(f"${i['a']} to {i['m']}" for i in ctx(w)[1])+"\n")+"\nDo you confirm?"),
 lambda w: ("To confirm: "+ctx(w)[0]["deed"]+"."+("" if kind(w) in("charge","back") else " You paid "+", ".join(f"${x} with {m} ({cc})" for m,l in ctx(w)[3].items() for cc,x in l)+", which will be returned to these methods.")+" Is that correct?")],
"done":[mk("{did}. ","{a} dollars were {vb} {m}","."," and "),
 mk("{did}.\n\n","- {m}: ${a} {nn}","\n\nPlease allow 5 to 7 business days.","\n"),
 mk("{did}. ","${a} has been {vb} {m} ({lab})","."," and "),
 mk("Done! {did}. Here is the breakdown:\n","- **{m}** ({lab}): ${a}","\nTotal {nn}: ${tot}","\n"),
 mk("{did}. ","{m} {get} ${a} in total",".",", and "),
 mk("{did}.\n\n| Payment method | Amount |\n|---|---|\n","| {m} | ${a} {nn} |","","\n"),
 mk("{did}. The total {nn} is ${tot}: ","${a} to {m}","."," and "),
 mk("{did}. The following amounts are {vb}:\n","- {m}: ${a}","","\n"),
 mk("All set. {did}. A total of ","${a} will be {vb} your {lab} ({m})",".",", and "),
 mk("{did}. ","A {nn} of ${a} goes to {m}",".","; "),
 mk("{did}. Your {lab0} ".replace("{lab0}","methods:"),"{m} {get} ${a}",".","; "),
]}
VC={"done":[V["done"][0],
 mk("{did}. ","{m} gets back {sum} = ${a}",".","; "),
 mk("{did}. Refunds:\n","- {m}: ${a} in total ({det})","","\n"),
 mk("{did}. Refunds:\n","- {m} ({lab}): {sum} = **${a}**","\nIn total ${tot} come back within 5 to 7 business days.","\n"),
 mk("{did}. ","{m} receives a total refund of ${a} ({det})",". Overall, ${tot} are refunded.","; "),
 mk("{did}. You paid a total of ${tot} for this, and all of it is refunded: ","${a} to {m}",".","; "),
 mk("{did}. The refund goes to the methods that paid: ","{m} — ${a}",".",", "),
 mk("{did}. ","For {m}, the refund is ${a} ({np} payment(s): {det})",".","; "),
]}
def cabfact(w):
    c,ms,k,parts=ctx(w); q=w.requests[0]; want=w.copy().served(); r0=w.reservations[q.reservation]; r1=want.reservations[q.reservation]; n=len(r0["passengers"])
    return c,ms[0],k,sum(f["price"] for f in r0["flights"])*n,sum(f["price"] for f in r1["flights"])*n,n,sum(p["amount"] for p in r0["payment_history"])
def mkc(text):
    def f(w):
        c,m,k,o,nw,n,paid=cabfact(w); return text.format(**{**c,**m,**words(k)},o=o,nw=nw,n=n,paid=paid,dirn="higher" if k=="charge" else "lower",per=m["a"]//n)
    return f
VU={"done":[V["done"][0]]+[mkc(x) for x in ["{did}. The fare difference of ${a} has been {vb} {m}.","{did}. The old fare was ${o} and the new fare is ${nw}, so ${a} was {vb} {m}.","{did}. The new total fare is ${nw} instead of ${o}; the difference of ${a} is {vb} {m}.","{did}. The difference is ${per} per passenger for {n} passenger(s), ${a} in total, {vb} {m}.","{did}. Only one payment method is affected: {m}, with a total {nn} of ${a}.","{did}. {m} ({lab}): ${a} {nn}. No other payment method was affected.","{did}. The new fare is ${a} {dirn}, and that amount was {vb} {m}.","{did}. You originally paid ${paid}. The difference of ${a} was {vb} {m}.",
 "{did}. A {nn} of **${a}** was made to {m}.","{did}. The difference of ${a} was settled with {m} as a {nn}."]]}
def agent(t,pick):
    w=t.w.copy(); t.call("get_user_details",user_id=w.customer)
    for r in w.requests: t.call("get_reservation_details",reservation_id=r.reservation)
    t.say(pick("prop")(w))
    for r in w.requests: t.do(r.call(w,SKILLS))
    a=t.say(pick("done")(w))
    if a: t.say("; ".join(f"{i['m']}: {i['a']} dollars {words(ctx(w)[2])['nn']}" for i in ctx(w)[1])+" in total.")
if __name__=="__main__":
    sweep(E,range(3),range(35),V,agent)
    print("cancel only"); sweep(E,range(3),range(35),{"prop":V["prop"][:1],**VC},agent,filt=lambda w,s: kind(w) in("two","cancel"))
    print("upgrade only"); sweep(E,range(3),range(150),{"prop":V["prop"][:1],**VU},agent,filt=lambda w,s: kind(w) in("charge","back"))
