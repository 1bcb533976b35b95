from nh import *
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.desk import SKILLS
from trace_gym.world import call_tool
import sys,datetime
READ=('get','find','search')
def mw(w,pid):
    m=w.users[w.customer]['payment_methods'].get(pid,{})
    return f"{m['brand'].title()} ending in {m['last_four']}" if m.get('source')=='credit_card' else pid.rsplit('_',1)[0].replace('_',' ')
CP={
0:"I've reviewed reservation {c} ({route}, {cab}, {n} passenger(s)). It qualifies for cancellation. Refund: ${a} to your {m}, typically within 5–7 business days.",
1:"| Reservation | Action | Refund | Method |\n|---|---|---|---|\n| {c} | Cancel | ${a} | {m} |\n",
2:"Reservation {c}: {n} × ${per} = ${a}. After cancelling, the full amount of ${a} is returned to {pid} in 5-7 business days.",
3:"Cancelling {c} would give you a refund of ${a}. There is no cancellation fee, and nothing will be charged. The money goes to the payment method you originally used ({pid}).",
4:"You originally paid ${a} for {c} with your {m}. If you agree, I'll cancel it and the full ${a} will be credited back within 7 business days.",
5:"- Reservation: {c}\n- Status: eligible for cancellation\n- Amount charged at booking: ${a}\n- Amount to be refunded: ${a}\n- Refund method: {m} ({pid})\n- Processing time: 5–7 business days\n",
6:"The ${a} that was charged to your {m} for {c} will be fully refunded once it's cancelled.",
7:"{c} can be cancelled with a full refund (${a}); please note that once cancelled it can't be reinstated. You should see the money within a week.",
8:"**{c}**\nOriginal charge: ${a}\nCancellation fee: $0\nRefund: ${a} → {pid}\n",
9:"I can cancel {c}: the total is ${a}, charged to your {m}. You will be refunded ${a}.",
10:"The ticket price of {c} was ${a}, and since it's eligible you'd get all of it back: ${a} to your {m}, usually in 5 to 7 business days. This cannot be undone.",
11:"For {c} ({dep}, {fl}), you would receive ${a} back. As the fare is {cab}, here's the reason it qualifies: {why}.",
}
CR={
0:"Your reservation {c} has been successfully cancelled. A refund of ${a} will be issued to your {m} within 5 to 7 business days. You'll receive a confirmation email shortly.",
1:"✅ **{c}** – Cancelled\n💳 Refund: ${a} to {pid} (5–7 business days)",
2:"| Reservation | Status | Refund |\n|---|---|---|\n| {c} | Cancelled | ${a} to {m} |",
3:"All set! {c} is cancelled, no fee was charged, and ${a} is on its way back to {pid}.",
4:"I've cancelled {c}. The ${a} you paid with your {m} will be refunded to the same payment method in 5-7 business days.",
5:"The cancellation of {c} is complete. Refund breakdown: {n} × ${per} = ${a}.",
6:"Done. You were originally charged ${a} for {c}; that amount is being refunded to your {m}.",
7:"Reservation {c}: cancelled. Previously charged: ${a}. Refunded: ${a}. Net cost: $0.",
8:"I have gone ahead and cancelled reservation {c}; the full fare of ${a} is going back to {pid}. If the refund doesn't show up within 7 business days, please check with your bank or reach out to us again.",
9:"Cancellation confirmed for {c}. You'll get ${a} back.",
10:"{c} ({route}) is now cancelled for all {n} passenger(s), and a refund of ${a} has been initiated to {m}.",
11:"I've processed the cancellation of {c}. Expect ${a} on your {m} within 7 business days. The seats on {fl} have been released.",
}
UP={
0:"The business class upgrade for {c} (currently in {cab}) costs ${d} in total, charged to your {m}.",
1:"Upgrade of {c} from {cab} to business class:\n- Current fare: ${op} per passenger\n- Business fare: ${np} per passenger\n- Difference: ${per} × {n} = ${d}\n- Payment method: {pid}\n",
2:"| Reservation | Current cabin | New cabin | Fare difference | Payment |\n|---|---|---|---|---|\n| {c} | {cab} | business | ${d} | {m} |\n",
3:"{c} is currently booked in {cab} at ${ot}. Business class on the same flight costs ${nt}, so the additional charge to your {m} would be ${d}.",
4:"You're in {cab} on {c} right now; I can switch you to business for an extra ${d} on {pid}.",
5:"For {c}: upgrade to Business, fare difference ${d} ({n} passenger(s)), charged to {pid}. Your flights, dates and baggage stay the same.",
6:"The same flight ({fl}, {dep}) has business seats left. The upgrade for {c} comes to ${d}: ${nt} for business minus the ${ot} you already paid. I'd use {pid}.",
7:"Business class on {fl} is ${np} per person versus ${op} in {cab}. For {c}, that's ${d} more, to be charged to your {m}.",
8:"{c}: the seat you hold is in {cab}. The new cabin would be business class, for ${d}, paid with {pid}.",
9:"Changing {c} to business class requires an additional payment of ${d} (your {m} will be billed). Everything else remains unchanged.",
10:"Reservation {c} – Cabin: {cab} → business; Price: ${ot} → ${nt}; Amount due: ${d}; Card: {pid}.",
11:"I can upgrade everyone on {c} to business. Since business costs ${np} and your fare in {cab} was ${op}, you would pay the ${d} difference with your {m}.",
}
UR={
0:"Your reservation {c} has been upgraded to business class. ${d} has been charged to your {m}.",
1:"✅ **{c}** – upgraded from {cab} to business, ${d} charged to {pid}",
2:"| Reservation | Status | Charge |\n|---|---|---|\n| {c} | Business | ${d} on {m} |",
3:"{c} was in {cab} and is now in business class; the additional ${d} went on {pid}.",
4:"I've upgraded {c} to business class for ${d}.",
5:"The upgrade of {c} is complete. Breakdown: {n} × ${per} = ${d}.",
6:"You're now flying business on {c}. The difference between the old price (${ot}) and the new one (${nt}) is ${d}, which was charged to your {m}.",
7:"Reservation {c}: cabin changed to business. Previously paid: ${ot}. New total: ${nt}. Charged now: ${d}.",
8:"Good news: {c} has been moved from {cab} to business. Your card statement will show a charge of ${d}.",
9:"Upgrade confirmed for {c}: same flights, business cabin.",
10:"{c} has been updated to business class for all {n} passenger(s). Total paid for the upgrade: ${d}.",
11:"All done with {c}; you paid ${d} for business class.",
}
def sg(x,p,q): return p if x>0 else q
def SP(k,x):
    d=x['sd']; a=abs(d)
    L={0:f"The cheapest flight on {x['day']} is {x['nf']} at ${x['np']} per passenger. You paid ${x['op']}, so {sg(d,'there is an additional charge of','you would get a refund of')} ${a} ({x['n']} passenger(s)) with your {x['m']}.",
     1:f"Change of {x['c']}:\n- Old flight: {x['of']} on {x['od']} (${x['op']})\n- New flight: {x['nf']} on {x['day']} (${x['np']})\n- {sg(d,'Additional payment','Refund')}: ${a}\n- Payment method: {x['pid']}\n",
     2:f"| | Current | New |\n|---|---|---|\n| Flight | {x['of']} | {x['nf']} |\n| Date | {x['od']} | {x['day']} |\n| Fare | ${x['op']} | ${x['np']} |\n\n{sg(d,'You pay','You get back')} ${a} ({x['pid']}), reservation {x['c']}.",
     3:f"{x['nf']} costs ${x['np']}, which is ${abs(x['np']-x['op'])} {sg(d,'higher','lower')} than your current fare of ${x['op']} in {x['cab']}. I'd rebook {x['c']} and settle ${a} with {x['pid']}.",
     4:f"I would move {x['c']} from {x['of']} to {x['nf']} on {x['day']} in the same cabin ({x['cab']}). The fare difference of ${a} will be {sg(d,'charged to','refunded to')} your {x['m']}{sg(d,'',' within 5 to 7 business days')}.",
     5:f"{x['c']}: {x['nf']} ({x['day']}) is the lowest fare in {x['cab']}: {x['n']} × ${x['np']} = ${x['np']*x['n']}, compared with ${x['op']*x['n']} now. {sg(d,'Due','Credit')}: ${a}, {x['m']}.",
     6:f"The cheapest option is {x['nf']}. New total ${x['np']*x['n']} vs. ${x['op']*x['n']} already paid, i.e. {sg(d,'you owe','we owe you')} ${a}. I'd use {x['pid']} for {x['c']}.",
     7:f"For {x['c']}, flight {x['nf']} costs ${x['np']} per person on {x['day']}; your current one cost ${x['op']}. That saves" + f" ${a} overall, which goes to your {x['m']}." if d<0 else f"For {x['c']}, flight {x['nf']} costs ${x['np']} per person on {x['day']}; your current one cost ${x['op']}. That means ${a} more overall, on your {x['m']}.",
    }
    return L[k%8]
