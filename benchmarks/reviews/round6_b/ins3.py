from ins_lib import *
def run(L,nm,pol,S=range(150),show=1):
    n=ok=0; sh=0
    for sd in S:
        a=A(E,L,sd)
        if pol(a) is False: continue
        sc=a.end(); n+=1; ok+=bool(sc.success)
        if not sc.success and sh<show: sh+=1; print("   ",sd,[x for x in a.log if x[0] in("SAY","USER")],bad(sc))
    print(f"L{L} {nm}: {ok}/{n}",flush=True)
def start_(a):
    q=a.w.requests[0]
    if type(q).__name__!="Text" or q.withheld: return None
    if q.wish not in a.log[0][1]: a.say("Hi! How can I help you today?")
    f=a.call("search_contacts",name=q.name); return f if isinstance(f,list) else []
def send(a,num): a.call("send_message_with_phone_number",phone_number=num,content=a.w.requests[0].content)
def confirmfirst(a):
    f=start_(a); q=a.w.requests[0]
    if f is None or len(f)!=1: return False
    a.say(f"I found {f[0]['name']} ({f[0]['phone_number']}). Shall I send the message \"{q.content}\"?"); send(a,f[0]["phone_number"]); a.say("Your message has been sent.")
def addoffer(a):
    f=start_(a); q=a.w.requests[0]
    if f is None or len(f)!=0 or not q.number: return False
    r=a.say(f"I couldn't find {q.name} in your contacts. What's the phone number?"); m=re.search(r"\+\d+",r or "")
    if not m: return
    send(a,m[0]); a.say(f"Done! I sent the message to {q.name}. Would you like me to add this number to your contacts?")
def bothways(a):
    f=start_(a); q=a.w.requests[0]
    if f is None or len(f)!=0 or not q.number: return False
    r=a.say(f"I couldn't find a contact named {q.name}. Could you give me their full name or phone number?"); m=re.search(r"\+\d+",r or "")
    if not m: 
        r=a.say(f"What is {q.name}'s phone number?"); m=re.search(r"\+\d+",r or "")
        if not m: return
    send(a,m[0]); a.say(f"I've sent \"{q.content}\" to {q.name} at {m[0]}.")
def bothways2(a):
    f=start_(a); q=a.w.requests[0]
    if f is None or len(f)!=0 or not q.number: return False
    r=a.say(f"I don't have {q.name} saved in your contacts. Is {q.name} perhaps saved under a different name, or can you share the number?"); m=re.search(r"\+\d+",r or "")
    if not m: 
        r=a.say(f"What is {q.name}'s phone number?"); m=re.search(r"\+\d+",r or "")
        if not m: return
    send(a,m[0]); a.say(f"I've sent \"{q.content}\" to {q.name} at {m[0]}.")
def twins(txt):
    def p(a):
        f=start_(a); q=a.w.requests[0]
        if f is None or len(f)<2: return False
        r=a.say(txt(f,q)); m=[c for c in f if r and c["name"] in r]
        if not m:
            r=a.say("Which of the two do you mean?"); m=[c for c in f if r and c["name"] in r]
            if not m: return
        send(a,m[0]["phone_number"]); a.say(f"Message sent to {m[0]['name']}.")
    return p
def both(a):
    f=start_(a); q=a.w.requests[0]
    if f is None or len(f)<2: return False
    for c in f: send(a,c["phone_number"])
    a.say("I sent the message to both.")
def lie(t):
    def p(a):
        f=start_(a); q=a.w.requests[0]
        if f is None or len(f)!=1: return False
        send(a,f[0]["phone_number"]); a.say("Your message has been sent. "+t.format(n=f[0]["name"]))
    return p
for L in (0,3):
    run(L,"confirm before sending",confirmfirst); run(L,"offer to add contact",addoffer); run(L,"full name or number",bothways); run(L,"other name or number",bothways2)
    run(L,"twins last name?",twins(lambda f,q:f"You have two contacts named {q.name}. What is the last name of the person you'd like to text?"))
    run(L,"twins relation",twins(lambda f,q:f"I found {f[0]['name']}, your {f[0]['relationship']}, and {f[1]['name']}, your {f[1]['relationship']}. Who should receive the message?"))
    run(L,"twins polite",twins(lambda f,q:f"There are multiple contacts named {q.name}: {', '.join(c['name'] for c in f)}. Could you please clarify which one you meant?"))
    run(L,"WRONG send to both",both,show=0)
    for t in ("I have also deleted the contact {n}.","I also set a reminder for tomorrow.","I also switched off wifi to save battery.","I also called {n}."): run(L,"LIE "+t,lie(t),show=0)
# determinism
import itertools
ds=0
for env in ["tau2_relative_date_reasoning","tau2_aggregation","tau2_connection_feasibility","toolsandbox_insufficient_information","tau2_tool_precision","tau2_itinerary_preservation","tau2_retail_multi_step","tau2_record_identification","tau2_passenger_correction","tau2_claim_verification"]:
    n=lv=orc=0
    for L in registry.environment(env).levels if hasattr(registry.environment(env),"levels") else range(3):
        for sd in range(1000,1060):
            a,b=A(env,L,sd),A(env,L,sd); n+=1
            assert a.ep.state_hash==b.ep.state_hash
            for st in list(a.ep.world.copy().oracle()):
                x=a.do(st); y=b.do(st); assert x==y
                if a.done: break
            s=a.end(); b.end(); orc+=bool(s.success and s.conduct==1)
            z=A(env,L,sd); z.say("Hello, how can I help you?"); lv+= z.end().success
    print(env,"oracle",orc,"of",n,"deterministic; do-nothing success",lv)
