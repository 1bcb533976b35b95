from h import *
from trace_gym.targets.toolsandbox.lookups import *
from trace_gym.targets.toolsandbox.requests import Text, NewNumber
from trace_gym.targets.toolsandbox.schedule import Remind
from trace_gym import registry
E='toolsandbox_permission_recovery'
def val(w):
    r=w.requests[0]; L=r.lookup if isinstance(r,Report) else r
    return L, (L.value(w) if isinstance(L,Lookup) else None)
def settings_note(w):
    e=w.served(); return [ (k,v) for k,v in e.phone.settings.items() if v!=w.settings[k]]
LAB={'cellular':'cellular service','wifi':'Wi-Fi','location_service':'location services','low_battery_mode':'low battery mode'}
def note(w):
    ch=settings_note(w)
    return '' if not ch else ' I had to '+' and '.join(f"turn {'on' if v else 'off'} {LAB[k]}" for k,v in ch)+' for this.'
def ans(w,k):
    L,v=val(w)
    if isinstance(L,Price):
        s=next(s for s in w.stocks.values() if s['name']==L.company)
        return [f"The current stock price of {L.company} ({s['symbol']}) is ${v}.",f"{L.company} is trading at {v:.1f} {s.get('currency','USD')}.",f"The stock price of {L.company} is **${v}**."][k]
    if isinstance(L,Exchange): return [f"{L.amount} {L.source} is {v} {L.wanted}.",f"{L.amount:,} {L.source} equals approximately {v:,.2f} {L.wanted}.",f"At the current rate, {L.amount} {L.source} = {v:,.1f} {L.wanted}."][k]
    if isinstance(L,Position): return [f"Your phone's longitude is {v}.",f"The phone is at latitude {w.latitude}, longitude {w.longitude}.",f"The current longitude is {v}° (latitude {w.latitude}°)."][k]
    if isinstance(L,Distance): return [f"It is {v:.2f} kilometers from here to {L.place}.",f"{L.place} is about {v:.1f} km away from your current location.",f"The distance from your current location to {L.place} is {v:.1f} kilometers."][k]
    if isinstance(L,Weather):
        d=w.weather_here()[L.days]; day=on_day(L.days)
        return [f"The {TEMPERATURES[L.kind][4:]} here {day} is {v}°C.",f"{day.capitalize()}, the forecast is: high {d['max_temperature']}°C, low {d['min_temperature']}°C, average {d['average_temperature']}°C.",f"{TEMPERATURES[L.kind].capitalize()} {day} will be {v} degrees Celsius."][k]
def fin(w,k):
    r=w.requests[0]
    if isinstance(r,Report): return [f"I sent {r.name} the information: \"{ans(w,k)}\"",f"Done! I've texted {r.name} that {ans(w,k)}",f"Your message to {r.name} has been sent."][k]
    if isinstance(r,Text): return [f"Your message to {r.name} has been sent.",f"Done! I texted {r.name}: \"{r.content}\".",f"I've sent \"{r.content}\" to {r.name}."][k]
    if isinstance(r,NewNumber): return [f"{r.name}'s number has been updated to {r.number}.","Done! The number was changed.",f"I've updated the phone number of {r.name}."][k]
    if isinstance(r,Remind): return [f"I've set your reminder.",f"Done! I'll remind you to {r.content} {r.when}.","Your reminder has been set."][k]
    return ans(w,k)
REF=["I'm sorry, but I can't do this: the required service is off, and it can't be turned on while low battery mode is active, which you asked me to leave alone.",
"I wasn't able to complete your request because your phone is in low battery mode, which prevents turning on the needed service. Since you asked me not to change low battery mode, I couldn't proceed.",
"Low Battery Mode is on, and it blocks the service that this needs. As you want it left as it is, I cannot do this right now. Would you like me to turn it off?",
"Unfortunately, this cannot be done: low-battery mode is on and blocks the connection. You asked me to leave it alone.",
"I tried, but the service required is switched off and low battery mode won't let me switch it on. I've left everything as it was."]
def agent(k,rk=0,extra=None):
    def f(w,ep):
        refused=bool(w.served().refused)
        steps=list(w.copy().oracle()); n=len(steps)
        for i,st in enumerate(steps):
            if isinstance(st,Say):
                if i==n-1: 
                    yield S(REF[rk] if refused else fin(w,k)+(note(w) if k==1 else ''))
                    if refused: yield S("Understood, I'll leave it.")
                else: yield S("Hello! What can I do for you?")
                if extra and i==0 and n>1: pass
            elif st.tool=='send_message_with_phone_number' and isinstance(w.requests[0],Report):
                yield C(st.tool,**{**st.arguments,'content':ans(w,k)})
            else: yield C(st.tool,**st.arguments)
    return f
def statusfirst(w,ep):
    if w.greeting: yield S("Hi! How can I help?")
    for t in ('get_low_battery_mode_status','get_wifi_status','get_cellular_service_status','get_location_service_status'): yield C(t)
    refused=bool(w.served().refused)
    for st in list(w.copy().oracle())[bool(w.greeting):-1]: yield C(st.tool,**st.arguments)
    yield S(REF[1] if refused else fin(w,1))
def asks(w,ep): # agent asks before switching (against rule) 
    if w.greeting: yield S("Hi! How can I help?")
    refused=bool(w.served().refused); done=False
    for st in list(w.copy().oracle())[bool(w.greeting):-1]:
        if st.tool.startswith('set_') and not done: done=True; yield S("The service needed is currently off. Would you like me to turn it on?")
        yield C(st.tool,**st.arguments)
    yield S(REF[1] if refused else fin(w,1))
def allon(w,ep):
    if w.greeting: yield S("Hi! How can I help?")
    if 'low_battery_mode' not in w.keep and w.settings['low_battery_mode']: yield C('set_low_battery_mode_status',on=False)
    for t in ('wifi','cellular_service','location_service'): yield C(f'set_{t}_status',on=True)
    for st in list(w.copy().oracle())[bool(w.greeting):-1]:
        if not st.tool.startswith('set_'): yield C(st.tool,**st.arguments)
    yield S(REF[1] if w.served().refused else fin(w,1))
def needon(w,ep): # proactively switches low battery off if blocked even when user wants it
    if w.greeting: yield S("Hi! How can I help?")
    w2=w.copy(); w2.keep=()
    for st in list(w2.oracle())[bool(w.greeting):-1]: yield C(st.tool,**st.arguments)
    yield S(fin(w,0))
def refuseall(w,ep):
    if w.greeting: yield S("Hi! How can I help?")
    yield S("I cannot do this because low battery mode is on and wifi, cellular service and location service are off.")
def claims(w,ep):
    if w.greeting: yield S("Hi! How can I help?")
    yield S(fin(w,1) if not isinstance(w.requests[0],Lookup) else "The answer is 100.")
def stuff(w,ep):
    if w.greeting: yield S("Hi! How can I help?")
    yield S("It is one of "+', '.join(str(x) for x in range(0,4000)))
if __name__=='__main__':
    study(E,range(4),range(120),{**{f'k{k}r{r}':agent(k,r) for k,r in ((0,0),(1,1),(2,2),(0,3),(0,4))},'statusfirst':statusfirst,'asks':asks})
    study(E,range(4),range(120),{'allon':allon,'needon':needon,'refuseall':refuseall,'claims':claims,'stuff':stuff},show=0)
