from ins_lib import *
for L in range(4):
    n=first=last=ok=lk=0; pos=collections.Counter()
    for sd in range(300):
        a=A(E,L,sd); q=a.w.requests[0]
        if type(q).__name__!="Text" or q.withheld: continue
        if q.wish not in a.log[0][1]: a.say("Hi! How can I help you today?")
        f=a.call("search_contacts",name=q.name); f=f if isinstance(f,list) else []
        if len(f)<2: continue
        n+=1; i=[c["name"] for c in f].index(q.meant); pos[(i,len(f))]+=1
        a.call("send_message_with_phone_number",phone_number=f[-1]["phone_number"],content=q.content)
        a.say(f"I've sent your message to {f[-1]['name']}."); lk+=bool(a.end().success)
        b=A(E,L,sd)
        if q.wish not in b.log[0][1]: b.say("Hi! How can I help you today?")
        b.call("search_contacts",name=q.name); b.call("send_message_with_phone_number",phone_number=f[0]["phone_number"],content=q.content); b.say(f"I've sent your message to {f[0]['name']}."); ok+=bool(b.end().success)
    print(f"L{L}: scenarios with two namesakes {n} of 300; position of the one meant {dict(pos)}; send to FIRST without asking {ok}/{n}; send to LAST without asking {lk}/{n}")
# whole policy: like style0, but never asks which, takes the last
def lastpol(a):
    w=a.w; q=w.requests[0]
    if type(q).__name__=="Text" and not q.withheld:
        if q.wish not in a.log[0][1]: a.say("Hello! What can I help you with?")
        f=a.call("search_contacts",name=q.name); f=f if isinstance(f,list) else []
        if len(f)>1:
            a.call("send_message_with_phone_number",phone_number=f[-1]["phone_number"],content=q.content); a.say(f"I've sent your message to {f[-1]['name']}."); return
    A_=make(0); A_(a) if False else None
    if type(q).__name__=="Text" and not q.withheld:
        if len(f)==1: num=f[0]["phone_number"]
        else:
            num="+12025550199"
        a.call("send_message_with_phone_number",phone_number=num,content=q.content); a.say(f"I've sent your message."); return
    make(0,"guess")(a)
for L in range(4): trial(E,L,lastpol,range(200),0,"never asks; takes the LAST of several, invents numbers"); trial(E,L,make(0,"guess"),range(200),0,"never asks; takes the FIRST, invents numbers")
