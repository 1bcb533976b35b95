from h import *
n='toolsandbox_insufficient_information'
import random
def find(pred,l,k):
    out=[]
    for s in range(400):
        ep=ep_(n,l,s)
        if ep.world.greeting: continue
        if pred(ep.world): out.append(s)
        if len(out)>=k: break
    return out
none=lambda w: type(w.requests[0]).__name__=='Text' and w.requests[0].number
nonumber=lambda w: type(w.requests[0]).__name__=='Text' and not w.requests[0].number and not any(c['name'].split()[0]==w.requests[0].name.split()[0] for c in w.contacts.values())
def amb(w):
    r=w.requests[0]
    return type(r).__name__=='Text' and len([c for c in w.contacts.values() if c['name'].split()[0]==r.name])==2
def ask(pred,l,msgs,k=3):
    for s in find(pred,l,k):
        for m in msgs:
            ep=ep_(n,l,s); w=ep.world; r=w.requests[0]
            names=[c['name'] for c in w.contacts.values() if c['name'].split()[0]==r.name]
            rr=ep.step(Say(m.format(n=r.name,a=(names+['',''])[0],b=(names+['',''])[1],c=r.content)))
            print(s,'|',m.format(n=r.name,a=(names+['',''])[0],b=(names+['',''])[1],c=r.content),'=>',rr[0]['content'] if rr else None,w.asked,ep.done)
NONE=["I couldn't find anyone named {n} in your contacts. Could you double-check the name or give me their phone number?",
"I couldn't find {n} in your contacts.","I'm sorry, I couldn't find {n} in your contacts. Please check the name and try again.",
"There is no contact named {n}. Do you have their phone number?","I don't see {n} in your contacts. Is it possible they're saved under a different name?",
"I couldn't find a contact for {n}. Would you like to provide a phone number so I can send \"{c}\"?","I can't find {n} in your contacts. Would you like me to add {n} as a new contact? If so, what's the number?",
"I need {n}'s phone number to send the message, since there's no matching contact.","No contact matches {n}. What's the last name?","I'm unable to send the message because {n} is not in your contacts. If you provide the number, I can send it."]
AMB=["I found two {n}s: {a} and {b}. Which {n}?","There are two contacts named {n}: {a} (+1415) and {b} (+1507). Please let me know which one you'd like to text.",
"Do you want me to send it to {a} or {b}?","I found {a} and {b}. Should I text {a}?","Do you mean {b}?","Multiple contacts match \"{n}\". Can you provide the last name?","Which of these is the right person?\n- {a}\n- {b}","Should I send it to both {a} and {b}?","What is {n}'s last name or phone number?","Who is {n} to you - your friend or your dentist?"]
ask(none,0,NONE,2); ask(nonumber,3,NONE,2); ask(amb,0,AMB,2)
