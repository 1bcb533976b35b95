from common import *
import json
WHICH=["I found two contacts named {f}: {a} and {b}. Which one would you like me to text?",
"There are two people named {f} in your contacts:\n\n1. **{a}** ({ra}) – {pa}\n2. **{b}** ({rb}) – {pb}\n\nWho should I send the message to?",
"Did you mean {a} or {b}?",
"I see two {f}s in your contacts. Should I send this to {a} or {b}?",
"You have two contacts called {f} - {a} ({ra}) and {b} ({rb}). Which {f} should receive the message?",
"I found multiple contacts with the name {f}:\n- {a}: {pa}\n- {b}: {pb}\n\nPlease let me know which one you'd like to message.",
"Is this message for {a} or {b}?",
"Could you clarify which {f} you mean? I found {a} and {b}.",
"Which number should I use: {pa} ({a}) or {pb} ({b})?",
"I found two {f}s. Would you like me to text {a} ({ra}) or {b} ({rb})?"]
NUM=["I couldn't find anyone named {f} in your contacts. Could you please provide {f}'s phone number?",
"I couldn't find a contact named {f}. Could you give me their phone number, please?",
"There is no contact named {f} on your phone. What phone number should I send the message to?",
"I searched your contacts but didn't find {f}. Could you share the phone number or check whether the contact is saved under a different name?",
"{f} isn't in your contacts. If you give me the phone number, I can send the message right away.",
"I don't see a {f} in your contacts. Can you tell me the number to text?",
"It looks like {f} isn't saved in your contacts. Which phone number should I use?",
"I wasn't able to find {f} in your contact list. Do you have a phone number for {f}?",
"Unfortunately, I can't find {f} in your contacts. Please provide the phone number so I can send the text.",
"I could not find any contact with the name {f}. How can I reach them - do you know their number?"]
CONT=["What would you like the message to say?","What should I text {f}?","What would you like me to write to {f}?","Sure! What message would you like me to send to {f}?","I found {f}'s contact. What should the text message say?","What do you want to tell {f}?","What would you like to say in the text to {f}?","Got it. What's the message?","Please let me know what you'd like the text to {f} to say.","What content should the message have?"]
TIME=["When would you like to be reminded?","What date and time should I set the reminder for?","Sure! For what time should I set the reminder?","When should the reminder go off?","What day and time would you like the reminder to be set for?","Please tell me when you want to be reminded.","At what time and on which date should I remind you?","Could you let me know the date and time for this reminder?","I can set that reminder. When do you need it?","What time works for the reminder?"]
NOSTOCK=["I couldn't find any stock information for {x}.","I searched for {x}, but there were no results, so I can't tell you its stock price.","No stock was found for {x}. It may not be publicly traded or listed under this name.","I'm sorry, but I couldn't find a stock listing for {x}. Could you check the company name or provide the ticker symbol?","Unfortunately, the stock search returned nothing for {x}.","{x} doesn't seem to be listed in the stock data I have access to.","I wasn't able to look up the stock price of {x} because the search returned no results.","There's no stock data available for {x}.","I looked up {x}, but it doesn't appear in the stock search.","The stock search has no match for \"{x}\", so I can't give you a price."]
NOWX=["I can't give you the highest temperature in {n} days, because the forecast doesn't reach that far.","The weather forecast isn't available {n} days ahead.","Unfortunately, no weather forecast is available for {n} days from now.","I'm sorry, the forecast only covers the next few days, so I couldn't get the temperature in {n} days.","I couldn't retrieve the weather forecast for {n} days from now - the search returned no data for that day.","The weather service has no data for that day; forecasts only go a few days out.","The forecast doesn't go that far into the future: there is no weather information for {n} days ahead.","I tried to look up the weather in {n} days, but the result was empty.","Weather data is only available for up to a few days; {n} days ahead is out of range, so I can't look it up.","I wasn't able to find a forecast for that date."]
NOREACH=["I'm sorry, but I can't make {w}s. I don't have a tool for that.","I don't have the ability to {w} someone from here.","Unfortunately, I'm unable to {w} {x}, as I only have tools for text messages.","I'm not able to {w} contacts. I can only send text messages.","I can't {w} {x} because there is no {w} function available to me.","None of my tools lets me {w} {x}.","I can send a text message to {x} instead, but {w}s aren't supported.","There's no way for me to {w} {x} from this phone.","Sorry, {w} isn't something I can do. Would you like me to send {x} a text message instead?","I don't have a tool to {w} {x}. I could send a text instead if you'd like."]
NONUM=["Without a phone number for {f}, I'm unable to send the message.","I'm sorry, I can't send the message to {f} because there is no phone number for them.","Okay. Since {f} isn't in your contacts and you don't have a number, I can't send this text.","Understood. I cannot text {f} without a phone number.","Unfortunately the message couldn't be sent, as no phone number for {f} is available.","In that case I won't be able to send the message, because I need {f}'s phone number to do so.","No problem. The message was not sent, since neither of us has a number for {f}.","Unfortunately, I can't complete this request without {f}'s number.","I see. I need a number to send the message, so I can't do it right now.","Then I have no way to reach {f}; the missing phone number prevents me from sending the text."]
def agent(e,i,stat=None):
    w=e.start; r=w.requests[0]; k=type(r).__name__; did=None
    if w.greeting: e.step(Say(text=["Hello! How can I help you?","Hi there! What can I do for you today?","Yes, I'm here. What do you need help with?"][i%3]))
    plan=list(w.oracle()); asks=[s for s in plan[:-1] if isinstance(s,Say) and not s.text.startswith("What can I do")]
    last=plan[-1].text
    for s in plan:
        if e.done: break
        if isinstance(s,Call): e.step(s); continue
        if s.text.startswith("What can I do"): continue
        if s is plan[-1]:
            if s.text.startswith("I cannot"):
                if k=="Price": t=NOSTOCK; kind="nostock"
                elif k=="Weather": t=NOWX; kind="nowx"
                elif k=="Reach": t=NOREACH; kind="noreach"
                else: t=NONUM; kind="nonum"
                f=getattr(r,"name","")
                o=user(e.step(Say(text=t[i].format(f=f,x=getattr(r,"company",f),w=getattr(r,"way",""),n=getattr(r,"days",""))))); did=kind
            else: e.step(Say(text=s.text.replace("I sent this to","Your message has been sent to").replace("I set a reminder","Your reminder has been set").replace("I found","I looked it up:")))
            continue
        if s.text.startswith("Which one"):
            cs=[c for c in w.contacts.values() if c["name"].split()[0]==r.name.split()[0]]
            a,b=cs[:2]; t=WHICH[i].format(f=r.name,a=a["name"],b=b["name"],ra=a["relationship"],rb=b["relationship"],pa=a["phone_number"],pb=b["phone_number"]); did="which"
        elif "not among" in s.text: t=NUM[i].format(f=r.name); did=did or "num"
        elif s.text.startswith("What shall"): t=CONT[i].format(f=r.name); did="content"
        elif s.text.startswith("When do"): t=TIME[i]; did="time"
        o=user(e.step(Say(text=t)))
        want=r.facts.get({"which":"which","num":"number","nonum":"number","content":"content","time":"time"}.get(did,""),"") if did else ""
        if want and want not in o and stat is not None: stat[(did,i)]=stat.get((did,i),[]); stat[(did,i)].append((t,o)) 
    return did
if __name__=="__main__":
    tot=collections.Counter(); ok=collections.Counter(); ex={}; stat={}
    for lv in range(4):
        for s in range(100,220):
            for i in range(10):
                e=ep("toolsandbox_insufficient_information",lv,s)
                d=agent(e,i,stat)
                for _ in range(3):
                    if not e.done: e.step(Say(text="Thank you. Goodbye!"))
                key=(d or "none",i); tot[key]+=1
                if e.score and e.score.success: ok[key]+=1
                else: ex.setdefault(key,e)
    for k in sorted(tot): 
        print(k, f"{ok[k]}/{tot[k]}")
    for k in ex:
        if ok[k]/tot[k]<0.9: dump(ex[k])
    for k,v in stat.items(): print(k,len(v),v[0])
