from w2 import *
from trace_gym.targets.toolsandbox.requests import Reach,Text
from trace_gym.targets.toolsandbox.lookups import Price,Weather
from trace_gym.targets.toolsandbox.schedule import Remind
E="toolsandbox_insufficient_information"
def C(t,**a): return Call(tool=t,arguments=a)
import ast
def last(ep): return ep.messages[-1]["content"]
def J(ans): 
    try: return json.loads(ans[0])
    except Exception: return ans[0]
RETRY={"wifi":"set_wifi_status","cellular":"set_cellular_service_status","location":"set_location_service_status"}
def call(t,**a):
    r=yield C(t,**a)
    for _ in range(3):
        if not str(r[0]).startswith("Error"): break
        s=str(r[0]).lower()
        if "battery" in s: yield C("set_low_battery_mode_status",on=False)
        for k,v in RETRY.items():
            if k in s: yield C(v,on=True)
        r=yield C(t,**a)
    return J(r)
Q0=["I couldn't find {n} in your contacts. Could you please provide their phone number?","There is no contact named {n}. What phone number should I send the message to?","I wasn't able to find anyone called {n} in your contact list. Could you give me the number or check the name?","It looks like {n} isn't in your contacts. Please share their phone number so I can send the message."]
Q2=["I found two contacts named {n}: {a} and {b}. Which one would you like to text?","There are multiple contacts matching \"{n}\":\n1. {a}\n2. {b}\n\nWhich one should I send the message to?","Do you mean {a} or {b}?","I see both {a} and {b} in your contacts. Who should receive the message?"]
QC=["What would you like the message to say?","Sure! What should I write to {n}?","I found {n}. What message would you like me to send?","Could you tell me the content of the message?"]
QT=["When would you like to be reminded?","What date and time should I set the reminder for?","Sure, at what time should I remind you?","Please tell me the date and time for the reminder."]
NN=["I can't send the message to {n}, because I don't have a phone number.","Without a phone number, I'm unable to text {n}. If you get it later, let me know.","I'm sorry, but I can't send the message without {n}'s phone number.","Unfortunately I cannot text {n} since neither your contacts nor you have the number."]
def good(o={}):
  def f(ep,rng):
    w=ep.world; w0=w.copy(); r=w0.requests[0]
    if w0.greeting: a=yield S("Hello! How can I help you?")
    P=lambda L: L[o.get("k",rng.randrange(4))]
    if isinstance(r,Text):
        found=yield from call("search_contacts",name=r.name)
        num=None
        if len(found)==1: num=found[0]["phone_number"]; full=found[0]["name"]
        elif len(found)>1:
            if all(x["name"].split()[0]!=r.name.split()[0] for x in found): print("SIMILAR",r.name,[x["name"] for x in found])
            a=yield S(P(Q2).format(n=r.name,a=found[0]["name"]+(f" ({found[0]['phone_number']})" if o.get("ph") else ""),b=" and ".join(x["name"]+(f" ({x['phone_number']})" if o.get("ph") else "") for x in found[1:])))
            m=[x for x in found if a and x["name"] in a[0]]
            if not m: return
            num=m[0]["phone_number"]
        else:
            a=yield S(P(Q0).format(n=r.name)); m=re.search(r"\+\d+",a[0]) if a else None
            if not m:
                a=yield S(P(NN).format(n=r.name)); 
                return
            num=m[0]
        content=r.content
        if r.withheld:
            a=yield S(P(QC).format(n=r.name)); 
            if not a or r.content not in a[0]: print("NOCONTENT",a); return
        x=yield from call("send_message_with_phone_number",phone_number=num,content=content)
        yield S([f"I've sent your message to {r.name}.",f"Done! Your message \"{content}\" has been sent to {r.name} at {num}.",f"Your message has been sent to {r.name}. Is there anything else I can help you with?",f"I texted {r.name}: \"{content}\"."][rng.randrange(4)])
    elif isinstance(r,Reach):
        yield from call("search_contacts",name=r.name)
        yield S([f"I'm sorry, but I can't {r.way} anyone. I don't have a tool for that.",f"Unfortunately I'm not able to {r.way} {r.name}, as I have no tool for it. I can send {r.name.split()[0]} a text message instead if you'd like.",f"I can't make {r.way}s from here. Would you like me to send {r.name} a text message instead?",f"I'm unable to {r.way} {r.name}: this phone assistant only supports text messages."][o.get("k",rng.randrange(4))])
    elif isinstance(r,Price):
        x=yield from call("search_stock",query=r.company)
        if isinstance(x,dict) and x.get("price"):
            yield S([f"The stock price of {r.company} is {x['price']} USD.",f"{x['name']} ({x.get('symbol','')}) is currently trading at ${x['price']:.2f}.",f"The current stock price of {r.company} is ${x['price']}. Anything else?",f"{r.company}: {x['price']}"][rng.randrange(4)])
        else:
            yield S([f"I couldn't find a stock for {r.company}.",f"I'm sorry, no stock information is available for {r.company}.",f"Unfortunately, my search returned no results for \"{r.company}\", so I can't tell you its stock price.",f"I wasn't able to find the stock price of {r.company}. It may not be publicly traded."][o.get("k",rng.randrange(4))])
    elif isinstance(r,Weather):
        x=yield from call("search_weather_around_lat_lon",days=r.days)
        if isinstance(x,dict) and "max_temperature" in x: yield S(f"The highest temperature {('today' if r.days==0 else 'tomorrow' if r.days==1 else f'in {r.days} days')} will be {x['max_temperature']}°C.")
        else: yield S([f"I'm sorry, I couldn't find a weather forecast for {r.days} days from now.",f"The weather forecast isn't available that far ahead, so I can't tell you the temperature.",f"Unfortunately there is no forecast for that day.",f"I can't look up the highest temperature in {r.days} days, because no data is available."][o.get("k",rng.randrange(4))])
    elif isinstance(r,Remind):
        if r.withheld:
            a=yield S(P(QT))
            if not a or "at " not in a[0]: print("NOTIME",a)
        t=r.when.due(w0.now)
        yield from call("add_reminder",content=r.content,reminder_timestamp=t)
        yield S([f"I've set a reminder to {r.content}.",f"Done! I'll remind you to {r.content} {r.when}.",f"Your reminder to {r.content} has been set for {r.when.on} at {r.when.hour:02d}:{r.when.minute:02d} UTC. Anything else?",f"The reminder is set."][rng.randrange(4)])
  return f
if __name__=="__main__":
    table(E,range(4),120,{"good":good(),"phones":good({"ph":1})},bad=3)
