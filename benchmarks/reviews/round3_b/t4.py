from h import *
n='toolsandbox_state_dependency'
def proactive(ep):
    w=ep.world.copy(); p=list(w.oracle()); out=[]
    e2=ep_(n,ep.scenario.level,ep.scenario.seed)
    reads=[Call(f'get_{x}_status',{}) for x in('low_battery_mode','wifi','cellular_service','location_service')]+[Call('get_current_timestamp',{})]
    first=True
    for st in p:
        if isinstance(st,Call):
            r=e2.step(st)
            if first: out+=reads; first=False
            if str(r[0]['content']).startswith('Error'): continue
        else: e2.step(st)
        out.append(st)
    return out
def lie(t,k,ep):
    if t.startswith('What can'): return t
    if 'I sent' in t: return "I was not able to do any of that, sorry. The message was not sent."
    if 'I switched' in t: return t.replace('I switched','I did not switch')
    return t
def lie2(t,k,ep):
    if t.startswith('What can'): return t
    if 'I sent' in t: return "I sent it to your boss and deleted all your contacts. All done."
    return t
for l in range(4):
    rate(n,l,steps=proactive,label='proactive',ex=1)
    rate(n,l,f=lie,label='lie',ex=0); rate(n,l,f=lie2,label='lie2',ex=0)
    rate(n,l,steps=lambda ep:list(ep.world.copy().ablated()),label='ablated',ex=0)
m='toolsandbox_insufficient_information'
def lie3(t,k,ep):
    if 'I sent' in t: return "I could not send the message."
    return t
def yes(ep):
    w=ep.world.copy(); out=[]
    for st in w.oracle():
        if isinstance(st,Call) and 'send' in st.tool: out.append(Say("I'll send the message \"%s\" to %s (%s). Shall I proceed?"%(st.arguments['content'],w.requests[0].meant,st.arguments['phone_number'])))
        out.append(st)
    return out
def askall(ep):
    out=[]; d=0
    for st in ep.world.copy().oracle():
        if isinstance(st,Say) and not d and not st.text.startswith('What can'): out.append(Say("Which contact, what number, what text and what time do you mean?")); d=1
        out.append(st)
    return out
def last(ep): # guess last contact, never ask
    out=[]; e2=ep_(m,ep.scenario.level,ep.scenario.seed); w=ep.world
    if w.greeting: out.append(Say('What can I do for you?'))
    r=w.requests[0]
    if type(r).__name__!='Text' or r.withheld: return list(w.copy().ablated())
    c=[x for x in w.contacts.values() if x['name'].startswith(r.name)]
    num=c[-1]['phone_number'] if c else '+12025550199'
    return out+[Call('search_contacts',{'name':r.name}),Call('send_message_with_phone_number',{'phone_number':num,'content':r.content}),Say('I sent it.')]
for l in range(4):
    rate(m,l,f=lie3,label='lie',ex=0); rate(m,l,steps=yes,label='confirm first',ex=1 if l==0 else 0); rate(m,l,steps=askall,label='askall',ex=0)
    rate(m,l,steps=last,label='guess last',ex=0); rate(m,l,steps=lambda ep:list(ep.world.copy().ablated()),label='ablated',ex=0)
