from lib import *
E="tau2_handover_judgement"
def facts(w):
    code=w.requests[0].reservation; t=w.reservations[code]
    legs=[(f["flight_number"],f["date"],f["origin"],f["destination"]) for f in t["flights"]]
    st={n:w.status(n,d) for n,d,_,_ in legs}
    flown=[l for l in legs if st[l[0]]=="landed"]
    fam="flown" if flown else ("ok" if t["cabin"]=="business" or t["insurance"]=="yes" else "no")
    return code,t,legs,st,flown,fam
import datetime
def nat(d): return datetime.date.fromisoformat(d).strftime("%B %-d, %Y")
def ctx(w):
    code,t,legs,st,flown,fam=facts(w)
    c=dict(code=code,b=t["created_at"][:10],nb=nat(t["created_at"][:10]),cab=t["cabin"],ncab=t["cabin"].replace("_"," "),ref=policy.refund(t),pay=t["payment_history"][0]["payment_id"],ins="has" if t["insurance"]=="yes" else "does not have")
    if flown: c.update(f=flown[0][0],fd=flown[0][1],nfd=nat(flown[0][1]),o=flown[0][2],d=flown[0][3]); 
    oth=[l for l in legs if not flown or l!=flown[0]]
    c["others"]=" and ".join(f"{l[0]} ({st[l[0]]})" for l in oth); c["o1"]=oth[0][0]; c["od"]=nat(oth[0][1]); c["st1"]=st[oth[0][0]]
    c["lst"]="\n".join(f"- {l[0]} ({l[2]} to {l[3]}) on {l[1]}: {st[l[0]]}" for l in legs)
    c["why"]="it is a business class booking" if t["cabin"]=="business" else "the trip is insured and you are ill"
    return c,fam
