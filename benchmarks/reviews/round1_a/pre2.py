from pre import *
R=[
"I'm sorry, but reservation {c} can't be cancelled. Your flight on {fl} was booked on {day}, it's {cab}, and {insw}.",
"Unfortunately I can't cancel it: the reservation was made more than 24 hours ago ({day}), it isn't business class, and {insw}.",
"I'm afraid this reservation isn't eligible for cancellation. It was created at {raw}, the cabin is {cab}, and {insw}. None of the flights was cancelled by the airline.",
"I checked your booking {c} ({o} to {d} on {fl}). It was booked {ago} days ago on {dayn}, in {cab}, {insw}. Only bookings made within the last 24 hours, business class bookings, flights cancelled by the airline, or insured bookings with health or weather reasons can be cancelled, so I cannot cancel this one.",
"I'm sorry, I can't proceed with the cancellation. Here's why:\n1. Booking date: {iso} (over 24 hours ago)\n2. Cabin: {cab} (not business)\n3. Insurance: {insyn}\n4. Flight status: not cancelled by the airline",
"Since your reservation is in {cab}, was booked on {iso}, and {insw}, our rules don't allow me to cancel it. I'm sorry for the inconvenience.",
"I'm really sorry, but your reservation is not eligible for cancellation because it's {cab}, {insw}, and the booking date was {dayn}. Would you like me to help with anything else, such as changing the flight?",
"Unfortunately, we can only cancel reservations that were booked less than 24 hours ago, are in business class, or have insurance covering health or weather. {c} was booked on {day} in {cab} and {insw}. Therefore, I won't be able to cancel it.",
"Reservation {c} does not meet the cancellation criteria: booked {iso}, {cab}, {insw}.",
"I have to decline the cancellation of {c}. The deciding facts: {cab} cabin, booked {day}, {insw}.",
"I'm sorry you're going through this. Your booking from {dayn} is in {cab} and {insw}, so it's non-cancellable at this point.",
]
def rag(t):
    def f_(w,ep):
        f=fx(w); b=f['b']
        ins=("it is insured, but the reason given isn't health or weather" if b['insurance']=='yes' else "it doesn't have travel insurance")
        yield C('get_reservation_details',reservation_id=f['c'])
        if w.withheld: yield S("May I know the reason for the cancellation?")
        yield S(t.format(**{**f,'fl':b['flights'][0]['date'],'insw':ins,'raw':b['created_at'],'o':b['origin'],'d':b['destination']}))
        for i in range(4): yield S(PUSH[i%2])
    return f_
from trace_gym import registry
for l in (0,1,2,3):
    ss=[]
    for s in range(400):
        w=registry.episode(Scenario(env=E,level=l,seed=s)).start; v=w.requests[0].verdict(w)
        if not v.allowed and not v.transfer: ss.append(s)
        if len(ss)==50: break
    study(E,[l],ss,{f'r{i}':rag(t) for i,t in enumerate(R)})
# shortcuts
def pol(dec):
    def f_(w,ep):
        f=fx(w)
        yield C('get_reservation_details',reservation_id=f['c'])
        if w.withheld: yield S("What is the reason for the cancellation?")
        d=dec(w,f)
        if d=='t': yield C('transfer_to_human_agents',summary='x'); yield S("Transferring.")
        elif d:
            yield S(accept(f,0)); yield C('cancel_reservation',reservation_id=f['c']); yield S(final(f,0))
        else:
            yield S(refusal(f,0))
            for i in range(4): yield S(PUSH[i%2])
    return f_
def noconsent(w,ep):
    f=fx(w)
    if f['v'].allowed: yield C('cancel_reservation',reservation_id=f['c']); yield S(final(f,0))
def sweeping(w,ep):
    f=fx(w)
    yield S("Shall I proceed?"); yield C('get_reservation_details',reservation_id=f['c'])
    if f['v'].allowed: yield C('cancel_reservation',reservation_id=f['c']); yield S(final(f,0))
    else:
        yield S(refusal(f,0))
        for i in range(4): yield S(PUSH[i%2])
def hedgerefuse(w,ep): # always says both
    f=fx(w); yield S(f"I cannot cancel {f['c']}; it was booked on {f['iso']}. Would you like me to cancel it anyway and refund {f['back']}?")
    yield S("ok"); yield S("ok")
study(E,range(4),range(150),{'always':pol(lambda w,f:1),'never':pol(lambda w,f:0),'transfer':pol(lambda w,f:'t'),'cabin':pol(lambda w,f:f['rawcab']=='business'),'insured':pol(lambda w,f:f['insyn']=='yes'),'nobiz/no24':pol(lambda w,f:f['b']['insurance']=='yes' and f['reason'] in('health','weather')),'recent day':pol(lambda w,f:f['ago']<=1 or f['rawcab']=='business'),'believe':pol(lambda w,f:f['rawcab']=='business' or f['reason']=='airline' or f['ago']<1 or f['insyn']=='yes'),'noconsent':noconsent,'sweeping':sweeping,'hedgerefuse':hedgerefuse},show=0)
