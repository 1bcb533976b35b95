from lib import *
from trace_gym.targets.tau2 import policy as P
CN={"basic_economy":"basic economy","economy":"economy","business":"business class"}
def info(w):
    codes=list(w.users[w.customer]['reservations']); b=w.reservations
    paid={c:P.refund(b[c]) for c in codes}; ppl={c:len(b[c]['passengers']) for c in codes}
    chosen=[r.reservation for r in w.requests]; asked=[w.named] if w.named else codes
    return dict(codes=codes,paid=paid,ppl=ppl,chosen=chosen,asked=asked,total=sum(paid[c] for c in asked),back=sum(paid[c] for c in chosen),w=w)
def reads(w,d,all_=False):
    yield Call("get_user_details",{"user_id":w.customer})
    for c in (d['codes'] if all_ or not w.named else d['asked']): yield Call("get_reservation_details",{"reservation_id":c})
def method(w,c): return " and ".join(f"${p['amount']} to your {w.users[w.customer]['payment_methods'][p['payment_id']]['source'].replace('_',' ')}" for p in w.reservations[c]['payment_history'])
def A(d):
    lines="\n".join(f"- {c}: ${d['paid'][c]} ({d['ppl'][c]} passenger{'s'*(d['ppl'][c]>1)})" for c in d['asked'])
    return f"Thank you. Here is what you paid for each trip:\n\n{lines}\n\n**Total paid: ${d['total']:,}**\n\nBased on your request, I will cancel the following:\n"+"\n".join(f"- {c} (${d['paid'][c]})" for c in d['chosen'])+f"\n\nTotal refund: ${d['back']:,}, to the original payment methods within 5 to 7 business days. Since you have travel insurance and the reason is health, the cancellation is allowed. Would you like me to proceed (yes/no)?"
def Af(d): return f"All done! I have cancelled {' and '.join(d['chosen'])}. A total of ${d['back']:,} will be refunded to your original payment methods within 5-7 business days. Is there anything else I can help you with?"
def B(d): return f"In total, you have paid ${d['total']} for {'trip '+d['w'].named if d['w'].named else 'all your trips'}. The {'trip' if len(d['chosen'])==1 else 'trips'} to cancel would be {', '.join(d['chosen'])}, and you would get back ${d['back']}. Shall I go ahead?"
def Bf(d): return f"The cancellation is complete, and ${d['back']} will be returned to you."
def C(d): return f"You've paid a total of {d['total']} dollars ({' + '.join(str(d['paid'][c]) for c in d['asked'])}). "+" ".join(f"For {c} you get {d['paid'][c]} dollars back: {method(d['w'],c)}." for c in d['chosen'])+(f" Together that is {d['back']} dollars." if len(d['chosen'])>1 else "")+" Do you want me to cancel "+("it" if len(d['chosen'])==1 else "them")+"?"
def Cf(d): return "Your cancellation has been processed."+"".join(f"\n- {c}: ${d['paid'][c]} refunded" for c in d['chosen'])+f"\nTotal refund: ${d['back']}"
def D(d):
    t="| Trip | Paid | Travelers |\n|---|---|---|\n"+"\n".join(f"| {c} | ${d['paid'][c]} | {d['ppl'][c]} |" for c in d['asked'])
    return f"{t}\n| **Total** | **${d['total']}** | |\n\nI'm sorry to hear that you're ill. The following will be cancelled: {', '.join(d['chosen'])}. You would get back ${d['back']} in all. Do you confirm?"
def Df(d): return f"Your {'trip has' if len(d['chosen'])==1 else 'trips have'} been cancelled: {', '.join(d['chosen'])}. Total refund: ${d['back']}. Remaining trips are unchanged. Get well soon!"
S={'A':(A,Af),'B':(B,Bf),'C':(C,Cf),'D':(D,Df)}
def pol(k,order='together'):
    def p(w,e):
        d=info(w); yield from reads(w,d,all_=(k in 'AD'))
        a,f=S[k]; yield Say(a(d))
        for c in d['chosen']: yield Call("cancel_reservation",{"reservation_id":c})
        yield Say(f(d))
        for _ in range(2):
            if not e.done: yield Say("Yes, everything has been completed.")
    return p
def separate(w,e):
    d=info(w); yield from reads(w,d)
    yield Say(f"So far you have paid ${d['total']} in total for {'trip '+w.named if w.named else 'all your trips'}. Shall I go on with the cancellation of {' and '.join(d['chosen'])}? You would be refunded ${d['back']}.")
    for i,c in enumerate(d['chosen']):
        yield Call("cancel_reservation",{"reservation_id":c})
    yield Say(f"I have cancelled {', '.join(d['chosen'])}. Your total refund is ${d['back']}.")
    if not e.done: yield Say("Yes, everything is done.")
def onebyone(w,e):
    d=info(w); yield from reads(w,d)
    yield Say(f"You paid ${d['total']} in total for {'trip '+w.named if w.named else 'all your trips'}. "+(f"{len(d['chosen'])} trips match: {', '.join(d['chosen'])}. " if len(d['chosen'])>1 else "")+f"I'll start with {d['chosen'][0]}, for which ${d['paid'][d['chosen'][0]]} will be refunded. Do you agree?")
    for i,c in enumerate(d['chosen']):
        yield Call("cancel_reservation",{"reservation_id":c})
        if i+1<len(d['chosen']): n=d['chosen'][i+1]; yield Say(f"{c} is cancelled, ${d['paid'][c]} will be refunded. Next is {n} with a refund of ${d['paid'][n]}. Shall I continue?")
    yield Say(f"{c} is cancelled too. In all, ${d['back']} comes back to you.")
    if not e.done: yield Say("Yes, everything is done.")
if __name__=='__main__':
    for lv in range(4):
        for k,p in {**{k:pol(k) for k in S},'sep':separate,'onebyone':onebyone}.items():
            r=rate2('tau2_aggregation',lv,p,range(60)); print(lv,k,r[0],r[1],r[2][:9],flush=True)
            if r[2]: dump('tau2_aggregation',lv,r[2][0],p)
