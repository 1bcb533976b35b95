from sd import *
# wrong & alternative agents
def plan(ep): return list(ep.world.copy().oracle())
def is_sw(s): return isinstance(s,Call) and s.tool in N
def norestore(ep):
    p=plan(ep); w=ep.world
    keep=p
    if w.restore:
        # drop switch calls after last non-switch call
        k=max(i for i,s in enumerate(p[:-1]) if not is_sw(s)); keep=p[:k+1]+p[-1:]
    for s in keep: yield s
def inorder(ep):  # performs switch request in order named first (bad), then task (fix), reports
    w=ep.world.copy(); 
    from trace_gym.targets.toolsandbox.expert import SKILLS
    for s in ep.world.copy().ablated(): yield s
def allon_back(ep): # turn everything on, do the task, then put everything right
    w=ep.world; st=dict(w.settings); p=plan(ep)
    if isinstance(p[0],Say) and len(p)>1: yield p.pop(0)
    if st['low_battery_mode']: yield Call('set_low_battery_mode_status',{'on':False})
    for s in ('cellular','wifi','location_service'):
        if not st[s]: yield Call(f'set_{s}_status' if s!='cellular' else 'set_cellular_service_status',{'on':True})
    seen=set()
    for s in p[:-1]:
        if is_sw(s) or str(s) in seen: continue
        seen.add(str(s)); yield s
    from trace_gym.targets.toolsandbox.settings import SWITCHES
    want=w.__class__.served(ep.start.copy() if False else ep.start).phone.settings
    cur=dict(cellular=True,wifi=True,location_service=True,low_battery_mode=False)
    for k in ('cellular','wifi','location_service'):
        if want[k]!=cur[k]: yield Call(SWITCHES[k],{'on':want[k]})
    if want['low_battery_mode']: yield Call(SWITCHES['low_battery_mode'],{'on':True})
    yield p[-1]
def lbdirect(ep): # restore only by low battery on (services go off by themselves), shorter
    p=plan(ep); w=ep.world
    if w.restore and w.settings['low_battery_mode']:
        k=max(i for i,s in enumerate(p[:-1]) if not is_sw(s)); p=p[:k+1]+[Call('set_low_battery_mode_status',{'on':True})]*(any(is_sw(s) for s in p))+p[-1:]
    for s in p: yield s
def wrongvalue(ep):
    p=plan(ep); t=p[-1].text; m=re.search(r': (-?\d[\d.]*\d)',t)
    for s in p[:-1]: yield s
    yield Say(t.replace(m[1],f"{float(m[1])+3.3:.2f}") if m else t.replace('I sent','I did not send'))
def silent(ep):
    p=plan(ep)
    for s in p[:-1]: yield s
    yield Say("All done.")
def falsereport(ep): # does all but says settings the opposite
    p=plan(ep)
    for s in p[:-1]: yield s
    t=p[-1].text; yield Say(re.sub(r'I switched (.*) (on|off)\.',lambda m:f"I switched {m[1]} {'off' if m[2]=='on' else 'on'}.",t))
def nothing_restored_claim(ep):
    p=plan(ep); w=ep.world
    if w.restore:
        k=max(i for i,s in enumerate(p[:-1]) if not is_sw(s)); p=p[:k+1]+p[-1:]
    for s in p[:-1]: yield s
    yield Say(p[-1].text+" I put all settings back.")
def askback(ep):
    p=plan(ep)
    for s in p[:-1]: yield s
    yield Say(p[-1].text+" Is there anything else I can help you with?"); yield Say("Goodbye!")
rate(E,range(4),range(900,970),{'norestore':norestore,'ablated':inorder,'allon_back':allon_back,'lbdirect':lbdirect,'wrongvalue':wrongvalue,'silent':silent,'falsereport':falsereport,'askback':askback},quiet=True)
rate(E,range(4),range(900,970),{'allon_back':allon_back,'lbdirect':lbdirect},show=1)
