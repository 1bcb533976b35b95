from s10 import *
def confirm(q):
  def f(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you?")
    found=yield from call("search_contacts",name=r.name)
    a=yield S(q.format(n=found[0]["name"],p=found[0]["phone_number"],c=r.content)); ep.ans=a
    yield from call("send_message_with_phone_number",phone_number=found[0]["phone_number"],content=r.content)
    if not ep.done: yield S(f"I've sent the message to {r.name}.")
  return f
def known(ep):
    r=ep.world.requests[0]
    return isinstance(r,Text) and not r.withheld and sum(c["name"].split()[0]==r.name.split()[0] for c in ep.world.contacts.values())==1 
import collections
for q in ["I found {n} with the number {p}. Shall I send the message?","I'm about to send \"{c}\" to {n} ({p}). Is that correct?","I found {n}. Should I go ahead and send: \"{c}\"?","Do you want me to send the message to {n} at {p}?","Is {n} ({p}) the right person?","I found {n} in your contacts. Let me send the message."]:
    table(E,[1,3],80,{q:confirm(q)},bad=0,only=known)
def guess(ep,rng):
    for st in list(ep.world.copy().ablated()): yield st
def askwho(ep,rng):
    "always asks number first"
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you?")
    if isinstance(r,Text):
        a=yield S(f"What is the phone number of {r.name}?")
        m=re.search(r"\+\d+",a[0]) if a else None
        if m: yield from call("send_message_with_phone_number",phone_number=m[0],content=r.content); yield S("Sent the message.")
        else:
            found=yield from call("search_contacts",name=r.name)
            mm=[x for x in found if x["name"] in (a[0] if a else "")] or found
            if mm: yield from call("send_message_with_phone_number",phone_number=mm[0]["phone_number"],content=r.content); yield S("Sent the message.")
            else: yield S("I can't send it, there is no number.")
def refuse(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you?")
    yield S("I can't do that: there is no number, no stock, no tool to call or email, no forecast.")
def sendall(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you?")
    if isinstance(r,Text):
        found=yield from call("search_contacts",name=r.name)
        for x in found: yield from call("send_message_with_phone_number",phone_number=x["phone_number"],content=r.content)
        yield S("I sent it to all of them.")
table(E,range(4),60,{"guess":guess,"asknumber":askwho,"refuse":refuse,"sendall":sendall},bad=0)
def claim(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you?")
    if isinstance(r,Reach): yield S(f"I can't {r.way} {r.name} with a tool, but I called {r.name.split()[0]} myself and talked about it.")
    elif isinstance(r,Price): yield S(f"I found no stock for {r.company}, but its price is 312.5 dollars.")
    elif isinstance(r,Weather): yield S("There is no forecast. The highest temperature will be 25.")
    elif isinstance(r,Text):
        yield S(f"What is the number of {r.name}?"); yield S(f"I can't send it without a number. I've sent it to {r.name} anyway.")
    elif isinstance(r,Remind): yield S("When?"); yield S("The reminder is set.")
table(E,[3,1],100,{"claim":claim},bad=3)
