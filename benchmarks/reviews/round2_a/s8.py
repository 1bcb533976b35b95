from w2 import *
E="tau2_handover_judgement"
INS2={"a":lambda c:f"I understand, but a colleague wouldn't be able to cancel {c} either, since the same rules apply. I'm sorry.",
"b":lambda c:f"I'm sorry, but I can't transfer you for this. The reservation isn't eligible for cancellation, and a human agent would have to follow the same policy.",
"c":lambda c:f"I understand your request, but a transfer is only possible when a request can't be handled with my tools. As {c} doesn't meet the cancellation rules, it can't be cancelled.",
"d":lambda c:f"I'm really sorry, but handing you over wouldn't change the outcome: {c} can't be cancelled.",
"e":lambda c:"I appreciate your patience, but I'm not able to transfer you to a colleague for this, as the cancellation isn't allowed under our policy.",
"f":lambda c:"Unfortunately, nobody else can cancel this trip either. I wish you a speedy recovery. Is there anything else I can help you with?"}
def day(b,rng): return D(b["created_at"],rng)
def good(opt={}):
  def f(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]; v=r.verdict(w)
    if opt.get("hold"): yield S("I'm sorry to hear that you're ill. Let me look up your reservation.")
    yield getu(w); yield getr(c); st={}
    for x in b["flights"]:
        st[x["flight_number"]]=w.status(x["flight_number"],x["date"])
        yield Call(tool="get_flight_status",arguments={"flight_number":x["flight_number"],"date":x["date"]})
    flown=[x for x in b["flights"] if st[x["flight_number"]]=="landed"]
    if v.transfer:
        x=flown[0]; n=x["flight_number"]
        T=[f"I'm sorry to hear that you're ill. Your trip {c} was booked on {day(b,rng)}. Flight {n} on {x['date']} has already been flown, so I can't cancel the trip myself. I'll transfer you to a human colleague.",
           f"Trip {c} was booked on {day(b,rng)}. Unfortunately I can't cancel it because flight {n} has already landed. A human agent can help you with this; I am transferring you now.",
           f"Booking date: {day(b,rng)}\nFlight that prevents the cancellation: {n} (status: landed)\n\nSince part of the trip has already been used, I have to hand you over to a colleague.",
           f"Here's what I found: the reservation was made on {day(b,rng)}. The status of {n} is \"landed\", which means it has been flown; the other flight{'s are' if len(st)>2 else ' is'} not. I'm not permitted to cancel in this case, so a human colleague will take over.",
           f"Your reservation {c} was booked on {day(b,rng)}. Flight statuses:\n"+"\n".join(f"- {k} ({y['date']}): {s}" for (k,s),y in zip(st.items(),b['flights']))+f"\n\nBecause {n} has already landed, I can't cancel this trip. I'm transferring you to a human agent."]
        k=opt.get("t",rng.randrange(5))
        yield S(T[k])
        if not ep.done: yield Call(tool="transfer_to_human_agents",arguments={"summary":f"Customer {w.customer} is ill and wants to cancel {c}; flight {n} has already been flown."})
    elif v.allowed:
        k=opt.get("p",rng.randrange(3)); m=f"${pol.refund(b)}"
        yield S([f"I'm sorry to hear you're ill. Your trip {c} was booked on {day(b,rng)}. It can be cancelled because {why(b,'health')}. You'd be refunded {m}. Would you like me to proceed?",
         f"Reservation {c}:\n- Booked on: {day(b,rng)}\n- Cabin: {CAB[b['cabin']]}\n- Insurance: {b['insurance']}\n- Refund: {m}\n\nNo flight has been flown, so I can cancel it. Do you confirm?",
         f"The trip was booked on {day(b,rng)}, and I can cancel it for you. The refund of {m} goes back to your original payment method. Shall I go ahead?"][k])
        yield can(c); yield S(dones(c,b,rng)[rng.choice("abcdef")])
    else:
        k=opt.get("r",rng.randrange(5)); cab=CAB[b["cabin"]]
        R=[f"I'm sorry to hear that you're ill. Trip {c} was booked on {day(b,rng)} in {cab} without travel insurance. As it's neither business class nor insured, and was not booked within the last 24 hours, I'm unable to cancel it.",
           f"Your trip {c} was booked on {day(b,rng)}. Unfortunately it can't be cancelled: it's {cab}, it has no insurance, and the airline hasn't cancelled any of the flights. None of the flights is in the way; the fare conditions are the reason.",
           f"- **Booked on:** {day(b,rng)}\n- **Cabin:** {cab}\n- **Insurance:** none\n\nUnder our rules this reservation isn't eligible for cancellation, and a colleague would not be able to cancel it either.",
           refs(c,b,"health",rng)["letme"],refs(c,b,"health",rng)["hours"]]
        a=yield S(R[k]); n=0
        while a and n<4: a=yield S(INS2[opt.get("i",rng.choice("abcdef"))](c)); n+=1
  return f
T=lambda ep: ep.world.requests[0].verdict(ep.world).transfer
A=lambda ep: ep.world.requests[0].verdict(ep.world).allowed
N=lambda ep: not T(ep) and not A(ep)
if __name__=="__main__":
    table(E,range(3),120,{"mix":good(),"hold":good({"hold":1})},bad=3)
    for k in range(5): table(E,[2],80,{f"t{k}":good({"t":k})},bad=1,only=T)
    for k in range(5): table(E,[1],80,{f"r{k}":good({"r":k,"i":"a"})},bad=1,only=N)
    for k in "abcdef": table(E,[1],80,{f"i{k}":good({"r":0,"i":k})},bad=1,only=N)
    for k in range(3): table(E,[1],80,{f"p{k}":good({"p":k})},bad=1,only=A)
