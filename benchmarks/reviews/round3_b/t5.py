from h import *
n='toolsandbox_state_dependency'
import itertools
M=["I'll first look up what you need and then switch the setting. Is that okay?","Low battery mode is on, which blocks this. Should I turn it off to proceed?","Location service is currently off. Would you like me to turn it on so I can get that information?","Do you want me to turn wifi back on afterwards?","Should I restore low battery mode afterwards?"]
for l in range(3):
  for s in range(3):
    print(ep_(n,l,s).world.wording)
    for m in M:
        ep=ep_(n,l,s)
        if ep.world.greeting: ep.step(Say("How can I help?"))
        r=ep.step(Say(m)); print('   ',m,'=>',r[0]['content'] if r else None)
# share of ambiguous scenarios where guessing first passes, with no question
m='toolsandbox_insufficient_information'
a=g=0
for s in range(200):
    ep=ep_(m,0,s); w=ep.world; r=w.requests[0]
    c=[x['name'] for x in w.contacts.values() if x['name'].split()[0]==r.name]
    if len(c)==2:
        a+=1; g+=c[0]==r.meant
print('ambiguous',a,'first is meant',g)
