from b1 import *
Z2=[mk(x,"","") for x in ["The bags on {codes} have been added. $0 was charged to {card}.","Your total for the added bags on {codes} is $0, so {card} was not charged.","The bags are booked. In total, $0 has been charged to your card.","The bags are booked. You have been charged 0 dollars in all.","The bags are booked. The total charge was $0.","The bags are booked. Total charged to {card}: $0.","The bags are booked. You will be charged $0 in all.","The bags are booked. Nothing has been charged to {card}; the total is $0.","The bags are booked. The amount charged to {card} is $0."]]
sweep(E,range(4),range(60),{"done":Z2,"prop":V["prop"][:1]},agent,filt=lambda w,s: ctx(w)[1]==0,show=0)
print("two reservations, one free")
def f2(w,s):
    ps,t=ctx(w); return len(ps)==2 and any(p["d"]==0 for p in ps) and t>0
T=[V["done"][0]]+[mk(a,b,c,sp) for a,b,c,sp in [
 ("Both are done. ","For {code}, you were charged ${d}."," In total you were charged ${sum}."," "),
 ("Done:\n","- {code}: {more} bags added, ${d} charged","\nTotal charged: ${sum}","\n"),
 ("Done:\n","- {code}: now {tot} bags, {nb} extra paid, cost: ${d}","\nThe added bags cost ${sum} in all.","\n"),
 ("Done. ","The {more} bags added to {code} cost ${d}","; that makes ${sum} in all for the added bags."," and "),
 ("Done. ","A total of ${d} was charged for {code}",". In all you pay ${sum}."," and "),
]]
sweep(E,(2,3),range(60),{"done":T,"prop":V["prop"][:1]},agent,filt=f2,show=1)
print("nonzero both")
sweep(E,(2,3),range(40),{"done":T,"prop":V["prop"][:1]},agent,filt=lambda w,s: all(p["d"] for p in ctx(w)[0]),show=0)
print("already paid bags told")
T2=[V["done"][0]]+[mk(a,b,c,sp) for a,b,c,sp in [
 ("Done. ","{code} had {had} bags, {hp} of them already paid; it now has {tot} bags, {paid} of them paid, so the added ones cost ${d}",". In all that is ${sum}.","; "),
 ("Done. ","{code}: {tot} bags in total, {paid} paid bags in total ({hp} were paid before), new charge ${d}",". The total is ${sum}.","; "),
 ("Done. ","{code} now has {tot} bags ({paid} non-free)",". You paid ${sum} for the added bags. Each bag beyond the allowance costs $50.","; ")]]
sweep(E,range(4),range(40),{"done":T2,"prop":V["prop"][:1]},agent,show=1)
W={"done":[mk(a,b,c) for a,b,c in [
 ("The added bags are done. ${sum} were refunded to {card}.","",""),
 ("The bags are booked. The added ones cost you {sum} or 50 or 100 dollars in all.","",""),
 ("The bags are booked. They cost 0, 50, 100, 150 or 200 dollars in all.","",""),
 ("The bags are booked. They cost {sum} dollars in all, charged to your gift card.","",""),
 ("The bags are booked. ","{code} now has 12 bags","; they cost {sum} dollars in all."),
 ("The bags are booked, all free. They cost {sum} dollars in all.","",""),
 ("The bags are booked. As a gold and silver and regular member you pay {sum} dollars in all.","",""),
]],"prop":[lambda w:"I will add the bags. Shall I proceed?",lambda w:"I will remove all bags and charge you 900 dollars. Shall I proceed?"]}
wrong(E,range(4),range(20),W,V,agent)
def bill(rule):
    def f(t):
        w=t.w.copy(); t.call("get_user_details",user_id=w.customer); tot=0; calls=[]
        for c,total in w.wanted.items():
            r=w.reservations[c]; n=len(r["passengers"]); paid=max(r["nonfree_baggages"],total-rule(w,r,n)); tot+=50*(paid-r["nonfree_baggages"]); calls.append((c,total,paid))
        t.say("To confirm: "+"; ".join(f"{c} gets {a} bags, {b} of them paid" for c,a,b in calls)+f". That is {tot} dollars in all, charged to {w.card}. Shall I proceed?")
        for c,a,b in calls: t.call("update_reservation_baggages",reservation_id=c,total_baggages=a,nonfree_baggages=b,payment_id=w.card)
        t.say(f"The bags are booked. The added ones cost you {tot} dollars in all.")
    return f
mem=lambda w:("regular","silver","gold").index(w.users[w.customer]["membership"]); cab=lambda r:records.CABINS.index(r["cabin"])
shortcuts(E,range(4),range(60),dict(oracle=oracle,ablated=ablated,all_free=bill(lambda w,r,n:99),all_paid=bill(lambda w,r,n:r["total_baggages"]),two_each=bill(lambda w,r,n:2*n),member_only=bill(lambda w,r,n:mem(w)*n),cabin_only=bill(lambda w,r,n:(cab(r))*n),memplus=bill(lambda w,r,n:(mem(w)+1)*n),per_booking=bill(lambda w,r,n:mem(w)+cab(r))))
