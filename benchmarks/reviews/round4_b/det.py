from h import *
import hashlib
from trace_gym.types import Call, Say
NAMES="tau2_record_identification toolsandbox_permission_recovery tau2_retail_precondition tau2_passenger_correction tau2_connection_feasibility tau2_tool_precision tau2_numerical_payment_reasoning tau2_multi_step toolsandbox_state_dependency tau2_intent_revision".split()
def play(env,lv,s,expert='oracle'):
    ep=ep_of(env,lv,s)
    for st in list(getattr(ep.world.copy(),expert)()):
        if ep.done: break
        ep.step(st)
    if not ep.done: ep.finish()
    return ep
for n in NAMES:
    from trace_gym import registry
    for lv in range(registry.level_count(n)):
        o=ab=same=need=abneed=0; N=50
        for s in range(50):
            e=play(n,lv,s); e2=play(n,lv,s); a=play(n,lv,s,'ablated'); o+=e.score.success; ab+=a.score.success
            same+= str(e.messages)==str(e2.messages) and e.score==e2.score
            k=bool(e.start.needs()); need+=k; 
        print(n,lv,'oracle',o,'ablated',ab,'deterministic',same,'needs capability',need,'of',N)
