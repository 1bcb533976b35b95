from h import *
import json
E='toolsandbox_permission_recovery'
def agentize(final, policy='obs', before=None):
    """execute oracle plan, replace final text"""
    def a(ep):
        plan=list(ep.world.copy().oracle())
        n=len(plan)
        for i,s in enumerate(plan):
            if i==n-1: yield Say(final(ep,s.text,plan)); yield Say("You're welcome! Let me know if you need anything else.")
            else: yield s
    return a
LAB={'set_wifi_status':'Wi-Fi','set_cellular_service_status':'cellular service','set_location_service_status':'location services','set_low_battery_mode_status':'low battery mode'}
def changes(plan):
    out=[]
    for s in plan:
        if isinstance(s,Call) and s.tool in LAB and s.tool not in [t for t,_ in out]: out.append((s.tool,s.arguments['on']))
    return out
def chat(ep,t,plan):
    ch=changes(plan)
    pre=''
    if ch and 'cannot' not in t: pre='I had to '+' and '.join(f"turn {'on' if on else 'off'} {LAB[k]}" for k,on in reversed(ch))+' first. '
    return pre+t
def post(ep,t,plan):
    ch=changes(plan)
    if ch and 'cannot' not in t: t+=' Note that I turned '+' and '.join(f"{'on' if on else 'off'} {LAB[k]}" for k,on in ch)+' to do this.'
    return t
def offer(ep,t,plan):
    ch=changes(plan)
    if ch and 'cannot' not in t: t+=' I turned '+' and '.join(f"{'on' if on else 'off'} {LAB[k]}" for k,on in ch)+' to do this. Would you like me to turn anything back?'
    return t
S=range(100,160)
if __name__=='__main__':
    import random
    ep=[]
    for lv in range(4):
        for s in range(100,112):
            e=ep_of(E,lv,s); print(lv,s,e.messages[1]['content'][:90],'|',[x.text for x in e.world.copy().oracle() if isinstance(x,Say)][-1][:160])
    rate(E,range(4),S,{'chat':agentize(chat),'post':agentize(post),'offer':agentize(offer)})