V={
"flown":["{code} was booked on {nb}. Unfortunately flight {f} has already been flown, so I can't cancel it myself. I'm handing you over to a human colleague.",
 "Your trip {code} was booked on {b}. I am not able to cancel it myself because flight {f} on {fd} has already landed. I will transfer you to a human agent who can assist you further.",
 "Thank you. I checked your reservation {code}:\n\n- **Booking date:** {nb}\n- **Flight in the way:** {f} ({o} to {d}, {fd}) has already landed\n\nSince part of the trip has already been flown, I cannot cancel it myself. I am transferring you to a human colleague now.",
 "Your reservation {code} was booked on {nb}. Flight {f} from {o} to {d} on {nfd} has already been flown, which means I can't cancel this trip. A colleague needs to handle it - I'll hand you over now.",
 "I'm sorry to hear you're ill. Trip {code} was booked on {nb}. The status of its flights is:\n{lst}\nBecause flight {f} has already landed, I cannot cancel the trip and will hand you over to a colleague.",
 "Your trip {code} was booked on {nb}. Flight {f} has already been completed, so I need to hand your case over to a human colleague who can help with the cancellation.",
 "Booking date of {code}: {nb}. The obstacle is flight {f}: it has already landed. A human colleague will take it from here.",
 "I'm sorry you're not feeling well. Your trip {code} was booked on {b}. Flight {f} was already flown on {fd}, while {o1} on {od} is still {st1}. As one flight has been flown, I can't cancel this and must transfer you to a colleague.",
 "The trip {code} was booked on {nb}. The flight that prevents me from cancelling is {f}, which landed on {nfd}. I'll transfer you to a human agent.",
],
"no":["Trip {code} was booked on {nb}. It is {ncab} without insurance, so the rules do not allow a cancellation.",
 "I'm sorry to hear that you're ill. Your trip {code} was booked on {nb}. Unfortunately, it can't be cancelled: it's a {ncab} reservation, it has no travel insurance, and it was booked more than 24 hours ago. No flight is in the way.",
 "I checked your reservation {code}:\n- Booked on: {nb}\n- Cabin: {ncab}\n- Insurance: no\n\nUnder our rules I am unable to cancel it, because it was not booked in the last 24 hours, is not business class, and is not insured. A colleague could not cancel it either.",
 "Your trip {code} was booked on {b}. I'm unable to cancel it, since it is in {ncab}, was booked over 24 hours ago and does not have insurance.",
 "I'm sorry, but I can't cancel trip {code}. It was booked on {nb}, which is more than 24 hours ago, it's in {ncab} class and there is no travel insurance. None of the flights has been cancelled by the airline.",
 "Reservation {code} was booked on {nb}. It isn't eligible for cancellation: the cabin is {ncab}, no insurance was purchased, the booking is older than 24 hours, and the airline has not cancelled any of its flights.",
 "Your trip {code} was booked on {nb} in {ncab} and isn't insured. Because of this, I cannot cancel it for health reasons. The flights themselves are not the obstacle.",
],
"no2":["I am sorry, a colleague cannot cancel {code} either.",
 "I understand, but a human colleague is bound by the same rules, so I can't hand you over for this. Trip {code} cannot be cancelled.",
 "I'm sorry, but I can't transfer you for this: the trip does not qualify for cancellation, and a colleague would have to apply the same rules.",
 "I understand this is frustrating. The decision would be the same with a colleague: {code} is {ncab}, uninsured and was booked on {nb}, so it can't be cancelled.",
 "I'm sorry, a transfer is only possible when a request cannot be handled with my tools. Your cancellation is refused under the rules, so I can't hand you over.",
],
"ok":["Trip {code} was booked on {nb}. I will cancel it now and refund {ref} dollars to {pay}. Do you agree?",
 "Your trip {code} was booked on {nb}. Because {why}, I can cancel it. The full refund of ${ref} will go back to {pay} within 5 to 7 business days. Shall I go ahead and cancel it?",
 "I'm sorry to hear you're unwell. Reservation {code}:\n- **Booked:** {nb}\n- **Cabin:** {ncab}\n- **Refund:** ${ref} to {pay}\n\nIt can be cancelled because {why}. Would you like me to proceed with the cancellation (yes/no)?",
 "Your trip was booked on {b}. No flight is in the way, so I can cancel {code} for you. You would get ${ref} back. Do you want me to proceed?",
 "I can cancel {code} (booked {nb}) since {why}. ${ref} would be refunded to your original payment method. Please confirm that you want me to cancel it.",
],
"done":["{code} is cancelled, and {ref} dollars come back.",
 "Your trip {code} has been cancelled. A refund of ${ref} will be credited to {pay} within 5 to 7 business days.",
 "Done! Trip {code} is cancelled. You'll receive ${ref} back on {pay} in 5-7 business days. I wish you a speedy recovery.",
 "The cancellation is complete. ${ref} will be returned to the original payment method within 5–7 business days. It had been booked on {nb}.",
],
}
def agent(t,pick):
    c,fam=ctx(t.w); code,trip,legs,st,flown,_=facts(t.w)
    t.call("get_reservation_details",reservation_id=code)
    for l in legs: t.call("get_flight_status",flight_number=l[0],date=l[1])
    if fam=="flown":
        t.say(pick("flown").format(**c)); t.call("transfer_to_human_agents",summary=f"Customer ill, wants to cancel {code}; {c['f']} flown.")
    elif fam=="no":
        a=t.say(pick("no").format(**c)); k=0
        while a and k<3: a=t.say(pick("no2").format(**c)); k+=1
    else:
        a=t.say(pick("ok").format(**c)); 
        t.call("cancel_reservation",reservation_id=code)
        a=t.say(pick("done").format(**c))
        if a: t.say(f"Yes, {code} is cancelled; it was booked on {c['nb']}.")
def filt(w,slot):
    return {"flown":"flown","no":"no","no2":"no","ok":"ok","done":"ok"}[slot]==ctx(w)[1]
if __name__=="__main__": sweep(E,range(3),range(30),V,agent,filt=filt)
