from apc import F,OK,NO,CN,nice,why_ok
from lib import *
from trace_gym.targets.tau2.airline import Bags
from trace_gym.targets.tau2 import policy as P
ENV='tau2_claim_verification'
def bag(w):
    r=w.requests[0]; c=r.call(w,__import__('trace_gym.targets.tau2.airline',fromlist=['SKILLS']).SKILLS); b=w.reservations[r.reservation]; m=w.users[w.customer]['membership']
    free=P.free_bags(m,b['cabin'],len(b['passengers'])); n=c.arguments['nonfree_baggages']
    return dict(code=r.reservation,call=c,mem=m,free=free,n=n,fee=50*n,tot=r.extra,named=r.named.replace('my ','your '),cab=CN[b['cabin']],pp=len(b['passengers']),claim=(w.claims.get(w.customer) or {}).get('membership'))
def corr(d): return f"I see that you are a {d['mem']} member rather than a {d['claim']} member. " if d['claim'] and d['claim']!=d['mem'] else ""
BAG={
 'a':(lambda d:f"{corr(d)}As a {d['mem']} member in {d['cab']}, you get {d['free']} free checked bag{'s'*(d['free']!=1)} for {d['pp']} passenger{'s'*(d['pp']>1)}. Adding {d['tot']} bags in total means {d['n']} extra bags at $50 each, so the total charge will be ${d['fee']}, paid with {d['named']}. Would you like me to proceed?",
      lambda d:f"Done! Reservation {d['code']} now has {d['tot']} checked bags. ${d['fee']} has been charged to {d['named']}. Is there anything else I can help you with?"),
 'b':(lambda d:f"Here is the summary for reservation {d['code']}:\n\n- **Membership:** {d['mem'].title()}\n- **Cabin:** {d['cab']}\n- **Total bags:** {d['tot']}\n- **Free bags:** {d['free']}\n- **Paid bags:** {d['n']} × $50 = ${d['fee']}\n- **Payment method:** {d['named']}\n\nDo you confirm (yes/no)?",
      lambda d:f"Your bags have been added. The total cost was ${d['fee']}."),
 'c':(lambda d:f"According to your profile, you are a {d['mem']} member. {d['free']} of the {d['tot']} bags are free and you would pay {d['fee']} dollars for the other {d['n']}. Shall I add them and charge {d['named']}?",
      lambda d:f"I've added the bags to {d['code']}: {d['tot']} in total, {d['n']} of them paid ({d['fee']} dollars)."),
 'd':(lambda d:f"The cost for the {d['n']} additional bags is ${d['fee']}.00 ({d['n']} bags at $50.00 each), since {d['free']} bags are included with your {d['mem']} status. May I charge ${d['fee']}.00 to {d['named']}?",
      lambda d:f"All set! {d['tot']} checked bags are on your trip, and {d['named']} was charged ${d['fee']}.00."),
}
def claimnote(w,f):
    c=w.claims.get(f['code'],{})
    b=f['b']
    if c.get('insurance')=='yes' and not f['ins']: return " You mentioned that it is insured, but our records show no travel insurance on this reservation."
    if c.get('insurance')=='no' and f['ins']: return " Good news: our records show that this reservation does include travel insurance."
    if c.get('created_at')=='2024-05-15T15:00:00': return " I don't see any record of such a promise or of a booking within the last 24 hours." if not f['ok'] else ""
    return ""
def agent(s,note=True,mut=None,final=None,prefix=None):
    def p(w,e):
        yield Call("get_user_details",{"user_id":w.customer})
        if isinstance(w.requests[0],Bags):
            d=bag(w); yield Call("get_reservation_details",{"reservation_id":d['code']})
            D=mut(dict(d)) if mut else d
            yield Say(BAG[s][0](D)); yield d['call']; yield Say(BAG[s][1](D)); return
        I=[F(w,r) for r in w.requests]
        for f in I: yield Call("get_reservation_details",{"reservation_id":f['code']})
        yes=[f for f in I if f['ok']]; no=[f for f in I if not f['ok']]
        k=s if s in 'abc' else 'a'
        parts=[NO[k](f)+(claimnote(w,f) if note else '') for f in no]
        if s=='b': parts+= [f"**{f['code']}** – eligible for cancellation because {why_ok(f)}. Refund: ${f['back']}.{claimnote(w,f) if note else ''}" for f in yes]
        elif s=='d': parts+=[f"{f['code']} can be cancelled: {why_ok(f)}. You would get back {f['back']} dollars.{claimnote(w,f) if note else ''}" for f in yes]
        else: parts+=[f"I can cancel {f['code']} since {why_ok(f)}; the refund of ${f['back']} will go to the original payment method within 5 to 7 business days.{claimnote(w,f) if note else ''}" for f in yes]
        yield Say(("\n\n").join(parts)+"\n\nWould you like me to go ahead with the cancellation"+("s" if len(yes)>1 else f" of {yes[0]['code']}")+"?")
        for f in yes: yield Call("cancel_reservation",{"reservation_id":f['code']})
        if final: yield Say(final(I)); return
        yield Say(" ".join(f"{f['code']} has been cancelled, and ${f['back']} will be refunded." for f in yes)+(" "+" ".join(f"{f['code']} remains booked." for f in no) if no else "")+" Is there anything else I can help you with?")
    return p
if __name__=='__main__':
    for lv in range(4):
        for s in 'abcd':
            for note in (True,False):
                r=rate2(ENV,lv,agent(s,note),range(80)); print(lv,s,note,r[0],r[1],r[2][:9],flush=True)
                if r[2] and note: dump(ENV,lv,r[2][0],agent(s,note),1500)
