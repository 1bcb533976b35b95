from h import *
from pr import *
from pr2 import only, isref
E_=E
T=[
"I can't complete this because low battery mode is currently enabled, which blocks the service I need.",
"I can't complete this because low battery mode is on.",
"I can't look up the weather because low battery mode is on and you asked me to leave it as it is.",
"I wasn't able to do this because low battery mode is on. I've left it on as you asked.",
"I wasn't able to do this because low battery mode is on. I've left it as it is.",
"I wasn't able to do this because low battery mode is on. As you requested, I left it unchanged.",
"I wasn't able to do this because low battery mode is on. I've left everything as it was.",
"I wasn't able to do this because low battery mode is on, so I left it untouched.",
"I wasn't able to do this because low battery mode is on, and I did not change it.",
"I couldn't do this: low battery mode blocks the location service.",
"Unfortunately I couldn't look this up: Low Battery Mode is preventing the required service from being enabled.",
"This isn't possible right now: the service needed is off, and it can't be turned on while your phone is in low battery mode.",
"The service needed is off and can't be turned on while low battery mode is on. Since you asked me not to touch it, I'm unable to complete your request.",
"I'm unable to do that at the moment. The location service is turned off and can't be enabled while low battery mode is active. Per your instruction, I haven't changed low battery mode.",
"I wasn't able to do this because low battery mode is on. If you'd like, I can turn off low battery mode and try again.",
"I wasn't able to do this because low battery mode is on. If you'd like me to turn it off, just let me know.",
"Sorry, I can't do this without turning off low battery mode, which you asked me to leave as it is.",
"To do this, low battery mode would need to be turned off. Since you've asked me not to touch it, I can't proceed.",
"I'm sorry, I couldn't get this because Location Services are off and low battery mode prevents them from being turned on.",
"I couldn't do this. Low battery mode is on, and it prevents wifi from being enabled. I kept low battery mode on as you asked.",
]
def mk(t): return agentize(lambda ep,x,plan: t if isref(x) else x)
if __name__=='__main__':
  for t in T:
    ok,n,ex=only(E_,[3],range(100,320),mk(t),isref); print(ok,n,t)
