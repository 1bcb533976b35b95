from insuf import *
W2=["I found two contacts named {f}: {a} and {b}. Would you like me to text {a} or {b}?","I see two people named {f}. Should I send the message to {a} ({ra}) or {b} ({rb})?","Do you want to text {a} or {b}?","There are two {f}s in your contacts. Is it {a} or {b} that you want to text?","Just to make sure: is the message for {a} or for {b}?","Which {f} did you have in mind, {a} or {b}?","I found {a} ({ra}) and {b} ({rb}). Who do you want to send it to?","Two contacts match \"{f}\": {a} and {b}. Please tell me which one to use."]
N2=["I couldn't find {f} in your contacts. What phone number should I send the text to?","{f} is not in your contacts. Could you give me the phone number so I can send the text message?","I couldn't find {f} in your contacts. Could you tell me which number to send the text to?","I couldn't find {f} in your contacts. What number should I text?","I don't see {f} in your contacts. What is the phone number for {f}?","I don't see {f} in your contacts. To send the text message, I need the phone number. Could you share it?","I couldn't find anyone by the name of {f}. Could you provide the phone number you'd like me to send this text to?","{f} isn't in your contacts. Could you provide the phone number you'd like me to send this message to?"]
def agent2(e,i,kind):
    w=e.start; r=w.requests[0]
    plan=list(w.oracle()); 
    q=[s for s in plan if isinstance(s,Say) and (s.text.startswith("Which one") if kind=="which" else "not among" in s.text)]
    if not q: raise SkipIteration
    if w.greeting: e.step(Say(text="Hello! How can I help you today?"))
    e.step([s for s in plan if isinstance(s,Call)][0])
    cs=[c for c in w.contacts.values() if c["name"].split()[0]==r.name.split()[0]]
    if kind=="which":
        a,b=cs[:2]
        for _ in range(3):
            o=user(e.step(Say(text=W2[i].format(f=r.name,a=a["name"],b=b["name"],ra=a["relationship"],rb=b["relationship"]))))
            got=[c for c in (a,b) if c["name"] in o]
            if len(got)==1: e.step(Call(tool="send_message_with_phone_number",arguments={"phone_number":got[0]["phone_number"],"content":r.content})); break
        else: e.step(Say(text="I am sorry, I cannot send the message without knowing which contact you mean.")); return
    else:
        import re
        if not r.number: raise SkipIteration
        o=user(e.step(Say(text=N2[i].format(f=r.name)))); m=re.search(r"\+\d+",o)
        if not m: e.step(Say(text="I cannot send the message without a number.")); return
        e.step(Call(tool="send_message_with_phone_number",arguments={"phone_number":m[0],"content":r.content}))
    e.step(Say(text=f"Your message has been sent to {r.name}."))
for i in range(len(W2)): run("toolsandbox_insufficient_information",(0,3),range(100,300),agent2,f"which{i}",show=1 if i==0 else 0,i=i,kind="which")
for i in range(len(N2)): run("toolsandbox_insufficient_information",(0,2),range(100,300),agent2,f"num{i}",show=1 if i==0 else 0,i=i,kind="num")
# shortcuts
def always_ask(e):
    w=e.start
    r=w.requests[0]
    if w.greeting: e.step(Say(text="Hello! How can I help you today?"))
    for s in w.ablated():
        if isinstance(s,Call): e.step(s)
        elif not s.text.startswith("What can"): e.step(s)
def refuse(e):
    w=e.start; r=w.requests[0]
    if w.greeting: e.step(Say(text="Hello! How can I help you today?"))
    e.step(Say(text=f"I cannot do that: {r.wish}, there is no number, forecast, tool or such company."))
run("toolsandbox_insufficient_information",range(4),range(100,200),always_ask,"ablated",show=0)
run("toolsandbox_insufficient_information",range(4),range(100,200),refuse,"always refuse",show=0)
