from trace_gym.world import asserted
from trace_gym.statements.values import find_values
from trace_gym.statements.text import normalize
from trace_gym.statements.roles import roles_of
from trace_gym.statements.claims import attitude
F=[150,200,250]
for T in ["Paid bags: 3 x $50 = $150","Your bags have been added to BZFJYE. $150 has been charged to your gift card."]:
    t=normalize(T)
    print([(v.value,v.unit,set(roles_of(t,v)),attitude(t,v)) for v in find_values(t)])
V=["Paid bags: 3 x $50 = $150","Paid bags: 3 (3 × $50 = $150)","- **Paid bags:** 3 ($150)","Paid bags: 3, for $150","3 paid bags: $150","3 paid bags × $50 = $150","3 paid bags at $50 each = $150","You have 3 paid bags, which cost $150 in total","Number of paid bags: 3 (at $50 each): $150","3 bags will be paid: 3 x $50 = $150","The 3 additional bags will be paid at $50 each, for a total of $150","Total to be paid: $150","$150 to be paid with your gift card","The amount to be paid is $150.","Additional bags to be paid: 3 × $50 = $150","6 bags in total, 3 of them paid: $150 charged to gift card","Bags: 6 total (3 free, 3 paid at $50 each = $150)","Non-free bags: 3 × $50 = $150","The cost is $150 (3 × $50)","That's 3 extra bags at $50 each, so $150."]
for T in V:
    S=[T,"Your bags have been added. $150 has been charged to your gift card."]
    print([asserted(150,F,[T],"charge") or asserted(150,F,[T],"fee"),asserted(150,F,S,"charge") or asserted(150,F,S,"fee")],T)
