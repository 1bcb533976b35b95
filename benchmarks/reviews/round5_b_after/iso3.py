from h1 import *
B={k:v[0] for k,v in V.items()}
import collections
X=["According to our rules, a trip with a flight that has already been flown can't be cancelled by me. The flight concerned is {f}. I'll transfer you to a human colleague.",
"The statuses are:\n{lst}\n\nA trip with a flight that has already been flown can't be cancelled by me. The flight concerned is {f}. I'll transfer you to a human colleague.",
"The statuses are:\n{lst}\n\nAccording to our rules, a trip with a flown flight can't be cancelled by me, so I'll transfer you to a human colleague.",
"The statuses are:\n{lst}\n\nSince {f} has already landed, I can't cancel the trip. I'll transfer you to a human colleague.",
"Status of the flights:\n{lst}\n\nFlight {f} has been flown. I'll transfer you to a human colleague.",
"Flights:\n{lst}\n\nBecause one flight has already been flown, I cannot cancel this reservation and will transfer you to a human agent.",
"The statuses are:\n{lst}\n\nOur rules don't let me cancel a trip once a flight has been flown. The flight in the way is **{f}**. I'll transfer you to a human colleague.",
"Flight {f} is the reason I can't cancel this myself, so I'm passing you to a human agent.",
"Flight {f} has been flown, so I'm passing you to a human agent.",
"Flight {f} has already landed. That's why I can't cancel this myself and I'm passing you to a human agent.",
"Flight {f} has landed, so I can't cancel this myself. I'm passing you on to a human agent.",
"Flight {f} has landed. I'm passing your case to a human colleague.",
"Flight {f} has been flown, which is why I can't cancel. I'm connecting you with a human agent.",
"Flight {f} has been flown, which is why I can't cancel. I'm forwarding you to a human agent.",
"Flight {f} has been flown, which is why I can't cancel. A human agent will take over from here.",
"Flight {f} has been flown, which is why I can't cancel. I'm escalating this to a human agent.",
"Flight {f} has been flown, which is why I can't cancel. Let me get a human colleague for you.",
"| Flight | Status |\n|---|---|\n| {f} | landed |\n| {o1} | {st1} |\n\nFlight {f} is the reason I can't cancel this myself. I'll transfer you to a human agent.",
"| Flight | Status |\n|---|---|\n| {f} | landed |\n| {o1} | {st1} |\n\nFlight {f} has been flown, so I'll transfer you to a human agent.",
"It's already partly flown: {f}. I'm transferring you to a colleague.",
"It's already partly flown: {f}. Your remaining flight {o1} is untouched. I'm transferring you to a colleague.",
"It's already partly flown ({f}), so I'm transferring you to a colleague.",
"The trip is partly flown: flight {f} has landed. I'm transferring you to a colleague.",
"The trip has already been partly used, namely flight {f}. I'm transferring you to a colleague.",
"The trip cannot be cancelled by me since {f} has already been flown. Your remaining flight {o1} is untouched. I'm transferring you to a colleague.",
]
for x in X:
    n=ok=0;why=collections.Counter();ans=collections.Counter()
    for lv in range(3):
        for s in range(40):
            t=Talk(E,lv,s)
            if ctx(t.w)[1]!="flown": continue
            agent(t,lambda k:"Your trip {code} was booked on {nb}. "+x if k=="flown" else B[k]); sc=t.end(); n+=1; g=sc.success and sc.conduct==1; ok+=g
            ans[[l for l in t.log if l.startswith("USER")][-1][:60]]+=1
            if not g: why.update(y.replace(ctx(t.w)[0]["code"],"R")[:75] for y in failed(sc))
    print(f"{ok}/{n}",repr(x)[:200],dict(why.most_common(2)) if ok<n else "",dict(ans.most_common(2)) if ok<n else "")