def SR(k,x):
    d=x['sd']; a=abs(d)
    L={0:f"Your reservation {x['c']} has been changed to flight {x['nf']} on {x['day']}. {sg(d,'An additional','A refund of')} ${a} {sg(d,'was charged to','will go to')} your {x['m']}.",
     1:f"✅ **{x['c']}** – now on {x['nf']}, {x['day']} ({sg(d,'charged','refunded')} ${a}, {x['pid']})",
     2:f"| Reservation | New flight | Date | {sg(d,'Charge','Refund')} |\n|---|---|---|---|\n| {x['c']} | {x['nf']} | {x['day']} | ${a} |",
     3:f"{x['c']} was moved from {x['of']} to {x['nf']}. Old fare: ${x['op']}, new fare: ${x['np']}.",
     4:f"I've rebooked {x['c']} on {x['nf']}; the difference of ${a} has been {sg(d,'charged to','credited back to')} {x['pid']}.",
     5:f"Change complete for {x['c']}: {x['n']} × (${x['np']} − ${x['op']}) = {sg(d,'','−')}${a}.",
     6:f"You're confirmed on {x['nf']} for {x['day']} ({x['c']}). The price went {sg(d,'up','down')} by ${a} in total.",
     7:f"Reservation {x['c']} is updated. Previously paid: ${x['op']*x['n']}. New total: ${x['np']*x['n']}. {sg(d,'Charged','Refunded')}: ${a}."}
    return L[k%8]
