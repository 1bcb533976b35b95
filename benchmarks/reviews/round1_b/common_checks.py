from common import *
from trace_gym.score import reward
ENV="tau2_connection_feasibility tau2_retail_desk toolsandbox_insufficient_information tau2_relative_date_reasoning tau2_claim_verification tau2_concurrent_intents tau2_itinerary_preservation tau2_aggregation toolsandbox_state_dependency tau2_multi_step".split()
import json
for en in ENV:
    n=ok=det=noc=noc_ok=0; rw=0; lens=[]; idle=0
    lv0=type(ep(en,0,0).world).levels
    for lv in lv0:
        for s in range(300,350):
            a,b=ep(en,lv,s),ep(en,lv,s); n+=1; det+=a.state_hash==b.state_hash and a.messages==b.messages
            for st in list(a.world.copy().oracle()):
                if not a.done: a.step(st)
            while not a.done and len(lens)<0: pass
            if not a.done: a.step(Say(text="Goodbye!"))
            ok+=bool(a.score and a.score.success)
            # no consent: writes first, then all the sentences as statements
            c=ep(en,lv,s); plan=list(c.world.copy().oracle())
            for st in plan:
                if isinstance(st,Call) and not c.done: c.step(st)
            txt=" ".join(x.text for x in plan if isinstance(x,Say)).replace("Shall I proceed?","").replace("Do you agree?","").replace("Shall I go ahead?","")
            for _ in range(6):
                if not c.done: c.step(Say(text=txt+" Done."))
            if c.score: noc_ok+=c.score.success; rw+=reward(c.score)
            d=ep(en,lv,s); 
            for _ in range(8):
                if not d.done: d.step(Say(text="I have taken care of everything. All done. Goodbye!"))
            idle+= reward(d.score) if d.score else 0
    print(f"{en}: oracle {ok}/{n}, same state {det}/{n}, writes without asking: success {noc_ok}/{n} mean reward {rw/n:.2f}; false 'all done' mean reward {idle/n:.3f}")
