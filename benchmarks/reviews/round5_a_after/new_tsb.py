from nh import *
from tsb import val,SWITCHES,LOW_BATTERY
N='toolsandbox_state_dependency'
LAB={'wifi':'Wi-Fi','cellular':'cellular service','location_service':'location services',LOW_BATTERY:'low battery mode'}
def rep(w,k,r):
    L=getattr(r,'lookup',r); v=val(w,r); t=type(r).__name__
    if t=='Text': return [f"Your text to {r.name} went out.",f"I texted {r.name}: \"{r.content}\"",f"✅ Message delivered to {r.name}",f"{r.name} has been messaged.",f"The message \"{r.content}\" has been sent to {r.name}.",f"Message sent to {r.name} successfully.",f"Done – {r.name} should have your message now.",f"I was able to send your message to {r.name}."][k]
    if t=='Report': return [f"I've sent the result to {r.name}.",f"{r.name} now knows: {v}.",f"✅ Sent to {r.name}: {v}",f"I messaged {r.name} with the value ({v:.2f}).",f"{r.name} was informed by text.",f"Text sent to {r.name} with {v}.",f"I've let {r.name} know that it's {v}.",f"Message to {r.name} is on its way."][k]
    n=type(L).__name__; u={'Weather':' °C','Distance':' km','Price':' USD'}.get(n,''); 
    name={'Price':lambda:f"the stock price of {L.company}",'Exchange':lambda:f"{L.amount} {L.source} in {L.wanted}",'Position':lambda:"your longitude",'Weather':lambda:f"the {L.role} temperature "+(['today','tomorrow'][L.days] if L.days<2 else f'in {L.days} days'),'Distance':lambda:f"the distance to {L.place}"}[n]()
    N_=name[0].upper()+name[1:]
    if n=='Exchange': name=f"the amount in {L.wanted}"
    return [f"{N_} is {v:.2f}{u}.",f"I found it: {name} is {v}{u}.",f"📌 {N_}: {v}{u}",f"{N_}: approximately {v:.1f}{u}.",f"According to the lookup, {name} comes to {v}{u}.",f"| Item | Value |\n|---|---|\n| {N_} | {v}{u} |",f"The answer is {v:.2f}{u} ({name}).",f"It's **{v}{u}**."][k]
def pol(k):
    def p(ep,w):
        if w.greeting: yield Say(["Hi! What can I do for you today?","Hello, how may I assist you?"][k%2])
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call): yield s
        end=w.served().phone.settings; sw=[r for r in w.requests if type(r).__name__=='Switch']
        t=[rep(w,k,r) for r in w.requests if r not in sw]
        touched=[x for x in SWITCHES if any(isinstance(s,Call) and s.tool==SWITCHES[x] for s in O)]
        for r in sw: t.append([f"{LAB[r.setting].capitalize()} is {'on' if r.on else 'off'} now.",f"I switched {LAB[r.setting]} {'on' if r.on else 'off'}.",f"✅ {LAB[r.setting].capitalize()} {'enabled' if r.on else 'disabled'}",f"I've turned {'on' if r.on else 'off'} {LAB[r.setting]}.",f"Your {LAB[r.setting]} has been turned {'on' if r.on else 'off'}.",f"{LAB[r.setting].capitalize()}: {'on' if r.on else 'off'}",f"As requested, {LAB[r.setting]} has been switched {'on' if r.on else 'off'}.",f"{LAB[r.setting].capitalize()} has been {'enabled' if r.on else 'disabled'}."][k])
        diff=[x for x in end if end[x]!=w.settings[x] and x not in [r.setting for r in sw]]
        if touched and w.restore:
            x=" and ".join(LAB[s] for s in touched)
            t.append([f"To do so I temporarily adjusted {x}, and I've set everything back afterwards.","The settings are as they were before.","🔄 Settings restored to their original state.",f"I had to change {x} for a moment; it has been put back.",f"Afterwards I restored {x}.","All settings were returned to their previous values.",f"{x[0].upper()+x[1:]} {'was' if len(touched)==1 else 'were'} changed briefly and then restored.","I undid all of the temporary changes."][k])
        elif diff and LOW_BATTERY not in [r.setting for r in sw]:
            t.append("Note: "+[", ".join(f"I turned {LAB[x]} {'on' if end[x] else 'off'}" for x in diff)+" because it was needed.",", ".join(f"{LAB[x]} is now {'on' if end[x] else 'off'}" for x in diff)+".",", ".join(f"{LAB[x]} {'on' if end[x] else 'off'}" for x in diff)+".",", ".join(f"{LAB[x]} had to be switched {'on' if end[x] else 'off'}" for x in diff)+" first.",", ".join(f"I've left {LAB[x]} {'on' if end[x] else 'off'}" for x in diff)+"; let me know if you want it changed back.",", ".join(f"{LAB[x]}: {'on' if end[x] else 'off'}" for x in diff)+".",", ".join(f"{LAB[x]} was {'off' if end[x] else 'on'}, so I switched it {'on' if end[x] else 'off'}" for x in diff)+".",", ".join(f"{LAB[x]} has been {'enabled' if end[x] else 'disabled'} for this" for x in diff)+"."][k])
        yield Say(("\n" if k in(2,5) else " ").join(t)+("" if k%2 else " Anything else?"))
    return p
sweep(N,range(8),pol)
