from common import *
import itin
from trace_gym.world import asserted
from trace_gym.statements import find_values
e=ep("tau2_itinerary_preservation",0,139)
itin.agent(e,3)
print(e.said, e.start.departs(list(e.start.moves)[0]))
for t in e.said: print([(v.kind,v.value) for v in find_values(t)], asserted("18:35",[],[t],"departure"))
for t in ["HAT298 PHL-MCO, 2024-05-20, 6:35 PM - 8:00 PM","1. HAT298 PHL-MCO, 2024-05-20, 6:35 PM - 8:00 PM","Done! Your new flight HAT298 leaves PHL at 6:35 PM.","leaves PHL at 6:35 PM.","2024-05-20, 6:35 PM - 8:00 PM\nPrice difference: $95 on credit_card_4782922."]:
    w=e.start.departs(list(e.start.moves)[0])[1]
    print([(v.kind,v.value) for v in find_values(t)], asserted("18:35",[],[t],"departure"), asserted("18:35",w,[t],"departure"), w)
