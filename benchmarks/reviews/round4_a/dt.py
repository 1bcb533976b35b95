from lib import *
from datetime import datetime, UTC
def due(w):
    r=w.requests[0]; return datetime.fromtimestamp(r.when.due(w.now),UTC)
W={
 'done_ampm': lambda c,d: f'Done! Your reminder to "{c}" is now set for {d:%A, %B} {d.day}, {d.year} at {d:%I:%M %p} UTC.',
 'moved': lambda c,d: f"I've updated your reminder \"{c}\". It is now due on {d:%Y-%m-%d} at {d:%H:%M} UTC.",
 'bullets': lambda c,d: f"All set! Here are the details:\n\n- **Reminder:** {c}\n- **Date:** {d:%A, %B} {d.day}, {d.year}\n- **Time:** {d:%H:%M} UTC\n\nIs there anything else I can help you with?",
 'short': lambda c,d: f"Your reminder has been set for {d:%B} {d.day} at {d:%H:%M}.",
 'confirm': None,
}
C={
 'away': lambda h,n,d: f"{h} is {n} days away.",
 'there': lambda h,n,d: f"There are {n} days until {h} ({d:%A, %B} {d.day}, {d.year}).",
 'bold': lambda h,n,d: f"It is **{n} days** until {h}, which falls on {d:%B} {d.day}, {d.year}.",
 'full': lambda h,n,d: f"There are {n} full days left until {h} on {d:%Y-%m-%d}.",
 'today': lambda h,n,d: f"From today, it is {n} days until the next {h}. Let me know if you need anything else!",
 'weeks': lambda h,n,d: f"{h} is in {n} days (about {n//7} weeks), on {d:%B} {d.day}, {d.year}.",
 'nextyear': lambda h,n,d: f"{h} has already passed this year, so the next one is on {d:%B} {d.day}, {d.year}. That is {n} days from now.",
 'hours': lambda h,n,d: f"There are {n} days and 9 hours until {h}.",
}
def pol(key):
    def p(w):
        r=w.requests[0]; kind=type(r).__name__
        plan=list(w.copy().oracle())
        if (kind=='Countdown') != (key in C): return
        if kind=='Countdown':
            import re
            n=int(re.search(r'(\d+) days',plan[-1].text)[1]); d=datetime.fromtimestamp(w.now+ (n+1)*86400,UTC)
            last=C[key](r.holiday,n,d)
        else:
            c=r.content or r.meant(w)['content']
            last=W[key](c,due(w))
        for s in plan[:-1]: yield s
        yield Say(last)
    return p
from trace_gym.targets.toolsandbox.schedule import Countdown
for lv in range(4):
    for k in W:
        if W[k]: print(lv,k,rate('toolsandbox_datetime',lv,pol(k),range(60),lambda w:not isinstance(w.requests[0],Countdown)))
for k in C: print(3,k,rate('toolsandbox_datetime',3,pol(k),range(200),lambda w:isinstance(w.requests[0],Countdown)) ) if 1 else 0
