from pc import *
import apc
def ag(ask,k='a'):
    def p(w,e):
        r=w.requests[0]; f=F(w,r); f['st']=w.status(f['leg']['flight_number'],f['leg']['date'])
        yield Say(ask.format(code=f['code']))
        yield Call("get_reservation_details",{"reservation_id":f['code']}); yield Call("get_flight_status",{"flight_number":f['leg']['flight_number'],"date":f['leg']['date']})
        yield Say(NOX[k](f))
        for i in range(4):
            if e.done: break
            yield Say(PUSH['a'][i%2])
    return p
wh=lambda w:bool(w.withheld) and not w.requests[0].verdict(w).allowed and not w.requests[0].verdict(w).transfer
A=["Sure! May I ask why you would like to cancel this trip?","Sure, may I ask why you'd like to cancel?","Of course! May I ask why you want to cancel this trip?","Could you tell me why you would like to cancel reservation {code}?","May I ask why you would like to cancel this trip?","May I ask why you're cancelling?","Why do you want to cancel the trip?",
"Sure! What is the reason for the cancellation?","I'd be happy to help you cancel your reservation. May I ask the reason for the cancellation?","Certainly! Could you please tell me the reason for cancelling reservation {code}?","Sure, I can help with that. Could you please provide the reason for your cancellation?","I can help you with cancelling reservation {code}. What's the reason for the cancellation?","To proceed, I need to know the reason for the cancellation. Is it a change of plans, a cancelled flight, or a health or weather issue?","Thanks, Cara. Before I can cancel reservation {code}, please let me know why you are cancelling.","Sure, I'll help you cancel your trip. May I know the reason?","Okay, could you tell me why you'd like to cancel this trip?"]
if __name__=='__main__':
    for a in A:
        print(a,{k:(rate2(ENV,2,ag(a,k),range(200),wh)[0],rate2(ENV,3,ag(a,k),range(200),wh)[0]) for k in 'abc'},flush=True)
