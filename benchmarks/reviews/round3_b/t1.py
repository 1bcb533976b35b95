from h import *
import itertools
n='toolsandbox_insufficient_information'
def mk(v):
    def f(t,k,ep):
        w=ep.world; r=w.requests[0]
        if t.startswith('What can I do'): return ["Hello! Yes, I'm here. How can I help you today?","Hi there! I'm happy to help with your phone. What would you like me to do?","Of course! What do you need done?","Hi! What do you need?"][v]
        m=re.match(r'Which one do you mean, (.*) or (.*)\?',t)
        if m:
            a,b=m.groups(); fn=a.split()[0]
            return [f"I found two contacts named {fn}: {a} and {b}. Which one would you like me to text?",
             f"There are two people named {fn} in your contacts:\n\n1. **{a}** (friend) – +14165550144\n2. **{b}** (coworker) – +15075550167\n\nWho should I send the message to?",
             f"You have more than one {fn} in your contacts - {a} and {b}. Could you clarify which {fn} you'd like to text?",
             f"I found multiple contacts named {fn}. Did you mean {a} or {b}?"][v]
        m=re.match(r'(.*) is not among your contacts',t)
        if m:
            a=m[1]
            return [f"I couldn't find a contact named {a}. Could you please provide {a}'s phone number so I can send the message?",
             f"I wasn't able to find anyone named {a} in your contacts. What phone number should I send the message to?",
             f"I searched your contacts but there's no {a}. Could you share the phone number, or check the name?",
             f"There's no {a} in your contact list. Please give me the number you'd like me to text."][v]
        if t.startswith('What shall the message'): return ["What would you like the message to say?",f"Sure! What would you like me to text {r.name}?",f"What message would you like me to send to {r.name}?","What should I write in the message?"][v]
        if t.startswith('When do you'): return ["When would you like to be reminded?",f"Sure, what date and time should I set the reminder to {r.content} for?","What date and time would you like the reminder for?","For when should I set it?"][v]
        m=re.match(r'I sent this to (.*): (".*")',t)
        if m: return [f"Done! I've sent the message to {m[1]}: {m[2]}",f"Your message {m[2]} has been sent to {m[1]}.",f"I sent {m[2]} to {m[1]}.",f"The text to {m[1]} has been sent successfully. Let me know if you need anything else!"][v]
        if t.startswith('I set a reminder'):
            return [f"Your reminder to {r.content} is set {r.when}.",f"Done! I've set a reminder to {r.content} {r.when} UTC.",f"I've created the reminder \"{r.content}\" for {r.when}.",f"All set! You'll be reminded to {r.content} {r.when}."][v]
        m=re.match(r'I found the stock price of (.*): (.*)\.$',t)
        if m: return [f"The current stock price of {m[1]} is ${m[2]}.",f"{m[1]} is trading at {m[2]} USD.",f"The stock price of {m[1]} (symbol ABC) is {m[2]} USD, with a change of -1.2% today.",f"{m[1]}: ${m[2]}"][v]
        m=re.match(r'I cannot look up the stock price of (.*): there',t)
        if m: return [f"I'm sorry, I couldn't find any stock information for {m[1]}.",f"I searched for {m[1]}, but no matching stock was found. It may not be publicly traded or may be listed under a different name.",f"Unfortunately, I was unable to find a stock price for {m[1]}. Could you double-check the company name or give me its ticker symbol?",f"The stock search returned no results for {m[1]}, so I can't give you its price."][v]
        m=re.match(r'I cannot text (.*?): ".*": there is no number',t)
        if m: return [f"I'm sorry, but without a phone number I can't send the message to {m[1]}.",f"Since {m[1]} isn't in your contacts and we don't have a phone number, I'm unable to send this message.",f"Unfortunately I cannot text {m[1]} because there's no phone number available for {m[1]}. If you find the number, let me know and I'll send it.",f"Understood. I can't send the text without {m[1]}'s number, so no message was sent."][v]
        m=re.match(r'I cannot (call|email|video call) (.*): there is no tool',t)
        if m:
            w={'call':'make phone calls','email':'send emails','video call':'make video calls'}[m[1]]
            return [f"I'm sorry, but I'm not able to {w}. I can only send text messages. Would you like me to text {m[2]} instead?",f"I don't have the ability to {w}, so I can't {m[1]} {m[2]}.",f"Unfortunately I can't {m[1]} {m[2]} because I don't have a tool to {w}. I could send a text message to {m[2]} if you'd like.",f"I'm unable to {w}. However, {m[2]}'s number is +14165550144 if you'd like to do it yourself."][v]
        m=re.match(r'I cannot look up the highest temperature here (.*): there',t)
        if m: return [f"I'm sorry, I couldn't find a weather forecast for {m[1][3:]} from now.",f"I was unable to get the temperature {m[1]}, because the weather forecast is only available for the next few days.",f"Unfortunately, no forecast data is available {m[1]}, so I can't tell you the highest temperature.",f"The weather service returned no data {m[1]}. I can check a nearer day if you'd like."][v]
        m=re.match(r'I found the highest temperature here (.*): (.*)\.$',t)
        if m: return [f"The highest temperature here {m[1]} will be {m[2]}°C.",f"The forecast high {m[1]} is {m[2]} degrees Celsius.",f"The maximum temperature at your location {m[1]} is expected to be {m[2]}°C.",f"High: {m[2]}°C"][v]
        print('UNMAPPED',t); return t
    return f
for l in range(4):
    for v in range(4):
        rate(n,l,mk(v),seeds=range(60),ex=3,label=f'v{v}')
