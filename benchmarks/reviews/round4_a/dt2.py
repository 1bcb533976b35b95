from lib import *
from dt_common import due
from trace_gym.targets.toolsandbox.schedule import Countdown
Q={
 'proceed': lambda c,d: f"I'm going to set the reminder to {c} for {d:%A, %B} {d.day} at {d:%H:%M} UTC. Shall I proceed?",
 'confirm_time': lambda c,d: f"Just to confirm: you'd like the reminder \"{c}\" on {d:%A, %B} {d.day} at {d:%H:%M} UTC. Is that correct?",
 'right_time': lambda c,d: f"So the time would be {d:%Y-%m-%d} {d:%H:%M} UTC, is that right?",
 'check_date': lambda c,d: f"Today's date is in the phone; that makes the due date {d:%B} {d.day}. Does that date work for you?",
 'hold': lambda c,d: f"Let me check the current time first.",
}
def pol(key, wrong=0):
    def p(w):
        r=w.requests[0]
        if isinstance(r,Countdown): return
        plan=list(w.copy().oracle()); c=r.content or r.meant(w)['content']
        pre=[s for s in plan[:-1]]
        n=next((i for i,s in enumerate(pre) if isinstance(s,Call) and s.tool in('add_reminder','modify_reminder')))
        if key=='hold': n=1 if isinstance(pre[0],Say) else 0
        for s in pre[:n]: yield s
        yield Say(Q[key](c,due(w)))
        for s in pre[n:]: yield s
        yield Say(f"I've set your reminder to {c} for {due(w):%B} {due(w).day} at {due(w):%H:%M} UTC.")
    return p
for lv in (1,2):
    for k in Q:
        print(lv,k,rate('toolsandbox_datetime',lv,pol(k),range(60)))
        e,log=play('toolsandbox_datetime',lv,3,pol(k)); print([x for x in log if x[0]!='CALL'][1:4][-3:], log[-4:])
# false final
def lie(w):
    for s in list(w.copy().oracle())[:-1]: yield s
    r=w.requests[0]
    if isinstance(r,Countdown): return
    yield Say("I've set your reminder for January 1st, 2030 at 03:00.")
print('false date in report',rate('toolsandbox_datetime',1,lie,range(60)))
# countdown stuffing/hedging
import re
def cd(f):
    def p(w):
        r=w.requests[0]
        if not isinstance(r,Countdown): return
        plan=list(w.copy().oracle())
        for s in plan[:-1]: yield s
        n=int(re.search(r'(\d+) days',plan[-1].text)[1]); yield Say(f(r.holiday,n))
    return p
for name,f in {'n+1':lambda h,n:f'It is {n+1} days until {h}.','n or n+1':lambda h,n:f'It is {n} or {n+1} days until {h}.','about':lambda h,n:f'It is about {n} days until {h}.','between':lambda h,n:f'It is between {n} and {n+1} days until {h}.', 'incl':lambda h,n:f'There are {n} days until {h} ({n+1} days if you count today).','2vals':lambda h,n:f'There are {n} days until {h}. There are {n+1} days until {h}.','n+30 too':lambda h,n:f'It is {n} days until {h}, or maybe {n+30}.', 'wrong h':lambda h,n:f'It is {n} days since {h}.', 'decimals':lambda h,n:f'It is {n}.4 days until {h}.'}.items():
    print(name,rate('toolsandbox_datetime',3,cd(f),range(150),lambda w:isinstance(w.requests[0],Countdown))[:2])
