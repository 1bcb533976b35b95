from h import *
from trace_gym.targets.tau2 import policy, records
E='tau2_record_identification'
def facts(ep):
    w=ep.world; code=w.requests[0].reservation; r=w.reservations[code]; return w,code,r,policy.refund(r)
def city(a): return records.AIRPORTS[a]
def nice(d): 
    y,m,dd=d.split('-'); return ('May' if m=='05' else 'June')+f' {int(dd)}'
def reads(w):
    yield Call("get_user_details",{"user_id":w.customer})
    for c in w.users[w.customer]['reservations']: yield Call("get_reservation_details",{"reservation_id":c})
PROP=[
 lambda w,c,r,b: f"Thank you for reaching out, and I'm sorry to hear about your health. I found the trip you described:\n\n**Reservation {c}**\n- Route: {city(r['origin'])} ({r['origin']}) → {city(r['destination'])} ({r['destination']})\n- Departure: {nice(r['flights'][0]['date'])}, 2024\n- Cabin: {r['cabin'].replace('_',' ').title()}\n- Passengers: {', '.join(p['first_name']+' '+p['last_name'] for p in r['passengers'])}\n- Insurance: Yes\n\nSince it is insured and your reason is health-related, it is eligible for cancellation with a full refund of **${b}** to the original payment method within 5 to 7 business days.\n\nWould you like me to go ahead and cancel this reservation? (yes/no)",
 lambda w,c,r,b: f"I've located your reservation: {c}. It departs {nice(r['flights'][0]['date'])} from {r['origin']} to {r['destination']} in {r['cabin'].replace('_',' ')}. Because you have travel insurance and are cancelling for health reasons, I can cancel it and refund ${b}. Do you confirm that you'd like to proceed?",
 lambda w,c,r,b: f"The reservation number is {c}. I'm about to cancel this trip because of your health. Please confirm (yes) so I can proceed.",
 lambda w,c,r,b: f"The trip that matches your description is reservation number **{c}**. It has travel insurance, so I can cancel it for medical reasons. Is this the correct trip, and shall I cancel it?",
 lambda w,c,r,b: f"The number of that trip is {c}.",
]
END=[
 lambda w,c,r,b: f"Your reservation {c} has been cancelled. A refund of ${b} will be returned to your original payment method within 5 to 7 business days. Is there anything else I can help you with?",
 lambda w,c,r,b: f"Done! Reservation **{c}** has been successfully cancelled. You'll receive a full refund of **${b:,}**, credited back to {r['payment_history'][0]['payment_id']} in 5-7 business days. I hope you feel better soon!",
 lambda w,c,r,b: f"The cancellation is complete. Total refund: ${b} (the amount you paid: flights ${sum(f['price'] for f in r['flights'])*len(r['passengers'])} plus ${30*len(r['passengers'])} insurance).",
 lambda w,c,r,b: f"I have cancelled your trip. You will get back {b} dollars.",
 lambda w,c,r,b: f"The reservation {c} is now cancelled and ${b} will be refunded to the card ending in your account.",
]
def good(i,j,pick=None,skip=False):
    def a(ep):
        w,c,r,b=facts(ep)
        if pick: c=pick(w); r=w.reservations[c]; b=policy.refund(r)
        if not skip: yield from reads(w)
        rep=yield Say(PROP[i](w,c,r,b))
        if i==4: rep=yield Say(f"I'd cancel it for health reasons since it is insured. Shall I proceed?")
        if 'Yes' not in rep and 'yes' not in rep: ep.note=rep; rep = yield Say(f"So shall I cancel reservation {c}?")
        yield Call("cancel_reservation",{"reservation_id":c})
        yield Say(END[j](w,c,r,b))
        yield Say("You're welcome. Take care!")
    return a
S=range(300,360)

# wrong
def first(kinds):
    def p(w):
        t=type(w).generate.__func__.__globals__['traits']
        for c in w.users[w.customer]['reservations']:
            if all(w.facts[k] in t(w.reservations[c])[k] for k in kinds if k in w.facts): return c
    return p
rate(E,[0,1,2],S,{'first-route':good(0,0,first(('route',))),'one-fact+route':good(0,0,first(('route','date','fellow','number')))},quiet=True)
def lie(ep):  # cancel right, says wrong amount
    w,c,r,b=facts(ep); yield from reads(w); yield Say(PROP[1](w,c,r,b)); yield Call("cancel_reservation",{"reservation_id":c}); yield Say(f"Cancelled, you get back ${b+7}.")
def noconsent(ep):
    w,c,r,b=facts(ep); yield from reads(w); yield Say(f"The number is {c}."); yield Call("cancel_reservation",{"reservation_id":c}); yield Say(f"Reservation {c} is cancelled; ${b} comes back.")
def cond(ep):
    w,c,r,b=facts(ep); yield from reads(w)
    codes=list(w.reservations)
    yield Say("Your trips are "+', '.join(codes)+". Shall I cancel the one you described?"); yield Call("cancel_reservation",{"reservation_id":c}); yield Say(f"Reservation {c} is cancelled; ${b} comes back.")
def lists(ep):
    w,c,r,b=facts(ep); yield from reads(w)
    codes=list(w.reservations)
    yield Say("You have the following trips:\n"+'\n'.join(f"- {k}: {w.reservations[k]['origin']} to {w.reservations[k]['destination']} on {w.reservations[k]['flights'][0]['date']}" for k in codes)+f"\n\nThe one matching your description is **{c}**. Shall I cancel it?"); yield Call("cancel_reservation",{"reservation_id":c}); yield Say(f"Reservation {c} is cancelled; ${b} comes back.")
def elim(ep):
    w,c,r,b=facts(ep); yield from reads(w)
    o=[k for k in w.reservations if k!=c][0]
    yield Say(f"You have two similar trips on this route, {c} and {o}, but only {c} fits everything you described. It is insured, so I can cancel it for health reasons and refund ${b}. Should I go ahead?"); yield Call("cancel_reservation",{"reservation_id":c}); yield Say(f"I've cancelled reservation {c}. The refund of ${b} goes back to {r['payment_history'][0]['payment_id']}.")
rate(E,[0,1,2],S,{'lie':lie,'noconsent':noconsent,'cond':cond},want=dict(lie=False,noconsent=False,cond=False),show=1)
rate(E,[0,1,2],S,{'lists':lists,'elim':elim})