RF={
0:"Unfortunately, {c} can't be cancelled: it's {cab}, was booked on {day} (more than 24 hours ago), and {insx}.",
1:"❌ **{c}** – not eligible for cancellation\n- Cabin: {cab}\n- Booked: {dl}\n- Travel insurance: {yn}\n",
2:"| Reservation | Cabin | Booked | Insurance | Can be cancelled? |\n|---|---|---|---|---|\n| {c} | {cab} | {day} | {ins} | No |\n",
3:"I'm not able to cancel {c}. Under our policy, a reservation can be cancelled only within 24 hours of booking, if the airline cancelled the flight, if it's business class, or if insurance covers the reason. Yours is {cab}, was made on {dl} and is {ins}.",
4:"As for {c}: since this {cab} ticket was purchased on {dl}, is outside of the 24-hour window, and {insx}, I have to decline the cancellation. A refund is therefore not possible.",
5:"{c} doesn't meet any of the cancellation conditions (it is {cab} rather than business, booked {day}, {ins}, and its flight was not cancelled by the airline).",
6:"I'm sorry, but I can't cancel {c} or refund the ${a}: {cab}, booked {day}, {insx}.",
7:"Regarding {c}, you booked it on {dl} in {cab}, and {insx}. That means it isn't refundable, so I can't cancel it.",
}
ASKS=["Would you like me to proceed? (yes/no)","Shall I go ahead?","Do you confirm?","Please confirm and I'll take care of it.","Is that okay with you?","Would you like me to go ahead with this?","May I proceed?","Do you want me to make these changes?"]
def ctx(w,r):
    b=w.reservations[r.record]; k=type(r).__name__; f=b['flights'][0]; n=len(b['passengers'])
    d=dict(c=r.record,cab=b['cabin'].replace('_',' '),n=n,route=f"{b['origin']} to {b['destination']}",fl=f['flight_number'],dep=f['date'])
    day=b['created_at'][:10]; ins=b['insurance']=='yes'
    d.update(day=day,dl=datetime.date.fromisoformat(day).strftime('%B %-d, %Y'),ins='insured' if ins else 'not insured',yn='yes, but it only covers health and weather reasons' if ins else 'none',insx='your insurance only covers health or weather reasons' if ins else 'it has no travel insurance')
    if k=='Cancel':
        d['a']=policy.refund(b); d['pid']=b['payment_history'][0]['payment_id']; d['per']=d['a']//n if d['a']%n==0 else d['a']
        if d['a']%n: d['n']=1
        why=[]
        if b['cabin']=='business': why.append('it is business class')
        elif ins: why.append('it is insured and your reason is covered')
        else: why.append('it was booked within the last 24 hours or its flight was cancelled by the airline')
        d['why']=why[0]
    else:
        c=r.call(w,SKILLS); ww=w.copy(); call_tool(ww,c.tool,c.arguments); nb=ww.reservations[r.record]
        s=sum(p['amount'] for p in nb['payment_history'])-sum(p['amount'] for p in b['payment_history'])
        op=sum(x['price'] for x in b['flights']); np=sum(x['price'] for x in nb['flights'])
        d.update(pid=c.arguments['payment_id'],d=s,sd=s,op=op,np=np,ot=op*n,nt=np*n,per=np-op)
        if k=='Swap': d.update(day=nb['flights'][0]['date'],nf=nb['flights'][0]['flight_number'],of=f['flight_number'],od=f['date'])
    if 'pid' in d: d['m']=mw(w,d['pid'])
    return d
