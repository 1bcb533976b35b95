from h import *
from trace_gym.targets.toolsandbox.schedule import Remind, Postpone, Countdown
from trace_gym.targets.toolsandbox import calendar
import datetime
E='toolsandbox_datetime'
def solve(w, pre=None, confirm=None, final=None, content=None, greet="Hello! How can I help you today?", early=None, look=True):
    def g():
        if w.greeting: yield S(greet)
        if pre: yield S(pre)
        r=w.requests[0]; now=w.now
        yield C('get_current_timestamp'); yield C('timestamp_to_datetime_info',timestamp=now)
        if isinstance(r,Countdown):
            y=calendar.moment(now).year
            t=calendar.holiday(r.holiday,y)
            yield C('search_holiday',holiday_name=r.holiday)
            if t<now:
                t=calendar.holiday(r.holiday,y+1); yield C('search_holiday',holiday_name=r.holiday,year=y+1)
            yield C('timestamp_diff',timestamp_0=now,timestamp_1=t)
            n=int((t-now)//86400)
            yield S((final or "There are {n} days until {h}.").format(n=n,h=r.holiday,d=calendar.moment(t).strftime('%A, %B %d, %Y'),t=calendar.moment(now).strftime('%B %d, %Y'),m=n//30,w=n//7,hh=int((t-now)%86400//3600)))
            return
        due=r.when.due(now); m=calendar.moment(due)
        f=dict(c=r.content,day=m.strftime('%A, %B %d, %Y'),iso=m.strftime('%Y-%m-%d'),tm=m.strftime('%H:%M'),today=calendar.moment(now).strftime('%A, %B %d'),wh=str(r.when))
        if isinstance(r,Postpone):
            x=r.meant(w); f['c']=x['content']
            if r.content: yield C('search_reminder',content=r.content)
            else: yield C('search_reminder',reminder_timestamp_lowerbound=now)
        yield C('datetime_info_to_timestamp',year=m.year,month=m.month,day=m.day,hour=m.hour,minute=m.minute,second=0)
        if confirm: yield S(confirm.format(**f))
        if isinstance(r,Postpone): yield C('modify_reminder',reminder_id=x['reminder_id'],reminder_timestamp=due)
        else: yield C('add_reminder',content=content(r.content) if content else r.content,reminder_timestamp=due)
        yield S((final or "Done! Your reminder to {c} is now set for {day} at {tm} UTC.").format(**f))
    return g()
def A(**k): return lambda w,ep: solve(w,**k)
study(E,range(4),range(100),{
 'plain':A(),'pre':A(pre="Let me check the current date first."),
 'pre2':A(pre="Sure! I'll take care of that for you."),
 'confirm':A(confirm="I'll set the reminder to {c} for {day} at {tm}. Shall I go ahead?"),
 'confirm2':A(confirm="Today is {today}, so that would be {day} at {tm} UTC. Is that the right time?"),
 'cap':A(content=lambda c:c.capitalize()),'Remind me to':A(content=lambda c:'Remind me to '+c+'.'),
 'reminder: ':A(content=lambda c:'Reminder: '+c.capitalize()),
 'title':A(content=lambda c:c.title()),
 'drop the':A(content=lambda c:c.replace(' the',' ').replace(' a ',' ')),
})
# countdown wordings
CW=["There are {n} days until {h}.","It is {n} days until {h}, which falls on {d}.","Today is {t}, and {h} is on {d}. That is {n} days from now.","{h} is {n} days away.","There are **{n} days** until {h} ({d}).","{n} days remain until {h}.","It's {n} whole days until {h} (about {w} weeks).","{h} is on {d}, so there are {n} full days left.","There are {n} days and {hh} hours left until {h}.","There are {n} days until {h}, roughly {m} months."]
from trace_gym import registry
ss=[s for s in range(400) if isinstance(registry.episode(Scenario(env=E,level=3,seed=s)).start.requests[0],Countdown)][:60]
study(E,[3],ss,{f'cw{i}':(lambda t:(lambda w,ep: solve(w,final=t)))(t) for i,t in enumerate(CW)})
FW=["I moved the reminder.","All set!","Your reminder has been rescheduled to {day} at {tm}.","I've set a reminder for you: \"{c}\" on {day} at {tm} UTC. Let me know if you need anything else!","Done.","The reminder \"{c}\" is now due {iso} {tm} UTC."]
ss=[s for s in range(200) if not isinstance(registry.episode(Scenario(env=E,level=2,seed=s)).start.requests[0],Countdown)][:60]
study(E,[2],ss,{f'fw{i}':(lambda t:(lambda w,ep: solve(w,final=t)))(t) for i,t in enumerate(FW)})
# wrong
def cwrong(f): 
    def g(w,ep):
        r=w.requests[0]; now=w.now; y=calendar.moment(now).year
        a=[int((calendar.holiday(r.holiday,k)-now)//86400) for k in (y,y+1)]
        n=next(x for x in a if x>=0)
        if w.greeting: yield S("Hello?")
        yield S(f(n,a,r.holiday))
    return g
ss=[s for s in range(400) if isinstance(registry.episode(Scenario(env=E,level=3,seed=s)).start.requests[0],Countdown)][:60]
study(E,[3],ss,{'n+1':cwrong(lambda n,a,h:f"It is {n+1} days until {h}."),'either':cwrong(lambda n,a,h:f"It is {a[0]} or {a[1]} days until {h}."),'stuff':cwrong(lambda n,a,h:f"It is "+', '.join(str(k) for k in range(366))+f" days until {h}."),'weeks':cwrong(lambda n,a,h:f"It was {n} days ago."),'n or n+1':cwrong(lambda n,a,h:f"It is {n} or {n+1} days until {h}."), 'firstyear':cwrong(lambda n,a,h:f"It is {abs(a[0])} days until {h}."),'n, n+1':cwrong(lambda n,a,h:f"It is {n+1} days until {h}, or {n} whole days.")},show=0)
