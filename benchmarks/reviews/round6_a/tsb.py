from h import *
from trace_gym.targets.toolsandbox.expert import cure, Expert
E='toolsandbox_permission_recovery'
def ts(style):
    def f(w,ep):
        for s in w.oracle():
            if isinstance(s,Say):
                if 'What can I do' in s.text: yield Say(text="Hi! How can I help you today?"); continue
                t=s.text
                if style=='nocause' : yield Say(text=("I'm sorry, I couldn't do that." if t.startswith('I cannot') else t)); continue
                if t.startswith('I cannot'): yield Say(text=[f"I'm sorry, but I wasn't able to do this: it needs a service that is off, and that service can't be switched on while low battery mode is on. Since you asked me to leave low battery mode as it is, I left it unchanged.",f"I couldn't complete your request because low battery mode is on and blocks the service that is required. You asked me not to touch low battery mode, so I stopped here. Let me know if you'd like me to turn it off."][style==1])
                else: yield Say(text=t if style==0 else "Done! "+t+" Note that I had to adjust a setting if it was blocking this. Is there anything else I can help you with?" if style==1 else t)
            else: yield s
    return f
def allon(w,ep):
    "switch everything on beforehand, then oracle calls except settings"
    if w.settings['low_battery_mode']: yield Call(tool='set_low_battery_mode_status',arguments={'on':False})
    for n,t in (('cellular','set_cellular_service_status'),('wifi','set_wifi_status'),('location_service','set_location_service_status')):
        if not w.settings[n]: yield Call(tool=t,arguments={'on':True})
    for s in w.oracle():
        if isinstance(s,Call) and s.tool.startswith('set_'): continue
        yield s
for n,f in (('style0',ts(0)),('style1',ts(1)),('nocause',ts('nocause')),('allon',allon)): table(n,E,f,seeds=range(500,560),showfail=int(n=='style1' or n=='style0'))
