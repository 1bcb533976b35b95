"""determinism, gold in the first messages, further refusals in retail_precondition"""
from h import *
from generic import ENVS
import hashlib
for N in ENVS:
    bad=0;leak=0;tot=0
    for lv in range(registry.level_count(N)):
        for s in range(100,130):
            a=registry.start_episode(Scenario(env=N,level=lv,seed=s)); b=registry.start_episode(Scenario(env=N,level=lv,seed=s))
            A=list(a.world.copy().oracle());B=list(b.world.copy().oracle()); tot+=1
            bad+= str(A)!=str(B) or a.messages!=b.messages or a.state_hash!=b.state_hash
    print(N,'nondeterministic',bad,'of',tot)
