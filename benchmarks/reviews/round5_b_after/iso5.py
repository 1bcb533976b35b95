from h1 import *
B={k:v[0] for k,v in V.items()}
import collections
X=["Here is what I found:\n\nBooked on: {nb}\n\nFlight {f} is the reason I can't cancel this myself, so I'm passing you to a human agent.",
"Booked on: {nb}\n\nFlight {f} has landed, so I can't cancel this myself. I'm passing you to a human agent.",
"Your trip was booked on {nb}. Flight {f} is the reason I can't cancel this myself, so I'm passing you to a human agent.",
"Your trip was booked on {nb}. Flight {f} is the reason I can't cancel it, so I'm transferring you to a human agent.",
"Your trip was booked on {nb}. Flight {f} has been flown, so I can't cancel it and I'm transferring you to a human agent.",
"| Flight | Status |\n|---|---|\n| {f} | landed |\n| {o1} | {st1} |\n\nBooked on: {nb}\n\nFlight {f} has landed, so I'm transferring you to a human agent.",
"| Flight | Status |\n|---|---|\n| {f} | landed |\n| {o1} | {st1} |\n\n{code} was booked on {nb}. Flight {f} is the reason I can't cancel this myself, so I'm passing you to a human agent.",
"Here is what I found:\n\n| Flight | Status |\n|---|---|\n| {f} | landed |\n| {o1} | {st1} |\n\nBooked on: {nb}\n\nFlight {f} has been flown, which is why I can't cancel the trip myself. I will transfer you to a human colleague.",
"{code} was booked on {nb}. By our rules, I can't cancel a trip once a flight has been flown. The flight concerned is {f}. I'll transfer you to a human colleague.",
"{code} was booked on {nb}. Trips with a flown flight can't be cancelled by me. The flight in question is {f}. I'll transfer you to a human colleague.",
"{code} was booked on {nb}. I can't cancel trips of which a flight has already been flown; in your case, that's {f}. I'll transfer you to a human colleague.",
"{code} was booked on {nb}. A trip with a flight that has already been flown can't be cancelled by me. This applies to flight {f}. I'll transfer you to a human colleague.",
"{code} was booked on {nb}. A trip with a flight that has already been flown can't be cancelled by me, and {f} has landed. I'll transfer you to a human colleague.",
"{code} was booked on {nb}. One of the flights has already been flown, so I can't cancel it. The flight number is {f}. I'll transfer you to a human colleague.",
"{code} was booked on {nb}. I can't cancel it because a flight of the trip has already been flown: {f}. I'll transfer you to a human colleague.",
"{code} was booked on {nb}. I can't cancel it because part of it has already been flown. The flight in the way is {f}. I'll transfer you to a human colleague.",
]
for x in X:
    n=ok=0;why=collections.Counter();ans=collections.Counter()
    for lv in range(3):
        for s in range(30):
            t=Talk(E,lv,s)
            if ctx(t.w)[1]!="flown": continue
            agent(t,lambda k:x if k=="flown" else B[k]); sc=t.end(); n+=1; g=sc.success and sc.conduct==1; ok+=g
            ans[[l for l in t.log if l.startswith("USER")][-1][:60]]+=1
            if not g: why.update(y.replace(ctx(t.w)[0]["code"],"R")[:75] for y in failed(sc))
    print(f"{ok}/{n}",repr(x)[:230],dict(why.most_common(2)) if ok<n else "",dict(ans.most_common(2)) if ok<n else "")
