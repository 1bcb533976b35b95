from dep import *
POS=["The longitude of this phone is {lo}.","You're currently at {la}, {lo}, so the longitude is {lo}.","The phone's coordinates are ({la}, {lo}). The longitude is {lo}.","Longitude: {lo}° (latitude: {la}°)","The longitude is {alo}° {EW}.","Your phone is at {ala}° {NS}, {alo}° {EW} (longitude {lo}).","Longitude: {alo}°{EW} ({lo})","Your current longitude is {lo} degrees and the latitude is {la} degrees.","This phone's location is {la}, {lo} (latitude, longitude)."]
def ag(e,i):
    w=e.start
    r=[r for r in w.requests if isinstance(r,L.Position)]
    if not r: raise SkipIteration
    if w.greeting: e.step(Say(text="Hello! What can I do for you?"))
    for s in w.oracle():
        if isinstance(s,Call): e.step(s)
    t=POS[i].format(lo=w.longitude,la=w.latitude,alo=abs(w.longitude),ala=abs(w.latitude),EW="E" if w.longitude>0 else "W",NS="N" if w.latitude>0 else "S")
    sw=[x for x in w.requests if isinstance(x,Switch)]
    e.step(Say(text=t+"".join(f" I've switched {LB[x.setting]} {'on' if x.on else 'off'}." for x in sw)))
for i in range(9): run("toolsandbox_state_dependency",range(3),range(100,260),ag,POS[i],show=1 if i in (1,) else 0,i=i)
def narr(e,mode):
    w=e.start
    if w.greeting: e.step(Say(text="Hello! What can I do for you?"))
    first=True
    for s in w.oracle():
        if e.done: return
        if isinstance(s,Call):
            if mode=="narrate" and s.tool.startswith("set_"): e.step(Say(text=[f"{'Wi-Fi' if 'wifi' in s.tool else 'That setting'} needs to be changed first, so I'll do that now.","Let me change that setting."][len(e.said)%2]))
            if mode=="askfirst" and s.tool.startswith("set_") and s.arguments["on"]: e.step(Say(text=f"The {s.tool[4:-7].replace('_',' ')} is off. Would you like me to turn it on so I can continue?"))
            e.step(s)
        elif not s.text.startswith("What can"): e.step(s)
for m in ("narrate","askfirst"): run("toolsandbox_state_dependency",range(4),range(100,180),narr,m,show=1,mode=m)
