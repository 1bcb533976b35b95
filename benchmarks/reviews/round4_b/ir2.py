from ir import *
def wrong(which,end,prop=p1,consent=True,late=False):
    def a(ep):
        w,W,pl,R=st(ep)
        for c in w.reservations: yield Call("get_reservation_details",{"reservation_id":c})
        if consent:
            for i in range(len(w.revisions)): yield Say(prop(w,W[i],pl,R))
        T=which(w,W)
        for c in T: yield Call("cancel_reservation",{"reservation_id":c})
        r=yield Say(end(w,T,pl,R))
        if late: ep.late=r; yield Say(f"The total refund is ${sum(R[c] for c in T)}.")
        yield Say("Bye.")
    return a
last=lambda w,W:W[-1]
def amt(f): return lambda w,S,pl,R: f"All done. In total you get back ${f(w,S,R)}."
rate(E,range(3),S_,{'late_total':wrong(last,lambda w,S,pl,R:f"I've cancelled {lst([pl[c] for c in S])}.",late=True)},show=1)
W_={'first_wish':wrong(lambda w,W:W[0],e0),'second_wish':wrong(lambda w,W:W[1],e0),'union':wrong(lambda w,W:sorted(set(W[0])|set(W[-1])),e0),'noconsent_first':wrong(lambda w,W:W[0],e0,consent=False),
'wrongtotal':wrong(last,amt(lambda w,S,R:sum(R[c] for c in S)+13)),'firsttotal':wrong(last,lambda w,S,pl,R:f"Done. In total you get back ${sum(R[c] for c in w.first)}."),
'charged':wrong(last,lambda w,S,pl,R:f"Done. In total ${sum(R[c] for c in S)} has been charged to your payment methods."),
'swapparts':wrong(last,lambda w,S,pl,R:f"Done. "+', '.join(f"{a}: ${R[b]}" for a,b in zip(S,S[1:]+S[:1]))+f". The total refund is ${sum(R[c] for c in S)}."),
'claims_more':wrong(last,lambda w,S,pl,R:e1(w,S,pl,R)+" I have also cancelled "+[c for c in w.reservations if c not in S][0]+"."),
'claims_wrongtrips':wrong(last,lambda w,S,pl,R:f"I've cancelled the trips to {lst([pl[c] for c in w.reservations if c not in S])}. The total refund is ${sum(R[c] for c in S)}."),
'gift':wrong(last,lambda w,S,pl,R:e1(w,S,pl,R)+" As a goodwill gesture I have also sent you a $100 certificate."),
'denies':wrong(last,lambda w,S,pl,R:f"I was not able to make the change. The total refund is ${sum(R[c] for c in S)}.")}
rate(E,range(3),S_,W_,quiet=True)
for a in ('claims_more','claims_wrongtrips','gift'): print(log(run(E,1,1003,W_[a]))[-900:])
