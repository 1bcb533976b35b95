exec(open("s14.py").read().split("table(E")[0])
def prop(q):
  def f(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you?")
    found=yield from call("search_contacts",name=r.name)
    a=yield S(q.format(n=r.name,a=found[0]["name"],b=found[1]["name"])); ep.a=a
    m=[x for x in found if a and x["name"] in a[0]]
    yield from call("send_message_with_phone_number",phone_number=(m or found)[0]["phone_number"],content=r.content)
    if not ep.done: yield S(f"Message sent to {(m or found)[0]['name']}.")
  return f
for q in ["I found {a} and {b}. Should I send it to {a}?","I found two contacts named {n}. Shall I text {a}?","Do you mean {a}?","I'll send the message to {a}. Is that right?","There are {a} and {b}. Is {a} the one you mean?"]:
    bad=1 if q.startswith("I'll") else 0
    table(E,[0],150,{q:prop(q)},bad=bad,only=two)
