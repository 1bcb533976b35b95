from h import *
from trace_gym.targets.tau2.airline import SKILLS
def ask(env,l,seed,*texts):
    ep=registry.episode(Scenario(env=env,level=l,seed=seed)); print('##',env,l,seed,ep.messages[1]['content'])
    for t in texts:
        if ep.done: print('   ENDED'); break
        a=ep.step(Say(t.format(**vars(ep.world)) if '{' in t else t))
        print('   A>',t,'\n   U>',a[-1]['content'] if a else 'ENDS')
if __name__=='__main__':
  Q=["Hello! I'd be happy to help with that. Let me look up your reservation first.","Which payment method would you like to use for any fare difference?","Your reservation was paid with a gift card. Should I use that same gift card?","There are two flights: HAT100 at $200 departing 9:00 and HAT101 at $180 departing 15:00. Which one would you prefer?","The cheapest option is HAT101 at $180, $20 more than you paid. Is that okay?","Do you confirm the change? (yes/no)","Could you confirm your date of birth?","Is there anything else you would like me to change?"]
  ask('tau2_structured_data',2,3,*Q)
  ask('tau2_tool_precision',3,5,"Which card should I charge?","Just to check: is it the card ending in 1234?","Would you like to add travel insurance?","How many bags would you like?","The price is $300. Do you still want to go ahead?","The total is $300.", "Your request has been received and I am processing it.","Done!")
  ask('tau2_airline_desk',1,3,"Could you tell me the reason for the cancellation?","Which payment method should be used for the upgrade?","I can cancel the first one. For the second one, there is a charge of $200. Would you like to proceed with both?","I have cancelled the first one. Next I need your confirmation for the second: shall I upgrade?","Do you have travel insurance?","The cancellation is done. Anything else?")
