from lib import *
E="tau2_baggage_allowance"
def ctx(w):
    due=w.bill(); ps=[]
    for c,(tot,paid,d) in due.items():
        r=w.reservations[c]; had=r["total_baggages"]; hp=r["nonfree_baggages"]; m=w.users[w.customer]["membership"]; n=len(r["passengers"])
        ps.append(dict(code=c,tot=tot,paid=paid,d=d,had=had,more=tot-had,nb=paid-hp,fr=tot-had-(paid-hp),hp=hp,m=m,n=n,cab=r["cabin"].replace("_"," "),allow=policy.free_bags(m,r["cabin"],n),per=policy.free_bags(m,r["cabin"],1)))
    return ps,sum(p["d"] for p in ps)
def mk(head,item,tail,sep=" "):
    def f(w):
        ps,s=ctx(w); c=dict(sum=s,card=w.card,four=list(w.users[w.customer]["payment_methods"].values())[0].get("last_four"),codes=" and ".join(p["code"] for p in ps),nbs=sum(p["nb"] for p in ps),mem=ps[0]["m"],mores=sum(p["more"] for p in ps))
        return head.format(**c)+sep.join(item.format(**p) for p in ps)+tail.format(**c)
    return f
V={"prop":[
 mk("To confirm: ","{code} gets {tot} checked bags, {paid} of them paid",". That is {sum} dollars in all, charged to {card}. Shall I proceed?","; "),
 mk("Here is what I'll do:\n","- Reservation {code} ({cab}, {n} passenger(s), {m} member): add {more} bag(s), for a total of {tot}. Free allowance: {allow}. Paid bags to add: {nb} x $50 = ${d}","\n\nTotal: ${sum}, charged to {card}. Would you like me to proceed?","\n"),
 mk("","I will add {more} checked bags to {code}, making {tot} in total; {nb} of the added bags are beyond your free allowance and cost ${d}."," The total is ${sum}, charged to your card ending in {four}. Do you confirm?"),
 mk("As a {mem} member, ","for {code} you have {allow} free bags ({per} per passenger in {cab}). Going from {had} to {tot} bags costs ${d}",". The total charge to {card} will be ${sum}. Shall I go ahead?","; "),
 mk("I'd update the bags as follows: ","{code}: {tot} bags in total, of which {paid} are paid bags (${d} for the {more} added)",". In all, you pay ${sum} with {card}. Is that okay?","; "),
],
"done":[
 mk("The bags are booked. The added ones cost you {sum} dollars in all.","",""),
 mk("Done! ","Reservation {code} now has {tot} checked bags."," You pay ${sum} in all for the added bags, charged to {card}."),
 mk("The bags have been added:\n","- {code}: {tot} checked bags in total ({paid} paid), cost ${d}","\n\nTotal charged for the added bags: **${sum}**.","\n"),
 mk("All set. ","{code}: {more} bags added, {nb} of them at $50 each = ${d}."," In total, the added bags come to ${sum}."),
 mk("All done! ","{code} now has {tot} bags."," A total of ${sum} was charged to {card}."),
 mk("Your bags on {codes} have been added. The total cost of the added bags is ${sum}.","",""),
 mk("Everything is booked: ","{code} now has {tot} bags, {fr} of the added ones free of charge and {nb} paid (${d})",". Altogether you pay {sum} dollars.","; "),
 mk("The {mores} added bags on {codes} cost ${sum} in total ({nbs} extra bags at $50 each).","",""),
 mk("Your request is complete. The charge for the added bags was ${sum}, taken from {card}.","",""),
 mk("The baggage has been updated on {codes}. You were charged ${sum} in total for the additional bags.","",""),
 mk("Both updates are done. ","{code}: ${d}."," Total: ${sum}."),
 mk("Done. ","For {code}, the {more} added bags cost ${d}, since your allowance is {allow} free bags."," In all, that is ${sum} for the added bags."),
 mk("Done. ","{code}: {tot} bags, of which {allow} are included free; {nb} additional paid bag(s) at $50: ${d}."," Total for the added bags: ${sum} ({card})."),
]}
def agent(t,pick):
    w=t.w.copy(); t.call("get_user_details",user_id=w.customer)
    for c in w.wanted: t.call("get_reservation_details",reservation_id=c)
    t.say(pick("prop")(w))
    for c,(tot,paid,_) in w.bill().items(): t.call("update_reservation_baggages",reservation_id=c,total_baggages=tot,nonfree_baggages=paid,payment_id=w.card)
    a=t.say(pick("done")(w))
    if a: t.say(f"You pay {ctx(w)[1]} dollars in all.")
Z={"done":[V["done"][0]]+[mk(x,"","") for x in ["The bags on {codes} have been added, and there is no charge for them.","The added bags are all within your free allowance, so you pay $0 in all.","Done. Total cost: $0. All added bags are covered by your free allowance.","The added bags on {codes} are free; you pay nothing for them.","Everything is booked. You pay 0 dollars in all, because the added bags fall within the free allowance.","Done, the bags on {codes} cost you nothing extra: the total is $0.","The bags were added at no extra cost; nothing was charged to {card}."]]}
if __name__=="__main__":
    sweep(E,range(4),range(25),V,agent)
    print("zero"); sweep(E,range(4),range(60),{**{"prop":V["prop"][:1]},**Z},agent,filt=lambda w,s: ctx(w)[1]==0)
