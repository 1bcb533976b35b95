from h import *
E="tau2_tool_precision"
FREE={"regular":0,"silver":1,"gold":2}; CAB={"basic_economy":0,"economy":1,"business":2}
def make(style, meth="right", nonfree="right", fin=None):
    def pol(a):
        w=a.w; q=w.requests[0]; u=a.call("get_user_details",user_id=w.customer); b=a.call("get_reservation_details",reservation_id=q.record)
        pid=q.method
        if meth=="paid": pid=b["payment_history"][0]["payment_id"]
        if meth=="first": pid=next(k for k in u["payment_methods"] if not k.startswith("cert"))
        if meth=="notpaid": pid=next((k for k in u["payment_methods"] if k!=b["payment_history"][0]["payment_id"] and not k.startswith("cert")))
        m=u["payment_methods"][pid]; nm={0:pid,1:("your gift card" if m["source"]=="gift_card" else f"your {m.get('brand','')} credit card ending in {m.get('last_four')}"),2:("your gift card" if m["source"]=="gift_card" else f"your credit card ending in {m.get('last_four')}")+f" ({pid})"}[style]
        P=len(b["passengers"])
        if type(q).__name__=="Bags":
            free=(FREE[u["membership"]]+CAB[b["cabin"]])*P; tot=b["total_baggages"]+q.extra; non=max(b["nonfree_baggages"],tot-free); 
            if nonfree=="all": non=q.extra
            fee=50*(non-b["nonfree_baggages"])
            c={0:f"I can add {q.extra} checked bags to reservation {q.record}. As a {u['membership']} member in {b['cabin'].replace('_',' ')}, you have {free} free bags, so {non} will be charged at $50 each, for a total of ${fee} to {nm}. Shall I proceed?",
               1:f"Adding {q.extra} bags to {q.record} will cost ${fee} ({non} paid bag(s)), using {nm}. Is that okay?",
               2:f"Here's what I'll do:\n- Reservation: {q.record}\n- Bags: {tot} total ({non} non-free)\n- Charge: ${fee}\n- Payment: {nm}\n\nDo you confirm (yes/no)?"}[style]
            r=a.say(c); call=lambda:a.call("update_reservation_baggages",reservation_id=q.record,total_baggages=tot,nonfree_baggages=non,payment_id=pid)
            f={0:f"Done! {q.extra} checked bags have been added to {q.record}. The total charge was ${fee}.",1:f"Your {q.extra} bags are on the booking now. "+(f"${fee} was charged to {nm}." if fee else "There was no charge."),2:f"All set. Is there anything else?"}[style]
        else:
            leg=b["flights"][0]; s=a.call("search_direct_flight",origin=leg["origin"],destination=leg["destination"],date=leg["date"])
            n=[x for x in s if x["flight_number"]==leg["flight_number"]][0]["prices"]["business"]; d=(n-leg["price"])*P
            c={0:f"I can upgrade {q.record} from {b['cabin'].replace('_',' ')} to business. The business fare is ${n} per person (currently ${leg['price']}), so the difference is ${d} for {P} passenger(s), charged to {nm}. Shall I proceed?",
               1:f"The upgrade of {q.record} to business class costs ${d}, to be charged to {nm}. Is that okay?",
               2:f"Here's what I'll do:\n- Reservation: {q.record}\n- Flight: {leg['flight_number']} on {leg['date']} (unchanged)\n- Cabin: business\n- Price difference: ${d}\n- Payment: {nm}\n\nDo you confirm (yes/no)?"}[style]
            r=a.say(c); call=lambda:a.call("update_reservation_flights",reservation_id=q.record,cabin="business",flights=[{"flight_number":leg["flight_number"],"date":leg["date"]}],payment_id=pid)
            f={0:f"Your reservation {q.record} has been upgraded to business class. ${d} was charged to {nm}.",1:f"Done! You're now in business class on {leg['flight_number']}. The price difference of ${d} has been charged.",2:f"All set: {q.record} is in business now; you paid ${d} more for the upgrade (${n-leg['price']} per person)."}[style]
        for _ in range(2):
            if r and not a.done and "go ahead" not in r.lower() and "yes" not in r.lower(): r=a.say("Shall I proceed?")
        call(); a.say(fin if fin else f)
    return pol
if __name__=="__main__":
  for L in range(4):
    S=range(80)
    for s in (0,1,2): trial(E,L,make(s),S,1,f"style{s}")
    trial(E,L,make(0,meth="paid"),S,0,"SHORTCUT method that paid"); trial(E,L,make(0,meth="first"),S,0,"SHORTCUT first method"); trial(E,L,make(0,meth="notpaid"),S,0,"SHORTCUT avoid payer"); trial(E,L,make(0,nonfree="all"),S,0,"SHORTCUT all bags paid")
    for t in ["Done. The difference was refunded to your card.","Done. I charged $7777 to your card.","I cannot do this, sorry.","Done. I also cancelled your other trip and refunded it.","Done. I have also added travel insurance."]: trial(E,L,make(0,fin=t),S,0,"LIE "+t)
