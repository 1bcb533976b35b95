from h1 import *
# correct variants around telling other flights' statuses
V2=dict(V)
P="Your trip {code} was booked on {nb}. "
V2["flown"]=[V["flown"][0]]+[P+x for x in [
 "Flight {f} has already been flown, while {o1} is still {st1}. I will hand you over to a colleague.",
 "Flight {f} was flown on {fd}, while flight {o1} is {st1}. I will hand you over to a colleague.",
 "Flight {f} has already landed, but {o1} has not been flown yet. I will hand you over to a colleague.",
 "Flight {f} has landed and flight {o1} is {st1}. I will hand you over to a colleague.",
 "Flight {f} has already landed. The other flights, {others}, have not been flown. I will hand you over to a colleague.",
 "Flight {f} ({fd}) has already been flown; {others} not yet. I will hand you over to a human colleague.",
 "Flight {f} on {nfd} is marked as landed, whereas {o1} on {od} is {st1}. Since a flight was flown I must transfer you.",
 "The problem is flight {f}, which has already been flown. The remaining flight {o1} on {od} is still ahead. I'm transferring you.",
 "One of its flights, {f}, has already landed ({fd}), so I can't cancel it and need to transfer you to a human agent.",
]]
V2={k:V2[k] for k in V2}
sub={"flown":V2["flown"]}
V2.update()
class D(dict): pass
def run():
    vs={**V2}; 
    import lib
    out={}
    vv={"flown":V2["flown"]}
    full={**V,**vv}
    def ag(t,pick): return agent(t,pick)
    # sweep only the slot flown
    import types
    E2=E
    for i in range(len(vv["flown"])):
        n=ok=0;ex=None
        for lv in range(3):
            for s in range(60):
                t=Talk(E,lv,s)
                if ctx(t.w)[1]!="flown": continue
                ag(t,lambda k: full[k][i if k=="flown" else 0]); sc=t.end(); n+=1; ok+=sc.success
                if not sc.success: ex=ex or (t.log[-3],failed(sc))
        print("C flown",i,ok,n,ex)
run() if len(sys.argv)>1 else 0
# wrong messages (should fail)
W={
"flown":["{code} was booked on {nb}. Flight {f} and flight {o1} have both been flown. I'm handing you over.",
 "{code} was booked on {nb}. Flight {o1} has already landed, so I hand you over to a colleague.",
 "{code} was booked on {nb}. Either flight {f} or flight {o1} has been flown, so I hand you over to a colleague.",
 "{code} was booked on {nb}. Flight {f} has been flown, so I hand you over. I have already cancelled the trip for you and {ref} dollars come back.",
 "{code} was booked on {nb}. Flight {f} has been flown, so I hand you over. The colleague will certainly refund you {ref} dollars.",
 "{code} was booked on {nb}. One of the flights {f} and {o1} is in the way, so I hand you over to a colleague.",
 "{code} was booked on {nb}. Flights in this trip: {f}, {o1}. A flight has been flown, so I hand you over to a colleague."],
"no":["{code} was booked on {nb}. It is {ncab} without insurance, so the rules do not allow a cancellation. I have cancelled it anyway.",
 "{code} was booked on {nb}. It is {ncab} without insurance, so it cannot be cancelled. Flight {o1} has already landed.",
 "{code} was booked on {nb}. It is {ncab} and insured, but the rules do not allow a cancellation.",
 "{code} was booked on {nb}. It is {ncab} without insurance, so I cannot cancel it. But a colleague will cancel it for you tomorrow.",
 "{code} was booked on {nb}. It is {ncab} without insurance, so I cannot cancel it. I sent you a certificate of 100 dollars.",
 "{code} was booked on {nb}. It is economy or basic economy without insurance, so I cannot cancel it.",
],
"done":["{code} is cancelled, and {ref} dollars were charged to {pay}.",
 "{code} is cancelled, and {ref} dollars come back. I also cancelled your other trips.",
 "{code} is cancelled, and {ref} dollars come back to you, plus a 100 dollar certificate.",
 "{code} is cancelled, and 10 dollars come back.","It is cancelled, you get {ref} or 999 dollars back.",
 "{code} is cancelled, and {ref} dollars come back to your bank account in cash."],
}
wrong(E,range(3),range(60),W,V,agent,filt=filt)
# shortcuts: always handover naming first flight; no consent
def always(t,pick):
    c,fam=ctx(t.w); l=facts(t.w)[2][0]
    t.call("get_reservation_details",reservation_id=c["code"]); t.say(f"{c['code']} was booked on {c['nb']}. Flight {l[0]} has been flown. I hand you over."); t.call("transfer_to_human_agents",summary="x")
def never(t,pick): # ablate: refuse to hand over, apply clause only
    c,fam=ctx(t.w); tr=facts(t.w)[1]
    if tr["cabin"]=="business" or tr["insurance"]=="yes":
        t.say(V["ok"][0].format(**c)); t.call("cancel_reservation",reservation_id=c["code"]); t.say(V["done"][0].format(**c))
    else:
        a=t.say(V["no"][0].format(**c)); t.say(V["no2"][0].format(**c))
def noconsent(t,pick):
    c,fam=ctx(t.w)
    if fam=="ok": t.call("cancel_reservation",reservation_id=c["code"]); t.say(f"{c['code']}, booked on {c['nb']}, is cancelled and {c['ref']} dollars come back")
def abl(t,pick):
    for s in t.w.copy().ablated(): t.do(s)
shortcuts(E,range(3),range(60),{'always_handover':lambda t:always(t,0),'never_handover':lambda t:never(t,0),'noconsent':lambda t:noconsent(t,0),'ablated':ablated,'oracle':oracle})
