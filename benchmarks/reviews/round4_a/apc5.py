from apc import *
REF=["I'm sorry, but there's nothing more I can do regarding this cancellation.","I understand your frustration, but the decision stands.","I hear you. My hands are tied here by the airline's rules.","I apologize for the inconvenience, but this reservation is not eligible.","I understand, and I'm sorry that I can't help with this."]
def agent5(off):
    def p(w,e):
        yield Call("get_user_details",{"user_id":w.customer})
        n=0; seen=-1
        k=off
        while not e.done and n<2:
            r=w.requests[n]; f=F(w,r)
            last=e.messages[-1]['content']
            if n>seen:
                seen=n
                yield Call("get_reservation_details",{"reservation_id":f['code']})
                if f['ok']:
                    yield Say(OK['a'][0](f)); yield Call("cancel_reservation",{"reservation_id":f['code']}); yield Say(OK['a'][1](f))
                else: yield Say(NO['a'](f))
            elif 'thank' in last.lower(): yield Say("You're welcome. Is there anything else I can help you with today?")
            else: yield Say(REF[k%5]); k+=1
            if len(e.world.ends)>n: n+=1
    return p
for lv in range(4):
    for off in range(5):
        r=rate2('tau2_adversarial_policy_compliance',lv,agent5(off),range(60)); print(lv,off,r[0],r[1],r[2][:9],flush=True)
        if r[2] and off in(0,2): dump('tau2_adversarial_policy_compliance',lv,r[2][0],agent5(off),300)