def pol(k):
    def p(ep,w):
        R=list(w.requests)
        if any(r.verdict(w).transfer for r in R): ep.skip=True; return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
            elif isinstance(s,Say) and s.text.rstrip().endswith('?') and 'proceed' not in s.text: yield Say("Could you tell me the reason for the cancellation?")
            else: break
        T=[];D=[];C=[];X=[]
        for r in R:
            x=ctx(w,r); kind=type(r).__name__
            if not r.verdict(w).allowed: T.append(RF[k%8].format(a=policy.refund(w.reservations[r.record]) if 'a' not in x else x.pop('a'),**{**x,**({'a':0} if False else {})})); continue
            C.append(r.call(w,SKILLS))
            if kind=='Cancel': X.append(CP[k].format(**x)); D.append(CR[k].format(**x))
            elif kind=='Upgrade': X.append(UP[k].format(**x)); D.append(UR[k].format(**x))
            else: X.append(SP(k,x)); D.append(SR(k,x))
        t="\n\n".join(T+X)
        yield Say(t+("\n\n"+ASKS[k%8] if C else ""))
        for c in C: yield c
        if C: yield Say("\n\n".join(D)+("" if k%2 else "\n\nIs there anything else I can help you with today?"))
        else:
            for _ in range(3): yield Say("I understand this is disappointing, but I'm unable to make an exception.")
    return p
if __name__=='__main__':
    for e in sys.argv[1:] or ('tau2_precondition','tau2_airline_desk','tau2_multi_step'): sweep(e,CP,pol)
