from lib import *
from lib import _rw
E='toolsandbox_datetime tau2_concurrent_intents tau2_retail_structured_data tau2_adversarial_policy_compliance tau2_aggregation toolsandbox_insufficient_information tau2_retail_tool_precision tau2_claim_verification tau2_retail_multi_step tau2_precondition'.split()
for env in E:
    bad=0; rew=[]; dup=Counter()
    for lv in range(4):
        for s in range(50):
            a,b=ep(env,lv,s),ep(env,lv,s); bad+=a.state_hash!=b.state_hash; dup[a.messages[-1]['content']]+=1
            a.step(Say("Hello, how can I help you?")); a.step(Call("no_such_tool",{"x":1})); a.step(Say("I am sorry, I cannot help with that.")); rew.append(_rw(a.finish()))
    print(env,'hash differs',bad,'same opening',sum(v-1 for v in dup.values()),'lazy refuse reward',round(sum(rew)/200,3),flush=True)
