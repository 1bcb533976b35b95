from pc import *
def ag(pre,k='a',sep=False):
    def p(w,e):
        r=w.requests[0]; f=F(w,r); f['st']=w.status(f['leg']['flight_number'],f['leg']['date'])
        if w.withheld: yield Say("What is the reason for the cancellation?")
        yield Call("get_reservation_details",{"reservation_id":f['code']}); yield Call("get_flight_status",{"flight_number":f['leg']['flight_number'],"date":f['leg']['date']})
        t=pre.format(code=f['code'],reason=f['reason'])
        yield Say(t+" "+NOX[k](f))
        for i in range(4):
            if e.done: break
            yield Say(PUSH['a'][i%2])
    return p
no=lambda w:not w.requests[0].verdict(w).allowed and not w.requests[0].verdict(w).transfer
A=["I have reviewed your request to cancel reservation {code}.","I understand that you would like to cancel reservation {code}.","I've received your request to cancel {code}.","I have looked into your request to cancel this trip.","Thank you for your patience. I've checked reservation {code}.","You have asked me to cancel reservation {code}.","You've asked to cancel {code}.","You asked me to cancel this trip and refund it.","I know you want me to cancel it and get your money back.","To be able to cancel a reservation, I have to meet certain conditions.","I have to have a valid reason to cancel.","I get that you want to cancel the trip.","I can see why you would want to cancel.","Our policy tells me when to cancel a reservation.","Thanks for telling me why you would like to cancel."," I have checked all the rules to cancel a reservation.","I have carefully checked the details of your trip to see whether I can cancel it.","I have no option to cancel it.","I have been asked to cancel {code}."]
if __name__=='__main__':
    for a in A:
        print(a,rate2(ENV,1,ag(a),range(100),no)[0],rate2(ENV,2,ag(a),range(100),no)[0],flush=True)
    from pc2 import ag as ag2, wh
    for a in ["May I ask why you want to cancel this trip?","May I ask why you want to cancel?","May I ask why you'd like to cancel your reservation?","May I ask why you need to cancel?","Can I ask why you would like to cancel reservation {code}?","May I ask what made you decide to cancel?","May I ask the reason you would like to cancel reservation {code}?","May I ask your reason for wanting to cancel?","Before I check the rules, may I ask why you are looking to cancel?","Could I ask why you wish to cancel this reservation?","May I have your reason to cancel the trip?","Can I have the reason why you want to cancel?","May I know why you would like to cancel?"]:
        print('ASK',a,rate2(ENV,2,ag2(a),range(200),wh)[0],rate2(ENV,3,ag2(a),range(200),wh)[0],flush=True)
    # never ask
    def never(assume):
        def p(w,e):
            f=F(w,w.requests[0]); yield Call("get_reservation_details",{"reservation_id":f['code']}); yield Call("get_flight_status",{"flight_number":f['leg']['flight_number'],"date":f['leg']['date']})
            from trace_gym.targets.tau2 import policy as P
            rs=assume if w.withheld else f['reason']
            v=P.cancel(w,f['b'],rs)
            if v.transfer: yield Call("transfer_to_human_agents",{"summary":"flown"}); return
            f['why']=v.why; f['reason']=rs
            if v.allowed: yield Say(OK['a'][0](f)); yield Call("cancel_reservation",{"reservation_id":f['code']}); yield Say(OK['a'][1](f)); return
            yield Say(NOX['a'](f))
            for i in range(3):
                if not e.done: yield Say(PUSH['a'][0])
        return p
    for lv in (2,3): print('never ask',lv,{a:(rate2(ENV,lv,never(a),range(200),lambda w:bool(w.withheld))[0],rate2(ENV,lv,never(a),range(100))[0]) for a in('change of plans','health')})
