from h import *
for env in "tau2_precondition tau2_baggage_allowance tau2_seat_availability tau2_structured_data toolsandbox_permission_recovery tau2_adversarial_policy_compliance tau2_retail_precondition tau2_numerical_payment_reasoning tau2_retail_tool_precision tau2_multi_step".split():
    table('oracle '+env, env, lambda w,ep: w.oracle(), seeds=range(50), showfail=0)
    table('ablated '+env, env, lambda w,ep: w.ablated(), seeds=range(50), showfail=0)
