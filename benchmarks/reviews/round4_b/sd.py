import re
from h import *
from pr import LAB, changes
def isref(t): return 'I cannot' in t
REF=["x"]
exec(open('finlib.py').read())
E='toolsandbox_state_dependency'
N={'set_wifi_status':'Wi-Fi','set_cellular_service_status':'cellular service','set_location_service_status':'location services','set_low_battery_mode_status':'low battery mode'}
def parts(t):
    return [x.strip() for x in re.split(r'(?<=[.])\s+(?=I )',t)]
def word(ep,t,plan,i):
    out=[]
    for p in parts(t):
        m=re.match(r'I switched (.*) (on|off)\.',p)
        if m: out.append([f"{m[1].capitalize()} is now {m[2]}.",f"I've also turned {m[2]} {m[1]} as you asked.",f"{m[1].capitalize()}: {m[2]} ✅"][i]); continue
        m=re.match(r'I sent (.*) the answer',p)
        if m: out.append(p); continue
        out.append(fin(ep,p,plan,i) if not(i==2 and p.startswith('I sent this')) else p)
    return ' '.join(out)
def agent(i,post=False):
    def a(ep):
        plan=list(ep.world.copy().oracle())
        for k,s in enumerate(plan):
            if k==len(plan)-1:
                t=word(ep,s.text,plan,i)
                if post=='restore' and ep.world.restore:
                    t+=" "+["All settings have been returned to how they were.","I temporarily turned on the required settings and then restored them to their original state.","I left the settings as I found them."][i]
                yield Say(t); yield Say("You're welcome!")
            else: yield s
    return a
if __name__=='__main__':
    for lv in range(4):
        for s in range(900,908):
            e=ep_of(E,lv,s); print(lv,s,e.world.wording,{k:v for k,v in e.world.settings.items()},[ (x.tool,x.arguments) if isinstance(x,Call) else x.text for x in e.world.copy().oracle()])
    rate(E,range(4),range(900,960),{f's{i}':agent(i,'restore') for i in range(3)},show=3)
