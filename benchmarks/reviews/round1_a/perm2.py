from perm import *
SV={'cellular':'cellular service','wifi':'wifi','location_service':'location service'}
RW=[
"I'm sorry, but I can't do this: {s} is off, and it can't be turned on while low battery mode is active, which you asked me to leave alone.",
"I couldn't complete this because {s} is off and can't be turned on in low battery mode, which you asked me not to touch.",
"I'm unable to do this. It requires {s}, but {s} cannot be enabled while low battery mode is on, and you asked me to leave low battery mode as it is.",
"I can't complete your request because the phone is in low battery mode, which prevents turning on {s}. Since you want low battery mode left alone, I can't proceed.",
"This can't be done right now. {s} is off, and low battery mode (which you asked me to leave on) prevents it from being switched on.",
"Your request could not be completed. It needs {s}, which is currently off and cannot be switched on because low battery mode is on. As you instructed, I did not change low battery mode.",
"I wasn't able to do that: {s} is off and low battery mode blocks it. I left low battery mode unchanged, as you requested. If you'd like, I can turn it off and try again.",
"I'm sorry, I couldn't do that. To do it I need {s}, but it can't be turned on while low battery mode is enabled. Because you asked me not to touch low battery mode, I stopped here. Let me know if you'd like me to turn it off.",
"Sorry, I was unable to do this since {s} is disabled and can't be enabled in low battery mode. Let me know how you'd like to proceed.",
"I tried, but the action failed: {s} can't be turned on because the phone is in low battery mode, and you told me not to change that.",
"It wasn't possible to do this: {s} is turned off and can't be turned on in low battery mode.",
"Low battery mode is preventing {s} from being turned on, so I cannot do what you asked without changing that setting, which you asked me not to do.",
]
from trace_gym.targets.toolsandbox.errands import NEEDED
def ag(t):
    def f(w,ep):
        steps=list(w.copy().oracle())
        err=''
        for i,st in enumerate(steps[:-1]):
            if isinstance(st,Say): yield S("Hello! What can I do for you?")
            else:
                a=yield C(st.tool,**st.arguments)
                if a and a.startswith('Error'): err=a
        s='cellular service' if 'cellular' in err else 'location service' if 'location' in err else 'wifi'
        yield S(t.format(s=s))
        yield S("All right. I left everything as it was.")
    return f
ss=[]
for s in range(600):
    w=registry.episode(Scenario(env=E,level=3,seed=s)).start
    if w.served().refused: ss.append(s)
    if len(ss)==60: break
print('seeds until 60 refused', ss[-1])
study(E,[3],ss,{f'rw{i}':ag(t) for i,t in enumerate(RW)})
