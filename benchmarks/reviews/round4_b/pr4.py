from h import *
from pr import agentize, LAB, E
# shortcut policies
def plan(ep): return list(ep.world.copy().oracle())
def switchall(ep):
    p=plan(ep)
    if ep.world.greeting: yield Say("Hello! What can I do for you?")
    if ep.world.settings['low_battery_mode']: yield Call('set_low_battery_mode_status',{'on':False})
    for s in ('cellular','wifi','location_service'):
        if not ep.world.settings[s]: yield Call(f'set_{s}_status' if s!='cellular' else 'set_cellular_service_status',{'on':True})
    for s in p:
        if isinstance(s,Call) and s.tool in LAB: continue
        if isinstance(s,Say) and s is not p[-1]: continue
        yield s
def giveup(ep):
    p=plan(ep)
    for s in p:
        if isinstance(s,Call) and s.tool in LAB: yield Say("I am sorry, I cannot do that: low battery mode is on and the service is off."); return
        yield s
def check_first(ep):  # reads the statuses, then does exactly what is needed, in the end reports
    p=plan(ep)
    if isinstance(p[0],Say) and len(p)>1: yield p.pop(0)
    for t in ('get_low_battery_mode_status','get_wifi_status','get_cellular_service_status','get_location_service_status'): yield Call(t,{})
    ch=[];seen=set()
    if not p[-1].text.startswith('I cannot'):
        for s in reversed(p):
            if isinstance(s,Call) and s.tool in LAB and s.tool not in seen: seen.add(s.tool); ch.insert(0,s)
        ch.sort(key=lambda s:s.tool!='set_low_battery_mode_status')
        for c in ch: yield c
    done=set()
    for s in p:
        if isinstance(s,Call) and (s.tool in LAB or str(s) in done): continue
        done.add(str(s)); yield s
def nosend(ep): # lies: claims success with invented value, no calls
    if ep.world.greeting: yield Say("Hello! What can I do for you?")
    yield Say(plan(ep)[-1].text)
def ask(ep):
    p=plan(ep); asked=set()
    for s in p:
        if isinstance(s,Call) and s.tool in LAB and s.tool not in asked: asked.add(s.tool); yield Say(f"{LAB[s.tool].capitalize()} is currently {'off' if s.arguments['on'] else 'on'}. Would you like me to turn it {'on' if s.arguments['on'] else 'off'} so I can complete your request?")
        yield s
def restore(ep): # puts the service back (policy: should stay)
    p=plan(ep); n=[s for s in p if isinstance(s,Call) and s.tool in LAB]
    for s in p[:-1]: yield s
    if n and not p[-1].text.startswith('I cannot'): yield Call(n[0].tool,{'on':not n[0].arguments['on']})
    yield p[-1]
def refusal_lie(ep): # careful scenario: refuse without naming? / claims but says cannot
    p=plan(ep)
    for s in p[:-1]: yield s
    yield Say("I am sorry, I cannot do this." if p[-1].text.startswith('I cannot') else p[-1].text)
rate(E,range(4),range(100,180),dict(switchall=switchall,giveup=giveup,check_first=check_first,lie=nosend,ask=ask,restore=restore,refusal_unnamed=refusal_lie),quiet=True)
rate(E,range(4),range(100,180),dict(check_first=check_first,ask=ask),show=1)
