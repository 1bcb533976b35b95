from h1 import *
P="Your trip {code} was booked on {nb}. "
base={**V}
corr=[P+x for x in [
 "Flight {f} has already landed; flight {o1} is {st1}. Since one of the flights has already been flown, I cannot cancel the trip myself. I'll hand you over to a colleague.",
 "Flight {f} has already landed, while flight {o1} is {st1}. Because part of the trip has already been flown, I need to hand you over.",
 "The flight statuses are:\n{lst}\n\nSince one flight has already been flown, I cannot cancel the trip; a colleague will take over. The flight in question is {f}.",
 "The flight statuses are:\n{lst}\n\nSince flight {f} has already been flown, I cannot cancel the trip; a colleague will take over.",
 "Flight {f} ({fd}) has landed, flight {o1} ({od}) is {st1}. Since a flight of the trip has been flown, I must hand it over.",
 "Flight {f} has already been flown. Flight {o1} is {st1}. A trip of which a flight has been flown cannot be cancelled by me, so I am handing you over.",
 "Because flight {f} has already been flown, a trip with a flown flight cannot be cancelled by me. I'm handing you over. ",
]]
vv={**base,"flown":[V["flown"][0]]+corr}
import lib
sweep(E,range(3),range(60),{"flown":vv["flown"]} and {k:(vv[k] if k=="flown" else vv[k][:1]) for k in vv},agent,filt=filt,show=1)
W={"done":["{code} is cancelled, and {f1} or {ref} dollars come back.","{code} is cancelled, and {ref} or {f1} dollars come back.","{code} is cancelled. You get back {f1}, {f2} or {ref} dollars.", "{code} is cancelled. The refund is {ref} dollars, of which {f1} are for the first flight.","{code} is cancelled, and I cancelled all your other trips too. {ref} dollars come back."],
"flown":["{code} was booked on {nb}. Flight {f} has been flown, so I hand you over. I have cancelled {code}.","{code} was booked on {nb}. Flight {f} has been flown, but I have cancelled {code} and refunded {ref} dollars. I hand you over."],
"ok":["Trip {code} was booked on {nb}. It has economy, business and basic economy cabin. I will cancel it and charge {ref} dollars. Do you agree?"],
"no":["Trip {code} was booked on {nb}. It is {ncab} with insurance, so the rules do not allow a cancellation.","Trip {code} was booked on {nb}. It is {ncab}, so the rules do not allow a cancellation.","Trip {code} was booked on {nb}. It is {ncab} without insurance, so I cannot cancel it; the airline has cancelled flight {o1}."]}
_c=ctx
def ctx2(w):
    c,f=_c(w); t=facts(w)[1]; c["f1"],c["f2"]=t["flights"][0]["price"],t["flights"][1]["price"]; return c,f
import h1; h1.ctx=ctx2
wrong(E,range(3),range(60),W,base,agent,filt=filt)
