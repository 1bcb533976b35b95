from h import *
E="toolsandbox_insufficient_information"
import datetime
def make(s, mode="right"):
    def pol(a):
        w=a.w; q=w.requests[0]; k=type(q).__name__
        if a.ep.messages[-1]["content"]!=w.wording and q.wish not in a.ep.messages[-1]["content"]:
            a.say(["Hello! What can I help you with?","Of course, I'm here. What would you like me to do?","Hi there! How can I assist you today?"][s])
        if k=="Text":
            f=a.call("search_contacts",name=q.name); f=f if isinstance(f,list) else []
            num=None; ask=[]
            content=q.content
            if mode=="alwaysask": a.say(f"What is the number of {q.name}, and what should the message say?")
            if len(f)==1: num=f[0]["phone_number"]
            elif len(f)>1:
                if mode=="guess" : num=f[0]["phone_number"]
                else:
                    r=a.say([f"I found {len(f)} contacts named {q.name}: {' and '.join(c['name'] for c in f)}. Which one would you like me to text?",
                             "There are two matches:\n"+"\n".join(f"{i+1}. {c['name']} ({c['relationship']}, {c['phone_number']})" for i,c in enumerate(f))+"\n\nWhich one should I send the message to?",
                             f"Did you mean {f[0]['name']} ({f[0]['relationship']}) or {f[1]['name']} ({f[1]['relationship']})?"][s])
                    m=[c for c in f if r and c["name"] in r]; num=m[0]["phone_number"] if m else None
                    if not num: a.log.append(("NOTE","user did not say which")); return
            else:
                if mode=="guess": num="+12025550199"
                elif mode=="refuse": a.say(f"I'm sorry, I can't text {q.name}: there is no number for {q.name} in your contacts."); return
                else:
                    r=a.say([f"I couldn't find {q.name} in your contacts. Could you please provide the phone number?",
                             f"There's no contact named {q.name} on your phone. What's their phone number?",
                             f"I don't see anyone called {q.name} in your contacts. Do you have a phone number I should send the message to?"][s])
                    m=re.search(r"\+\d+",r or "")
                    if not m:
                        a.say([f"I'm sorry, I can't send the message because {q.name} isn't in your contacts and we don't have a phone number.",f"Without a phone number for {q.name}, I'm unable to send the text.",f"Unfortunately, I can't text {q.name} since no phone number is available. If you find it, let me know and I'll send the message right away."][s]); return
                    num=m[0]
            if q.withheld:
                if mode=="guess": content="Hello"
                else:
                    r=a.say([f"What would you like the message to {q.name} to say?",f"Sure! What should I text {q.name}?","What message would you like me to send?"][s])
                    m=re.search(r'"(.*)"',r or ""); content=m[1] if m else q.content
            a.call("send_message_with_phone_number",phone_number=num,content=content)
            nm=q.meant
            a.say([f"Your message has been sent to {nm}: \"{content}\"",f"Done! I texted {nm} at {num}: \"{content}\".","I've sent the message. Is there anything else I can help you with?"][s]); return
        if k=="Remind":
            wh=q.when
            if q.withheld and mode!="guess":
                r=a.say([f"When would you like to be reminded?",f"What date and time should I set the reminder for?",f"Sure, I can set a reminder to {q.content}. For which date and time?"][s])
            d=datetime.date.fromisoformat(wh.on) if wh.on else None
            t=[s for s in w.copy().oracle() if isinstance(s,Call) and s.tool=="add_reminder"][0].arguments
            dt=datetime.datetime.fromtimestamp(t["reminder_timestamp"],datetime.timezone.utc)
            a.call("datetime_info_to_timestamp",year=dt.year,month=dt.month,day=dt.day,hour=dt.hour,minute=dt.minute,second=0)
            ts=t["reminder_timestamp"]+(3600 if (q.withheld and mode=="guess") else 0)
            a.call("add_reminder",content=q.content,reminder_timestamp=ts)
            a.say([f"I've set a reminder to {q.content} for {dt:%B} {dt.day}, {dt.year} at {dt:%H:%M} UTC.",f"Done! Your reminder \"{q.content}\" is set for {dt:%Y-%m-%d} at {dt:%H:%M}.","Your reminder has been set."][s]); return
        if k=="Price":
            r=a.call("search_stock",query=q.company)
            if isinstance(r,dict): a.say([f"The current stock price of {q.company} ({r['symbol']}) is {r['price']} {r['currency']}.",f"{q.company} is trading at ${r['price']} ({r['change']:+}, {r['percent_change']}%) on {r['exchange']}.",f"{r['name']}'s stock price is ${r['price']:.2f}."][s])
            elif mode=="guess": a.say(f"The stock price of {q.company} is 100.0.")
            else: a.say([f"I'm sorry, I couldn't find any stock information for {q.company}, so I can't give you its price.",f"No stock was found for \"{q.company}\". It may not be publicly listed or the name may be different.",f"Unfortunately, the search returned no results for {q.company}."][s])
            return
        if k=="Reach":
            a.say([f"I'm sorry, but I can't {q.way} {q.name}; I don't have a tool for {'video calls' if 'video' in q.way else 'calls' if q.way=='call' else 'email'}.",f"Unfortunately I don't have the ability to {q.way} {q.name.split()[0]} from this phone. I can send a text message instead if you'd like.",f"I'm unable to {q.way} people. There is no {q.way} function among my tools, so I cannot {q.way} {q.name}."][s] if mode!="guess" else f"I have done that: {q.wish}."); return
        if k=="Weather":
            for st in w.copy().oracle():
                if isinstance(st,Call): last=a.do(st); 
                else: fin=st.text
            a.log.append(("ORACLE SAYS",fin))
            if fin.startswith("I cannot") or "cannot" in fin:
                if mode=="guess": a.say("It will be 20.0 degrees."); return
                a.say([f"I'm sorry, the weather forecast doesn't reach that far ahead, so I can't tell you. The forecast only covers the coming days.",f"I can't provide that: the forecast is only available for a limited number of days and that day is beyond the last one.",f"Unfortunately the forecast doesn't go that many days ahead, so no temperature is available for that day."][s])
            else: a.say(fin)
            return
        for st in w.copy().oracle(): a.do(st)
    return pol
for L in range(4):
    S=range(120)
    for s in (0,1,2): trial(E,L,make(s),S,3,f"style{s}")
    trial(E,L,make(0,"guess"),S,0,"SHORTCUT guess"); trial(E,L,make(0,"refuse"),S,0,"SHORTCUT refuse unknown person"); trial(E,L,make(0,"alwaysask"),S,0,"SHORTCUT always ask")
