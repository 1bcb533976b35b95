from h import *
import hashlib,json
def iter_(w):
    for st in w.oracle(): yield st
for E in "tau2_retail_multi_step tau2_baggage_allowance tau2_passenger_correction toolsandbox_datetime tau2_precondition tau2_retail_structured_data toolsandbox_permission_recovery tau2_conditional_instructions tau2_adversarial_policy_compliance tau2_refund_explanation".split():
    h=hashlib.sha256(); ok=n=0
    for l in range(3):
        for s in range(50):
            ep,_=play(E,l,s,lambda w,ep: iter_(w)); h.update(json.dumps(ep.messages).encode()); ok+=ep.score.success; n+=1
    print(E,h.hexdigest()[:16],ok,n)
