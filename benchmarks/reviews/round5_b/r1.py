from lib import *
import datetime
E="tau2_record_identification"
def nat(d): return datetime.date.fromisoformat(d).strftime("%B %-d, %Y")
def ctx(w):
    code=w.requests[0].reservation; r=w.reservations[code]
    mates=[f"{p['first_name']} {p['last_name']}" for p in r["passengers"]]
    same=[c for c,x in w.reservations.items() if c!=code and (x["origin"],x["destination"])==(r["origin"],r["destination"])]
    o=same[0] if same else next(c for c in w.reservations if c!=code)
    return dict(code=code,o=r["origin"],d=r["destination"],cab=r["cabin"].replace("_"," "),date=r["flights"][0]["date"],nd=nat(r["flights"][0]["date"]),ref=policy.refund(r),pay=r["payment_history"][0]["payment_id"],n=len(mates),mates=", ".join(mates),other=o,odate=nat(w.reservations[o]["flights"][0]["date"]),oref=policy.refund(w.reservations[o]),ocab=w.reservations[o]["cabin"].replace("_"," "),all=", ".join(w.reservations),list="\n".join(f"- {c}: {x['origin']}-{x['destination']}, {x['flights'][0]['date']}, {x['cabin']}" for c,x in w.reservations.items()),fl=", ".join(f["flight_number"] for f in r["flights"]))
V={"prop":["That is reservation {code}. It is insured, so I will cancel it for health. Shall I proceed?",
"I found your trip: reservation **{code}** from {o} to {d}, departing {nd}, in {cab}, {n} traveler(s). Since it has travel insurance and you cannot fly for health reasons, I can cancel it. The refund of ${ref} goes back to {pay}. Do you want me to proceed?",
"The trip that matches your description is {code}:\n- Route: {o} → {d}\n- Departure: {date}\n- Cabin: {cab}\n- Passengers: {mates}\n- Insurance: yes\n\nI would cancel this reservation and refund ${ref} to {pay} within 5 to 7 business days. Shall I go ahead?",
"Thank you. Your reservation number is {code} ({o} to {d} on {nd}, {cab}). I'm going to cancel it under the travel insurance. Do you agree?",
"I've gone through your reservations. You have several trips from {o} to {d}, but only {code} matches everything you told me. Shall I cancel {code}?",
"The reservation is {code}. Reservation {other} has the same route but leaves on {odate}, so it is not the one. I will cancel {code} and refund ${ref} to {pay}. Is that all right?",
"Your trip has the number {code}. May I cancel it now? The refund would be {ref} dollars.",
"I looked through all of your trips and found the one: {code}, flights {fl}. It's insured and health is a covered reason, so it can be cancelled with a full refund of ${ref}. Do you confirm the cancellation?",
"I see two similar trips, {code} and {other}. The one you described is {code}. I'll cancel {code}. Shall I proceed?",
"These are your trips:\n{list}\n\nThe one you describe is {code}. Shall I cancel it?",
"Reservation {code} is the only one that fits. {other} is in {ocab} and leaves on {odate}. Shall I cancel {code} for health reasons?"],
"done":["It is cancelled, and {ref} dollars come back to the method that paid.",
"Reservation {code} has been cancelled. You will get ${ref} back on {pay} within 5 to 7 business days.",
"Done! {code} is cancelled and a refund of **${ref}** will be issued to {pay} in 5–7 business days. Get well soon!",
"The cancellation is confirmed. Refund: ${ref} to your original payment method.",
"Your trip is now cancelled. The full amount of ${ref} will be returned to {pay}.",
"Your reservation {code} ({o} to {d}, {nd}) was cancelled. The refund amount is ${ref}; it goes to {pay} within 5 to 7 business days.",
"All done. You'll receive ${ref}.","Cancelled. You get back the {ref} dollars that you paid.",
"Reservation {code} is now cancelled. ${ref} has been refunded to {pay}. Your other trips remain unchanged.",]}
def agent(t,pick):
    w=t.w.copy(); c=ctx(w); t.call("get_user_details",user_id=w.customer)
    for k in w.users[w.customer]["reservations"]: t.call("get_reservation_details",reservation_id=k)
    a=t.say(pick("prop").format(**c)); t.call("cancel_reservation",reservation_id=c["code"]); a=t.say(pick("done").format(**c))
    if a: t.say(f"You get {c['ref']} dollars back.")
if __name__=="__main__":
    sweep(E,range(3),range(30),V,agent)
    W={"prop":["Shall I cancel it?","You have {all}. Which one should I cancel? {code} fits. Shall I proceed?","It is {code} or {other}. Shall I cancel it?","That is reservation {other}. I will cancel it. Shall I proceed?","I will cancel {code} and {other}. Shall I proceed?","That is reservation {code}. It costs you a fee of 200 dollars to cancel. Shall I proceed?"],
    "done":["It is cancelled, and you are charged {ref} dollars.","It is cancelled, {ref} or {oref} dollars come back.","It is cancelled, and {oref} dollars come back.","{other} is cancelled, and {ref} dollars come back.","I could not cancel it, but {ref} dollars come back.","{code} and {other} are cancelled, and {ref} dollars come back.","It is cancelled. {ref} dollars will go to your bank account."]}
    wrong(E,range(3),range(25),W,V,agent)
    def route(t):
        for s in t.w.copy().ablated(): t.do(s)
    def retry(t): # name candidates one after another until the customer ... 
        w=t.w.copy(); code=w.requests[0].reservation
        for c in w.reservations: t.say(f"Is it {c}?")
        t.say(f"It is {list(w.reservations)[0]}. Shall I cancel it?")
    def byfact(kinds):
        def f(t):
            w=t.w.copy(); ks=[k for k in w.facts if k in kinds or k=="route"]
            for s in w.expert(ks): t.do(s)
        return f
    def desc(t): # ask the customer which
        w=t.w.copy(); a=t.say("Which of your trips do you mean? "+", ".join(w.reservations)); t.log.append(str(a))
        for s in w.oracle(): t.do(s)
    def nocons(t):
        w=t.w.copy(); c=ctx(w); t.call("cancel_reservation",reservation_id=c["code"]); t.say(V["done"][1].format(**c))
    def namethencancel(t):
        w=t.w.copy(); c=ctx(w); t.say(f"Your trip has the number {c['code']}."); t.log.append("?"); t.call("cancel_reservation",reservation_id=c["code"]); t.say(V["done"][1].format(**c))
    shortcuts(E,range(3),range(60),dict(oracle=oracle,ablated=ablated,date=byfact(("date",)),cabin=byfact(("cabin",)),fellow=byfact(("fellow","number")),askfirst=desc,nocons=nocons,namethencancel=namethencancel))
