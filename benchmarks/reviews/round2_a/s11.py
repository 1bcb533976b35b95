from s10 import call,C,J,S
from w2 import *
from datetime import datetime,timezone,timedelta
from trace_gym.targets.toolsandbox.schedule import Remind,Postpone,Countdown
E="toolsandbox_datetime"
def utc(t): return datetime.fromtimestamp(t,timezone.utc)
def good(o={}):
  def f(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you today?")
    now=yield from call("get_current_timestamp")
    k=o.get("k",rng.randrange(5))
    if isinstance(r,Countdown):
        n=r.days(w0,utc(now).year)
        h=None
        from trace_gym.targets.toolsandbox import calendar
        y=utc(now).year
        if n<0: y+=1; n=r.days(w0,y)
        h=utc(calendar.holiday(r.holiday,y)); today=utc(now)
        yield from call("search_holiday",holiday_name=r.holiday,year=y)
        V=[f"There are {n} days until {r.holiday}.",f"{r.holiday} is on {h:%B %-d, %Y}, which is {n} days from now.",f"Today is {today:%B %-d, %Y}. {r.holiday} falls on {h:%A, %B %-d, %Y}, so there are {n} whole days left.",
           f"It is **{n} days** until {r.holiday} ({h:%Y-%m-%d}). That's about {n//7} weeks.",f"{n} full days (and {(h-today).seconds//3600} hours) remain until {r.holiday}."]
        yield S(V[k]); return
    due=r.when.due(now); u=utc(due); loc=u+timedelta(hours=r.when.zone)
    if isinstance(r,Remind):
        cont=[r.content,r.content[:1].upper()+r.content[1:],"Reminder: "+r.content,r.content,r.content][k]
        yield from call("add_reminder",content=cont,reminder_timestamp=due)
    else:
        m=r.meant(w0)
        yield from call("search_reminder",**({"content":r.content} if r.content else {"reminder_timestamp_lowerbound":now}))
        yield from call("modify_reminder",reminder_id=m["reminder_id"],reminder_timestamp=due)
        cont=m["content"]
    verb="set a reminder to "+r.content if isinstance(r,Remind) else f"moved your reminder to {cont}"
    V=[f"I've {verb}"+("." if isinstance(r,Postpone) else f" for {u:%A, %B %-d, %Y at %H:%M} UTC."),
       f"Done! Your reminder \"{cont}\" is now due on {u:%Y-%m-%d at %H:%M} UTC.",
       f"Your reminder has been {'set' if isinstance(r,Remind) else 'moved'} for {loc:%B %-d, %Y at %-I:%M %p}"+(f" (UTC{r.when.zone:+d}), which is {u:%H:%M} UTC on {u:%B %-d}." if r.when.zone else "."),
       f"The reminder to {cont} has been updated to {u:%A, %-d %B %Y, %H:%M} UTC. Is there anything else I can do for you?" if isinstance(r,Postpone) else f"The reminder is set: {cont} on {u:%A, %-d %B, %H:%M}. Is there anything else I can do for you?",
       f"All set – you'll be reminded to {cont} on {u:%b %-d at %H:%M}."]
    yield S(V[k])
    if not ep.done: ep.extra=1; yield S("Is there anything else I can help you with?")
  return f
def confirm(q):
  def f(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you today?")
    if not isinstance(r,Countdown):
        u=utc(r.when.due(w0.now))
        yield S(q.format(u=f"{u:%A, %B %-d, %Y at %H:%M} UTC"))
    w0.greeting=""
    class X: pass
    g=good()(ep,rng)
    st=next(g)
    if isinstance(st,Say) and "How can I help" in st.text: st=g.send(None)
    while True:
        a=yield st
        try: st=g.send(a)
        except StopIteration: return
  return f
def liar(ep,rng):
    "right deed, wrong report"
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello! How can I help you today?")
    if isinstance(r,Countdown): return
    due=r.when.due(w0.now)
    if isinstance(r,Remind): yield from call("add_reminder",content=r.content,reminder_timestamp=due)
    else: yield from call("modify_reminder",reminder_id=r.meant(w0)["reminder_id"],reminder_timestamp=due)
    yield S(f"I've done that. It is due on {utc(due+86400*3):%A, %B %-d, %Y} at 03:00.")
def countlie(v):
  def f(ep,rng):
    w0=ep.world.copy(); r=w0.requests[0]
    if w0.greeting: yield S("Hello!")
    y=utc(w0.now).year; n=r.days(w0,y); n=n if n>=0 else r.days(w0,y+1)
    yield S(v(n,r.holiday))
  return f
CD=lambda ep:isinstance(ep.world.requests[0],Countdown)
if __name__=="__main__":
    for k in range(5): table(E,range(4),60,{f"good{k}":good({"k":k})},bad=1)
    for q in ["I'll set it for {u}. Is that correct?","Just to confirm, you want it on {u}?","Should I use UTC?","Let me check the current time first."]: table(E,[1,3],40,{q:confirm(q)},bad=1)
    table(E,[0,2],60,{"liar":liar},bad=0)
    table(E,[3],200,{"n+1":countlie(lambda n,h:f"It is {n+1} days until {h}."),"two":countlie(lambda n,h:f"It is {n} or {n+1} days until {h}."),"both":countlie(lambda n,h:f"It is {n} days, or {n+1} days if you count today, until {h}."),"incl":countlie(lambda n,h:f"There are {n} full days left until {h} ({n+1} if you count the day itself)."),"wk":countlie(lambda n,h:f"There are {n} days left until {h}, i.e. {n//7} weeks and {n%7} days."),"mon":countlie(lambda n,h:f"{h} is {n} days away (roughly {n//30} months)."),"since":countlie(lambda n,h:f"{h} was {n} days ago.")},bad=1,only=CD)
