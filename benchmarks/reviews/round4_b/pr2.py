from h import *
from pr import *
import re
def isref(t): return t.startswith('I cannot')
REF=[
 "I'm sorry, but I wasn't able to do that. It requires turning on a service, which isn't possible while low battery mode is on, and you asked me to leave low battery mode as it is.",
 "I can't complete this because low battery mode is currently enabled, which blocks the service I need. Since you asked me not to change low battery mode, I've left it on. If you'd like me to turn it off, let me know!",
 "Unfortunately I couldn't look this up or send it: Low Battery Mode is preventing the required service from being enabled. As you requested, I left it unchanged.",
 "I was unable to do this. The required service is off and cannot be switched on in low battery mode. You told me to leave low battery mode as is, so I did not turn it off. Would you like me to turn it off temporarily?",
 "This isn't possible right now: the wifi/cellular service needed is off, and it can't be turned on while your phone is in low battery mode. I've left everything as it was.",
]
def refuse(i): return lambda ep,t,plan: REF[i] if isref(t) else t
def only(env,levels,seeds,a,cond):
    n=ok=0; ex=None
    for lv in levels:
        for s in seeds:
            e0=ep_of(env,lv,s); t=[x.text for x in e0.world.copy().oracle() if isinstance(x,Say)][-1]
            if not cond(t): continue
            ep=run(env,lv,s,a); n+=1; ok+=ep.score.success
            if not ep.score.success and ex is None: ex=log(ep)
    return ok,n,ex
S=range(100,400)
for i in range(5):
    ok,n,ex=only(E,[3],S,agentize(refuse(i)),isref); print('refusal',i,ok,n); 
    if ex: print(ex)
def val(t): return re.findall(r'-?\d[\d.]*\d',t)[-1]
def fin(ep,t,plan,i=0):
    w=t
    if isref(t): return REF[0]
    v=val(t) if 'found' in t else ''
    wish=t[8:].split(':')[0] if 'found' in t else ''
    if not v: 
        m=re.match(r'I sent this to (.*): "(.*)"\.',t)
        if m: return [f"Your message has been sent to {m[1]}. ✅",f"Done! I texted {m[1]}: “{m[2]}”. I turned on cellular service in order to do so." if any(k=='set_cellular_service_status' for k,_ in changes(plan)) else f"Done! I texted {m[1]}: “{m[2]}”.", f"I've sent {m[1]} the message \"{m[2]}\"."][i]
        return [t,"All done! "+t, "Done."][i]
    if 'stock' in wish: return [f"The current stock price of {wish[19:]} is **${v}**.",f"{wish[19:]} is trading at {float(v):,.2f} USD.",f"{wish[19:]} (price): {float(v):.1f}"][i]
    if ' are in ' in wish: 
        a,b=wish[5:].split(' are in '); return [f"{a} is approximately **{float(v):,.2f} {b}** at the current exchange rate.",f"{a} = {v} {b}",f"{a} equals about {float(v):.1f} {b}."][i]
    if 'itude' in wish:
        k='latitude' if 'latitude' in wish else 'longitude'; f=float(v); d=('S' if f<0 else 'N') if k=='latitude' else ('W' if f<0 else 'E')
        return [f"Your phone's current {k} is **{v}**°.", f"The {k} of this phone is {v} (i.e. {abs(f)}° {d}).", f"Your {k} is approximately {abs(f)}° {d}."][i]
    if 'kilomet' in wish: p=wish.split(' to ')[-1]; return [f"{p} is approximately **{v} km** from your current location.",f"The distance from here to {p} is {float(v):,.1f} kilometers.",f"It's about {float(v):.1f} km from your current location to {p}."][i]
    if 'temperature' in wish: return [f"The {wish[4:].replace(' here','')} at your current location is **{v}°C**.",f"It'll be {v} degrees ({wish[4:]}).",f"The {wish[4:]} is {v} °C."][i]
    return t
for i in range(3): rate(E,range(4),range(100,175),{f'fin{i}':agentize(lambda ep,t,plan,i=i: fin(ep,t,plan,i))},show=3)
