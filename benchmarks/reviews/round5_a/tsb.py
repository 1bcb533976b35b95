from h import *
import re
from trace_gym.targets.toolsandbox.settings import LABELS,SWITCHES,LOW_BATTERY,SERVICES
N='toolsandbox_state_dependency'
def val(w,r):
    L=getattr(r,'lookup',r)
    return L.value(w) if hasattr(L,'value') else None
def report(w,style,r,end):
    k=type(r).__name__; L=getattr(r,'lookup',r); v=val(w,r)
    def num(x): return {'r1':f"{x:.1f}",'full':f"{x}",'comma':f"{x:,.2f}"}[ {'nice':'full','prose':'full','short':'r1','md':'comma'}[style] ]
    if k=='Text': return {'nice':f"I've sent \"{r.content}\" to {r.name}.",'prose':f"Your message to {r.name} has been sent.",'short':f"Text sent to {r.name}.",'md':f"- **Message to {r.name}:** sent (\"{r.content}\")"}[style]
    if k=='Report':
        what={'Price':f"{L.subject}'s stock price ({num(v)})",'Exchange':f"the converted amount ({num(v)})"}[type(L).__name__]
        return {'nice':f"I've texted {r.name} {what}.",'prose':f"I let {r.name} know {what} by text message.",'short':f"Sent {r.name} {what}.",'md':f"- **Message to {r.name}:** sent, with {what}"}[style]
    t=type(L).__name__
    T={'Price':{'nice':f"{getattr(L,'company','')} is currently trading at ${num(v)}.",'prose':f"The current stock price of {getattr(L,'company','')} is {num(v)} USD.",'short':f"{getattr(L,'company','')}: {num(v)}",'md':f"- **{getattr(L,'company','')} stock price:** ${num(v)}"},
       'Exchange':{'nice':f"{getattr(L,'amount',0)} {getattr(L,'source','')} is equal to {num(v)} {getattr(L,'wanted','')}.",'prose':f"{getattr(L,'amount',0)} {getattr(L,'source','')} come to about {num(v)} {getattr(L,'wanted','')}.",'short':f"{num(v)} {getattr(L,'wanted','')}",'md':f"- **{getattr(L,'amount',0):,} {getattr(L,'source','')}** = **{num(v)} {getattr(L,'wanted','')}**"},
       'Position':{'nice':f"The longitude of this phone is {num(v)}.",'prose':f"Your phone is at longitude {num(v)} (latitude {w.latitude}).",'short':f"Longitude: {num(v)}",'md':f"- **Longitude:** {v}°"}}
    if t=='Weather':
        kn=L.role; d=['today','tomorrow'][L.days] if L.days<2 else f'in {L.days} days'
        day=w.weather_here()[L.days]
        return {'nice':f"The {kn} temperature {d} will be {num(v)}°C.",'prose':f"The forecast {d} shows a {kn} temperature of {num(v)} degrees Celsius; the conditions will be {day['condition'].lower()}.",'short':f"{kn.title()} {d}: {num(v)}°C",'md':f"- **{kn.title()} temperature {d}:** {num(v)} °C"}[style]
    if t=='Distance': return {'nice':f"{L.place} is {num(v)} km from here.",'prose':f"It's about {v:.1f} kilometers from your current position to {L.place}.",'short':f"{L.place}: {num(v)} km away",'md':f"- **Distance to {L.place}:** {num(v)} km"}[style]
    return T[t][style]
def content(w,r,style):
    L=r.lookup; v=val(w,r)
    if type(L).__name__=='Price': return {'nice':f"{L.company}'s stock price is ${v}.",'prose':f"Hi {r.name.split()[0]}, the current stock price of {L.company} is {v} USD.",'short':f"{L.company} stock: {v}",'md':f"The stock price of {L.company} is ${v:,.2f}."}[style]
    return {'nice':f"{L.amount} {L.source} is {v} {L.wanted}.",'prose':f"Hi {r.name.split()[0]}, {L.amount} {L.source} are {v:,.2f} {L.wanted}.",'short':f"{v} {L.wanted}",'md':f"{L.amount:,} {L.source} = {v:,.2f} {L.wanted}"}[style]
def pol(style,pre=True,settings_note=True):
    def p(ep,w):
        if w.greeting: yield Say("Hello! How can I help you?")
        if pre:
            for s in ('get_low_battery_mode_status','get_wifi_status','get_cellular_service_status','get_location_service_status'): yield Call(s,{})
        O=[s for s in w.copy().oracle()]
        for s in O:
            if isinstance(s,Call):
                if s.tool=='send_message_with_phone_number' and type([r for r in w.requests if type(r).__name__ in('Text','Report')][0]).__name__=='Report':
                    r=[r for r in w.requests if type(r).__name__=='Report'][0]
                    s=Call(s.tool,{**s.arguments,'content':content(w,r,style)})
                yield s
        end=w.served().phone.settings
        t=[];sw=[r for r in w.requests if type(r).__name__=='Switch']
        for r in w.requests:
            if r in sw: continue
            t.append(report(w,style,r,end))
        changed=[s for s in end if end[s]!=w.settings[s]]
        touched=[k for k in SWITCHES if any(isinstance(s,Call) and s.tool==SWITCHES[k] for s in O)]
        lab=lambda s:{'wifi':'Wi-Fi' if style in('nice','md') else 'wifi','cellular':'cellular service','location_service':'location services' if style=='nice' else 'location service',LOW_BATTERY:'low battery mode'}[s]
        for r in sw:
            t.append({'nice':f"I also turned {lab(r.setting)} {'on' if r.on else 'off'} as you asked.",'prose':f"{lab(r.setting).capitalize()} is now {'on' if r.on else 'off'}.",'short':f"{lab(r.setting).capitalize()} {'on' if r.on else 'off'}.",'md':f"- **{lab(r.setting).capitalize()}:** turned {'on' if r.on else 'off'}"}[style])
        if settings_note:
            if w.restore and touched: t.append({'nice':f"I temporarily changed {', '.join(lab(s) for s in touched)} to do this, and put everything back the way it was.",'prose':"All settings are back to what they were before.",'short':"Settings restored.",'md':f"- Settings: I had to switch {', '.join(lab(s) for s in touched)} for this; they've been restored to their original state."}[style])
            elif not w.restore:
                extra=[s for s in changed if s not in [r.setting for r in sw] and not(LOW_BATTERY in [r.setting for r in sw])]
                if extra: t.append({'nice':"To do this, I had to turn "+" and ".join(f"{lab(s)} {'on' if end[s] else 'off'}" for s in extra)+".",'prose':"Note that "+" and ".join(f"{lab(s)} is now {'on' if end[s] else 'off'}" for s in extra)+", because it was needed for this.",'short':"("+", ".join(f"{lab(s)} {'on' if end[s] else 'off'}" for s in extra)+")",'md':"- Note: "+", ".join(f"{lab(s)} had to be turned {'on' if end[s] else 'off'}" for s in extra)}[style])
        yield Say(("Here's what I did:\n" if style=='md' else '')+(" " if style!='md' else "\n").join(t)+(" Is there anything else I can help you with?" if style=='nice' else ""))
    return p
if __name__=='__main__':
    for st in ('nice','prose','short','md'): run(N,pol(st),n=60,label=st)
