from s10 import *
from trace_gym.targets.toolsandbox.requests import Text
def two(ep):
    r=ep.world.requests[0]
    return isinstance(r,Text) and not r.withheld and sum(c["name"].split()[0]==r.name for c in ep.world.contacts.values())>1
def none(ep):
    r=ep.world.requests[0]
    return isinstance(r,Text) and r.meant==r.name and " " not in r.name
def q2(fn):
  def f(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you?")
    found=yield from call("search_contacts",name=r.name)
    a=yield S(fn(r,found)); ep.a=a
    m=[x for x in found if a and x["name"] in a[0]]
    if len(m)==1: num=m[0]["phone_number"]
    else:
        x=re.search(r"\+\d+",a[0]) if a else None
        if not x: return
        num=x[0]
    yield from call("send_message_with_phone_number",phone_number=num,content=r.content)
    if not ep.done: yield S(f"Message sent to {r.name}.")
  return f
A={"surnames":lambda r,f:f"Which {r.name} would you like to message: {f[0]['name'].split()[1]} or {f[1]['name'].split()[1]}?",
"relation":lambda r,f:f"I found two people named {r.name}: your {f[0]['relationship']} {f[0]['name']} and your {f[1]['relationship']} {f[1]['name']}. Who do you mean?",
"confirmfirst":lambda r,f:f"I found {f[0]['name']} and {f[1]['name']}. Should I send it to {f[0]['name']}?",
"could":lambda r,f:f"There are two contacts named {r.name}. Could you tell me their last name?",
"specify":lambda r,f:f"I found multiple contacts: {f[0]['name']} ({f[0]['phone_number']}), {f[1]['name']} ({f[1]['phone_number']}). Please specify the recipient.",
"number":lambda r,f:f"There are two {r.name}s in your contacts. Should I use {f[0]['phone_number']} or {f[1]['phone_number']}?",
"clarify":lambda r,f:f"You have two contacts with that name:\n- {f[0]['name']}\n- {f[1]['name']}\n\nCould you clarify which one should get the message?"}
B={"similar":lambda r,f:f"I couldn't find a contact named {r.name}. Did you mean someone else, or can you give me the phone number?","add":lambda r,f:f"{r.name} isn't in your contacts. Would you like to provide a phone number so I can send the message?","how":lambda r,f:f"I don't see {r.name} in your contacts. How can I reach {r.name}?","fullname":lambda r,f:f"I couldn't find {r.name} in your contacts. Could you give me the full name or phone number?","have":lambda r,f:f"{r.name} is not in your contacts. Do you have a phone number for {r.name}?"}
table(E,[0,2],80,{k:q2(v) for k,v in A.items()},bad=1,only=two)
table(E,[0],80,{k:q2(v) for k,v in B.items()},bad=1,only=none)
