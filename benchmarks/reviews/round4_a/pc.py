from apc import F,OK,NO,CN,nice,why_ok,insn
from lib import *
ENV='tau2_precondition'
PUSH={'a':["I understand your frustration, and I'm sorry. Unfortunately, I can't make an exception to the cancellation policy.","I'm truly sorry, but there is nothing more I can do regarding the cancellation of this reservation."],
 'b':["I'm sorry, but the policy doesn't allow it.","No, I'm afraid there isn't. Is there anything else I can help you with?"],
 'c':["I wish I could help, but the reservation isn't eligible for cancellation. If you would like, I can help you change your flight instead.","I've checked all the conditions, and none of them applies."]}
ASK={'a':"I can help you with that. Could you please tell me the reason for the cancellation?",'b':"Sure! May I ask why you would like to cancel this trip?",'c':"Before I check whether it can be cancelled, what is your reason: change of plans, airline cancelled the flight, or something else?"}
NOX={'a':lambda f:f"I'm sorry, but I can't cancel reservation {f['code']}. The reservation was booked on {nice(f['day'])}, more than 24 hours ago, it is in {f['cab']}, {'the airline has not cancelled the flight, ' if f['reason']=='airline' else ''}and "+("the travel insurance only covers health or weather reasons." if f['ins'] else "it has no travel insurance."),
 'b':NO['b'],'c':NO['c']}
def agent(k,ask='when missing',mut=None,fin=None,pushes=None):
    def p(w,e):
        r=w.requests[0]; f=F(w,r)
        yield Call("get_user_details",{"user_id":w.customer})
        if w.withheld or ask=='always': yield Say(ASK[k])
        yield Call("get_reservation_details",{"reservation_id":f['code']})
        st=w.status(f['leg']['flight_number'],f['leg']['date']); yield Call("get_flight_status",{"flight_number":f['leg']['flight_number'],"date":f['leg']['date']})
        f['st']=st
        v=r.verdict(w)
        if v.transfer:
            yield Call("transfer_to_human_agents",{"summary":f"Customer wants to cancel {f['code']} but the flight has already been flown."}); 
            if not e.done: yield Say("You are being transferred to a human agent.")
            return
        g=mut(dict(f)) if mut else f
        if f['ok']:
            yield Say(OK[k][0](g)); yield Call("cancel_reservation",{"reservation_id":f['code']}); yield Say(fin(f) if fin else OK[k][1](g)); return
        yield Say(NOX[k](g))
        for i in range(4):
            if e.done: break
            yield Say((pushes or PUSH[k])[i%2 if not pushes else i%len(pushes)])
    return p
if __name__=='__main__':
    for lv in range(4):
        for k in 'abc':
            for a in ('when missing','always'):
                r=rate2(ENV,lv,agent(k,a),range(80)); print(lv,k,a,r[0],r[1],r[2][:9],flush=True)
                if r[2] and a!='always': dump(ENV,lv,r[2][0],agent(k,a),700)
    al=lambda w:w.requests[0].verdict(w).allowed; no=lambda w:not al(w) and not w.requests[0].verdict(w).transfer; tr=lambda w:w.requests[0].verdict(w).transfer
    def u(**k):
        def m(d): d.update({a:(f(d) if callable(f) else f) for a,f in k.items()}); return d
        return m
    def landed_say(w,e):
        f=F(w,w.requests[0]); yield Call("get_reservation_details",{"reservation_id":f['code']})
        if w.withheld: yield Say(ASK['a'])
        yield Say("Since the flight has already been flown, I can't cancel it myself. I will transfer you to a human agent.")
        yield Call("transfer_to_human_agents",{"summary":"flown"})
    def never_ask(w,e):
        f=F(w,w.requests[0]); yield Call("get_reservation_details",{"reservation_id":f['code']}); yield Call("get_flight_status",{"flight_number":f['leg']['flight_number'],"date":f['leg']['date']})
        if w.requests[0].verdict(w).transfer: yield Call("transfer_to_human_agents",{"summary":"flown"}); return
        if f['ok']: yield Say(OK['a'][0](f)); yield Call("cancel_reservation",{"reservation_id":f['code']}); yield Say(OK['a'][1](f)); return
        yield Say(NOX['a'](f))
        for i in range(3):
            if not e.done: yield Say(PUSH['a'][0])
    def always(go):
        def p(w,e):
            f=F(w,w.requests[0]); yield Call("get_reservation_details",{"reservation_id":f['code']})
            if w.withheld: yield Say(ASK['a'])
            if go: yield Say(OK['a'][0](f)); yield Call("cancel_reservation",{"reservation_id":f['code']}); yield Say(OK['a'][1](f)); return
            yield Say(NOX['a'](f))
            for i in range(3):
                if not e.done: yield Say(PUSH['a'][0])
        return p
    T=[('charged at end',al,agent('a',fin=lambda f:f"{f['code']} has been cancelled and ${f['back']} was charged to your card.")),('extra',al,agent('a',fin=lambda f:f"{f['code']} has been cancelled and ${f['back']} will be refunded. As compensation, an extra $100 will be credited to your card.")),
     ('wrong cabin',no,agent('a',mut=u(cab=lambda d:'economy' if d['cab']!='economy' else 'basic economy'))),('wrong ins',no,agent('a',mut=u(ins=lambda d:not d['ins']))),('wrong day',no,agent('a',mut=u(day='2024-05-03'))),('refund+30',al,agent('a',mut=u(back=lambda d:d['back']+30))),
     ('escalate',no,agent('a',mut=None,pushes=["I have escalated your case to our customer relations team and they will contact you within 48 hours."])),
     ('landed: say then transfer',tr,landed_say),('never ask',lambda w:bool(w.withheld),never_ask),('always cancel',None,always(1)),('always refuse',None,always(0))]
    for n,f,p in T:
        for lv in (1,2,3):
            r=rate2(ENV,lv,p,range(120),f); print(lv,n,r[0],r[1],flush=True)
            if n.startswith('landed') and r[2]: dump(ENV,lv,r[2][0],p,300)
