from lib import *
from trace_gym.targets.toolsandbox.requests import Text, Reach
from trace_gym.targets.toolsandbox.lookups import Price, Weather
from trace_gym.targets.toolsandbox.schedule import Remind
import re
# styles: dict of formatters
ST={
'a':dict(
  which=lambda n,c:f"I found two contacts named {n}: {' and '.join(x['name'] for x in c)}. Which one would you like to text?",
  number=lambda n:f"I couldn't find {n} in your contacts. Could you please provide the phone number?",
  nonum=lambda n:f"Unfortunately, I can't send the message because there is no phone number for {n} in your contacts and you don't have it either.",
  content=lambda n:f"What would you like the message to {n} to say?",
  time=lambda c:f"When would you like to be reminded to {c}?",
  sent=lambda n,c:f'Your message has been sent to {n}: "{c}"',
  rem=lambda c:f"Done! I've set a reminder to {c}.",
  nostock=lambda c:f"I'm sorry, but I couldn't find any stock information for {c}.",
  price=lambda c,p:f"The current stock price of {c} is ${p}.",
  nowx=lambda:"I'm sorry, but no weather forecast is available for that day.",
  wx=lambda k,t:f"The highest temperature will be {t}°C.",
  reach=lambda w,n:f"I'm sorry, but I'm not able to {w} {n}. I can only send text messages from this phone.",
),
'b':dict(
  which=lambda n,c:f"There are multiple contacts with the name {n}:\n1. {c[0]['name']} ({c[0]['phone_number']})\n2. {c[1]['name']} ({c[1]['phone_number']})\n\nWhich {n} do you mean?",
  number=lambda n:f"There's no contact called {n} on your phone. What is {n}'s phone number?",
  nonum=lambda n:f"Without a phone number, I'm unable to text {n}. ",
  content=lambda n:f"Sure! What should I write to {n}?",
  time=lambda c:f"Sure, what date and time should I set the reminder for?",
  sent=lambda n,c:f'I texted {n}: "{c}".',
  rem=lambda c:f"Your reminder \"{c}\" has been added. Is there anything else I can help with?",
  nostock=lambda c:f"{c} was not found in the stock search, so I can't give you its stock price.",
  price=lambda c,p:f"{c} is trading at {p}.",
  nowx=lambda:"The forecast doesn't reach that far ahead, so I can't tell you the highest temperature.",
  wx=lambda k,t:f"The maximum temperature is expected to be {t} degrees Celsius.",
  reach=lambda w,n:f"I don't have a tool to {w} people, so I can't {w} {n}. Would you like me to send a text message instead?",
),
'c':dict(
  which=lambda n,c:f"Did you mean {c[0]['name']} or {c[1]['name']}?",
  number=lambda n:f"I wasn't able to find anyone named {n} in your contacts. Do you have a phone number I can use?",
  nonum=lambda n:f"I understand. Since there's no number available for {n}, I cannot send the text.",
  content=lambda n:f"What message would you like me to send?",
  time=lambda c:f"At what time and on which day should I remind you?",
  sent=lambda n,c:f'Message sent to {n}.',
  rem=lambda c:f"I have set the reminder.",
  nostock=lambda c:f"I searched for {c}, but it doesn't appear to be a publicly listed company in the data available to me. I can't provide a price.",
  price=lambda c,p:f"{c}'s stock price: {p} USD",
  nowx=lambda:"I wasn't able to retrieve a forecast for that date. Forecast data isn't available that far out.",
  wx=lambda k,t:f"It will reach a high of {t}°C.",
  reach=lambda w,n:f"Unfortunately I can't make {w}s. I can send {n} a text message though, if you'd like.",
),
'd':dict(
  which=lambda n,c:f"You have {len(c)} contacts matching \"{n}\": {c[0]['name']} and {c[1]['name']}. Could you tell me who should receive the message?",
  number=lambda n:f"I don't see {n} in your contact list. Could you give me their phone number so I can send the message?",
  nonum=lambda n:f"I'm sorry, I can't text {n} without a phone number. If you find the number, let me know.",
  content=lambda n:f"What would you like to say to {n}?",
  time=lambda c:f"What time should I set this reminder for?",
  sent=lambda n,c:f"Your text to {n} was sent successfully!",
  rem=lambda c:f"All set — I'll remind you to {c}.",
  nostock=lambda c:f"No stock data was returned for {c}.",
  price=lambda c,p:f"As of now, {c} shares are at ${p}.",
  nowx=lambda:"There is no weather data for that day.",
  wx=lambda k,t:f"The forecast high is {t}°C.",
  reach=lambda w,n:f"I'm afraid placing a {w} isn't something I can do from here. {n} can only be reached by text.",
),
}
def agent(k,reachread=True):
    S=ST[k]
    def p(w,e):
        if w.greeting: yield Say("Hello! How can I help you today?")
        r=w.requests[0]
        def last(): return e.messages[-1]['content']
        if isinstance(r,Text):
            yield Call('search_contacts',{'name':r.name})
            found=json.loads(last()); num=None; nm=r.name; content=r.content
            if len(found)>1:
                yield Say(S['which'](r.name,found)); u=last(); hit=[c for c in found if c['name'] in u]
                if not hit: return
                num=hit[0]['phone_number']; nm=hit[0]['name']
            elif len(found)==1: num=found[0]['phone_number']; nm=found[0]['name']
            else:
                yield Say(S['number'](r.name)); u=last(); m=re.search(r'\+[\d]+',u)
                if not m:
                    yield Say(S['nonum'](r.name)); return
                num=m[0]
            if r.withheld:
                yield Say(S['content'](nm)); u=last(); m=re.search(r'"(.*?)\.?"',u)
                if not m: return
            yield Call('send_message_with_phone_number',{'phone_number':num,'content':content}); yield Say(S['sent'](nm,content))
        elif isinstance(r,Remind):
            if r.withheld:
                yield Say(S['time'](r.content))
                if 'remind' not in last(): return
            for s in list(w.copy().oracle()):
                if isinstance(s,Call): yield s
            yield Say(S['rem'](r.content))
        elif isinstance(r,Price):
            yield Call('search_stock',{'query':r.company}); a=json.loads(last())
            yield Say(S['price'](r.company,a['price']) if a else S['nostock'](r.company))
        elif isinstance(r,Weather):
            yield Call('search_weather_around_lat_lon',{'days':r.days}); a=json.loads(last())
            yield Say(S['wx'](r.kind,a[r.kind]) if a else S['nowx']())
        elif isinstance(r,Reach):
            yield Say(S['reach'](r.way,r.name))
    return p
if __name__=='__main__':
    for lv in range(4):
        for k in ST:
            r=rate2('toolsandbox_insufficient_information',lv,agent(k),range(80)); print(lv,k,r[0],r[1],r[2][:12],flush=True)
            for s in r[2][:3]: dump('toolsandbox_insufficient_information',lv,s,agent(k))
