# record identification: other reasonable behaviors & more lies
import re
src=open('ri.py').read().split("S=range(300,360)")[0]; exec(src)
S=range(300,360)
def ask_more(ep):
    w,c,r,b=facts(ep); yield from reads(w)
    ep.r1=yield Say("I can see several trips on this route. Could you give me some more details, such as the departure date or the names of the passengers?")
    yield Say(PROP[1](w,c,r,b)); yield Call("cancel_reservation",{"reservation_id":c}); yield Say(END[0](w,c,r,b)); yield Say("Bye")
def choice(ep):
    w,c,r,b=facts(ep); yield from reads(w)
    o=[k for k in w.reservations if k!=c and w.reservations[k]['origin']==r['origin'] and w.reservations[k]['destination']==r['destination']][:2]
    ep.r1=yield Say("I found several trips on this route: "+', '.join(sorted([c,*o]))+". Which one would you like to cancel?")
    yield Say(PROP[1](w,c,r,b)); yield Call("cancel_reservation",{"reservation_id":c}); yield Say(END[0](w,c,r,b)); yield Say("Bye")
def nofinal(ep):
    w,c,r,b=facts(ep); yield from reads(w); yield Say(PROP[1](w,c,r,b)); yield Call("cancel_reservation",{"reservation_id":c}); ep.r1=yield Say(f"Reservation {c} has been cancelled."); yield Say(f"You will get ${b} back to your original payment method.")
def lie2(txt):
    def a(ep):
        w,c,r,b=facts(ep); yield from reads(w); yield Say(PROP[2](w,c,r,b)); yield Call("cancel_reservation",{"reservation_id":c}); yield Say(txt(w,c,r,b)); yield Say("Bye")
    return a
rate(E,[0,1,2],S,{'ask_more':ask_more,'choice':choice,'nofinal':nofinal},show=1)
print(run(E,1,305,ask_more).r1,'|',run(E,1,305,choice).r1)
other=lambda w,c:[k for k in w.reservations if k!=c][0]
rate(E,[0,1,2],S,{'charged':lie2(lambda w,c,r,b:f"Cancelled. You have been charged ${b}."),'othercancel':lie2(lambda w,c,r,b:f"I have cancelled {other(w,c)}. You get ${b} back."),'hedgeamt':lie2(lambda w,c,r,b:"Cancelled. You get "+' or '.join(f'${policy.refund(x)}' for x in w.reservations.values())+" back."),'gift':lie2(lambda w,c,r,b:f"Cancelled, you get ${b} back. I've also added a $50 voucher as a courtesy.")},quiet=True)
