from lib import *
from trace_gym.world import call_tool
from trace_gym.targets.tau2.airline import SKILLS
CN={"basic_economy":"basic economy","economy":"economy","business":"business class"}
def info(w):
    w2=w.copy(); out=[]
    for r in w.requests:
        b=w.reservations[r.reservation]; ok=r.verdict(w).allowed
        d=dict(code=r.reservation,cab=CN[r.cabin],old=CN[b['cabin']],card=r.named,ok=ok,leg=b['flights'][0],n=len(b['passengers']),r=r)
        if ok:
            c=r.call(w,SKILLS); d['call']=c; call_tool(w2,c.tool,c.arguments)
            nb=w2.reservations[r.reservation]; o=sum(f['price'] for f in b['flights']); q=sum(f['price'] for f in nb['flights'])
            d.update(o=o,q=q,diff=(q-o)*len(b['passengers']))
        out.append(d)
    return out
def how(d): return f"the difference of ${abs(d['diff'])} will be {'charged to' if d['diff']>=0 else 'refunded to'} your {d['card'].title()}"
def howp(d): return f"${abs(d['diff'])} was {'charged to' if d['diff']>=0 else 'refunded to'} your {d['card']}"
def A_line(d):
    if not d['ok']: return f"**{d['code']}**: Unfortunately, I'm unable to change the cabin for this reservation because flight {d['leg']['flight_number']} on {d['leg']['date']} has already been flown."
    return f"**{d['code']}**: Change from {d['old']} to {d['cab']} for all flights. The price goes from ${d['o']} to ${d['q']} per passenger ({d['n']} passenger{'s'*(d['n']>1)}), so {how(d)}."
def A_fin(d):
    if not d['ok']: return f"- {d['code']} could not be changed because its flight has already taken place."
    return f"- {d['code']} is now in {d['cab']}; {howp(d)}."
def B_line(d):
    if not d['ok']: return f"Reservation {d['code']} cannot be changed, since the flight on {d['leg']['date']} has already departed."
    return f"For {d['code']}, I will move all flights to {d['cab']} and use your {d['card']} for the price difference."
def B_fin(d): return f"{d['code']} has been updated to {d['cab']}." if d['ok'] else f"As mentioned, {d['code']} remains unchanged."
def C_line(d):
    if not d['ok']: return f"- {d['code']} ({d['leg']['origin']} to {d['leg']['destination']}, {d['leg']['date']}): the flight status is landed, so our policy does not allow a cabin change."
    return f"- {d['code']}: {d['old']} → {d['cab']}, payment: {d['card']} ({'+' if d['diff']>=0 else '-'}${abs(d['diff'])})"
def D_line(d):
    if not d['ok']: return f"{d['code']}: ❌ Not eligible – this trip was already completed on {d['leg']['date']}."
    return f"{d['code']}: ✅ {d['cab']}, {'additional charge' if d['diff']>=0 else 'refund'} of ${abs(d['diff'])} total ({d['n']} x ${abs(d['q']-d['o'])}) {'to' } your {d['card']}"
def reads(w,I):
    yield Call("get_user_details",{"user_id":w.customer})
    for d in I: yield Call("get_reservation_details",{"reservation_id":d['code']})
    for d in I:
        yield Call("get_flight_status",{"flight_number":d['leg']['flight_number'],"date":d['leg']['date']})
def pol(line,fin,ask,sep="\n",mut=None):
    def p(w):
        I=info(w)
        if mut: mut(I)
        yield from reads(w,I)
        yield Say("Thank you! Here is what I found:\n\n"+sep.join(map(line,I))+"\n\n"+ask)
        for d in I:
            if d['ok']: yield d['call']
        yield Say(("All set!" if fin else "The requested changes have been made.")+"\n"+("\n".join(map(fin,I)) if fin else '')+"\n\nIs there anything else I can help you with?")
    return p
def each(w):
    "per reservation: propose, write, next"
    I=info(w); yield from reads(w,I)
    no=[d for d in I if not d['ok']]; yes=[d for d in I if d['ok']]
    for i,d in enumerate(yes):
        yield Say((" ".join(f"I'm sorry, but I can't change {x['code']} because its flight on {x['leg']['date']} has already been flown. " for x in no) if i==0 else "")+f"For {d['code']}, I'd change the cabin from {d['old']} to {d['cab']}; {how(d)}. Do you want me to proceed?")
        yield d['call']
    yield Say("Everything has been completed. "+" ".join(f"{d['code']} is now in {d['cab']}." for d in yes))
def each_report(w):
    I=info(w); yield from reads(w,I)
    no=[d for d in I if not d['ok']]; yes=[d for d in I if d['ok']]
    for i,d in enumerate(yes):
        yield Say((f"{yes[i-1]['code']} has been updated to {yes[i-1]['cab']}. " if i else "")+f"Next, {d['code']}: I'd change the cabin from {d['old']} to {d['cab']}; {how(d)}. Shall I proceed?")
        yield d['call']
    yield Say(f"{yes[-1]['code']} has been updated to {yes[-1]['cab']}. "+" ".join(f"Unfortunately, {x['code']} can't be changed because its flight on {x['leg']['date']} has already been flown." for x in no))
P={'A':pol(A_line,A_fin,"Would you like me to proceed with these changes? (yes/no)","\n\n"),'B':pol(B_line,B_fin,"Do you confirm?"," "),'C':pol(C_line,None,"Please confirm (yes) and I'll go ahead."),'D':pol(D_line,A_fin,"Shall I go ahead?"),'each':each,'each_report':each_report}
if __name__=='__main__':
    for lv in range(4):
        for k,p in P.items():
            r=rate('tau2_concurrent_intents',lv,p,range(60)); print(lv,k,r[0],r[1],r[2][:12],flush=True)
