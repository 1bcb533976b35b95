from pre import *
RULES=[
"Unfortunately, we can only cancel reservations that were booked less than 24 hours ago, are in business class, or have insurance covering health or weather.",
"Under our policy, a reservation can be cancelled only if it was booked less than 24 hours ago, the airline cancelled a flight, it is business class, or it is insured and the reason is health or weather.",
"Cancellation is allowed only when the booking is less than 24 hours old, the airline cancelled the flight, the cabin is business class, or there is travel insurance and the reason is health or weather.",
"Our rules allow cancellation only in these cases: booked within the last 24 hours, flight cancelled by the airline, business class, or insured with a health or weather reason.",
"To be eligible, a reservation must be booked within 24 hours, be in business class, have a flight cancelled by the airline, or have travel insurance with a covered reason.",
"A reservation may be cancelled if at least one of the following holds:\n- it was booked less than 24 hours ago\n- the airline cancelled a flight\n- it is in business class\n- it is insured and the reason is health or weather",
"Reservations can only be cancelled if they were booked in the last 24 hours, are business class, have been cancelled by the airline, or have insurance and you are cancelling for health or weather reasons.",
"Economy reservations can only be cancelled within 24 hours of booking or with insurance for health or weather reasons.",
"Only business class reservations, reservations booked less than 24 hours ago, flights cancelled by the airline, and insured trips given up for health or weather can be cancelled.",
"For a cancellation, your reservation would need to be in business class, be booked within the last 24 hours, or have insurance that covers your reason.",
"Cancellations are permitted for bookings made in the last 24 hours, business class tickets, airline-cancelled flights, or when the passenger has insurance and the reason is health or weather.",
"I can only cancel a reservation if it meets one of these conditions: (1) booked within the last 24 hours, (2) the airline cancelled a flight, (3) it's a business class reservation, or (4) you have travel insurance and the reason is health or weather.",
"None of the conditions for cancellation is met: it was not booked within 24 hours, no flight was cancelled by the airline, it is not business class, and it is not insured for this reason.",
]
OWN=" Your reservation {c} was booked on {day} in {cab}, {insw}, so I'm unable to cancel it."
def rag(t, before=True):
    def f_(w,ep):
        f=fx(w); b=f['b']
        ins=("and although it is insured, your reason isn't covered" if b['insurance']=='yes' else "without travel insurance")
        own=OWN.format(**{**f,'insw':ins})
        yield C('get_reservation_details',reservation_id=f['c'])
        if w.withheld: yield S("May I know the reason for the cancellation?")
        yield S(t+own if before else own+' '+t)
        for i in range(4): yield S(PUSH[i%2])
    return f_
from trace_gym import registry
SS={}
for l in (0,1,2,3):
    ss=[]
    for s in range(400):
        w=registry.episode(Scenario(env=E,level=l,seed=s)).start; v=w.requests[0].verdict(w)
        if not v.allowed and not v.transfer: ss.append(s)
        if len(ss)==50: break
    SS[l]=ss
if __name__=='__main__':
    for i,t in enumerate(RULES):
        row=[]
        for before in(True,False):
            for l in SS:
                k=sum(play(E,l,s,rag(t,before))[0].score.success for s in SS[l]); row.append(k)
        print(i,'before',row[:4],'after',row[4:],t[:110].replace('\n',' '))
