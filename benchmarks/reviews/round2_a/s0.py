from h import *
for e,l in [("tau2_adversarial_policy_compliance",3),("tau2_multi_step",3),("tau2_intent_revision",2),("tau2_claim_verification",3),("tau2_baggage_allowance",3),("tau2_handover_judgement",2),("tau2_precondition",3),("tau2_retail_tool_precision",3),("toolsandbox_insufficient_information",2),("toolsandbox_datetime",2)]:
    print("#######",e,l); show(oracle(e,l,7))
