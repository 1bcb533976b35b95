from h import *
from trace_gym.world import asserted
from trace_gym.targets.tau2.prices import wrong_fares
for t in ["The total is $285, paid with your gift card. The refund is $285.","The total is $285. It was paid with your gift card. The refund is $285.","I can cancel ABC. The total is $285, paid with your card. You will be refunded $285.","You will be refunded $285. The total is $285, paid with your card.","The total is $285, paid with your card. You will get $285 back.", "The total is $285, charged to your card. You will be refunded $285.","$285, paid with your card. You will be refunded $285.","$200, paid with your card. You will be refunded $285."]:
    print(asserted(285,{100,200},[t],"refund"),asserted(285,(),[t],"refund"),t)
