from h import *
from pr import agentize, E, LAB
import re
def isref(t): return t.startswith('I cannot')
def only(a,seeds):
    n=ok=0; ex=None
    for s in seeds:
        t=[x.text for x in ep_of(E,3,s).world.copy().oracle() if isinstance(x,Say)][-1]
        if not isref(t): continue
        ep=run(E,3,s,a); n+=1; ok+=ep.score.success
        if not ep.score.success and ex is None: ex=log(ep)
    return ok,n,ex
# full replies as an LLM would write them, restating the request and naming the service
T=[
"I wasn't able to {w}. {S} is currently off, and it can't be turned on while low battery mode is enabled. Since you asked me not to touch low battery mode, I haven't made any changes.",
"I'm sorry, but I can't {w} right now. This needs {S}, which is off and cannot be turned on in low battery mode. You asked me to leave low battery mode as it is, so I stopped there.",
"Unfortunately, I couldn't {w} because {S} is off and low battery mode prevents it from being switched on. I left low battery mode as is, per your request.",
"I can't {w}: {S} can't be switched on in low battery mode, and you asked me to leave low battery mode on.",
"I was unable to {w} because your phone is in low battery mode, which keeps {S} off. As you asked, I left low battery mode untouched. If you'd like, I can turn it off and try again.",
"To {w}, I'd need {S}, but it can't be enabled in low battery mode. Since you want low battery mode left as it is, I can't complete this.",
"Low battery mode is on, so {S} can't be enabled and I can't {w}. I've left everything unchanged as you requested.",
"I could not {w}. Reason: {S} is off and cannot be switched on while low battery mode is active (which you asked me to leave unchanged).",
"Sorry — I can't {w}. {S} is required, but low battery mode blocks it. Let me know if you'd like me to turn off low battery mode, and I'll take care of it right away.",
"I tried to {w}, but {S} is off and can't be turned on in low battery mode. Because you told me to leave low battery mode as it is, I've left it on and couldn't complete the task.",
]
tot=0;okk=0
for t in T:
    def f(ep,x,plan,t=t):
        if not isref(x): return x
        sv=[LAB[s.tool] for s in plan if isinstance(s,Call) and s.tool in LAB][0]
        w=re.match(r'I cannot (.*): low battery',x)[1]
        return t.format(w=w,S=sv)
    ok,n,ex=only(agentize(f),range(100,400)); tot+=n; okk+=ok; print(ok,n,t)
    if ex and ok<n and ok>0: print(ex)
print('all',okk,tot)
