"""minimal wordings: original charge beside the refund (D2), current cabin in an upgrade proposal (D1)"""
from new_air import *
C={
'a1 charged to (aside), refunded':"I can cancel {c}: the total is ${a}, charged to your {m}. You will be refunded ${a}.",
'a2 that was charged':"The ${a} that was charged to your {m} for {c} will be fully refunded.",
'a3 list charged at booking':"Reservation {c}\n- Amount charged at booking: ${a}\n- Amount to be refunded: ${a}",
'a4 list Original charge':"Reservation {c}\n- Original charge: ${a}\n- Refund: ${a} to {pid}",
'a5 Amount charged':"Reservation {c}\n- Amount charged: ${a} ({pid})\n- Refund amount: ${a}",
'a6 you were charged':"You were charged ${a} for {c}, and you'd get all of it back (${a}).",
'a7 originally charged':"${a} was originally charged to your {m} for {c}. If I cancel it, ${a} will be refunded.",
'a8 original payment':"Reservation {c}\n- Original payment: ${a}\n- Refund: ${a} to {pid}",
'a9 amount paid':"Reservation {c}\n- Amount paid: ${a}\n- Refund: ${a} to {pid}",
'a10 total cost':"Reservation {c}\n- Total cost: ${a}\n- Refund: ${a} to {pid}",
'a11 total price':"The total price of {c} was ${a}. The refund is ${a}, within 5 to 7 business days.",
'a12 refund only control':"Reservation {c}\n- Refund: ${a} to {pid}",
'a13 fare':"Reservation {c}\n- Fare: ${a}\n- Cancellation fee: $0\n- Refund: ${a} to {pid}",
'a14 charged minus fee':"Charged: ${a}; fee: $0; refund for {c}: ${a}.",
}
U={
'u1 currently in':"Your reservation {c} is currently in {cab}. The business upgrade costs ${d}, charged to {pid}.",
'u2 booked in, upgrade to business class':"Your reservation {c} is booked in {cab}. I can upgrade it to business class for ${d}, charged to {pid}.",
'u3 (currently in)':"Business class upgrade for {c} (currently in {cab}): ${d}, charged to {pid}.",
'u4 versus in':"Business class is ${np} per person versus ${op} in {cab}. The difference of ${d} for {c} would be charged to {pid}.",
'u5 you are in':"You are in {cab} on {c}. A business seat would be ${d} more, charged to {pid}.",
'u6 from..to':"I'd upgrade {c} from {cab} to business for ${d}, charged to {pid}.",
'u7 current cabin':"{c}: current cabin {cab}, new cabin business, ${d} charged to {pid}.",
'u8 in economy, into business':"{c} is in {cab} now; I'd put it into business for ${d}, charged to {pid}.",
'u9 list':"{c}:\n- Currently in: {cab}\n- New cabin: business class\n- Total: ${d}, charged to {pid}",
'u10 booked in; Business upgrade':"{c} is currently booked in {cab} (${ot}). Business class would be ${nt}, so the difference is ${d}, charged to {pid}.",
}
def cp(k):
    def p(ep,w):
        r=w.requests[0]; b=w.reservations[r.record]
        if len(w.requests)>1 or not r.verdict(w).allowed or type(r).__name__!='Cancel': ep.skip=True; return
        yield Call("get_reservation_details",{"reservation_id":r.record}); 
        x=ctx(w,r); yield Say(C[k].format(**x)+" Shall I cancel it?"); yield r.call(w,SKILLS); yield Say("All done.")
    return p
def upl(k):
    def p(ep,w):
        r=w.requests[0]
        if len(w.requests)>1 or type(r).__name__!='Upgrade': ep.skip=True; return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
        x=ctx(w,r); yield Say(U[k].format(**x)+" Shall I proceed?"); yield r.call(w,SKILLS); yield Say("All done.")
    return p
if __name__!="__main__": C2=C
for k in (C if __name__=="__main__" else ()): sweep('tau2_precondition',[k],cp,n=100,levels=[1,3],start=100)
for k in (U if __name__=="__main__" else ()): sweep('tau2_airline_desk',[k],upl,n=150,levels=[0],start=100)
