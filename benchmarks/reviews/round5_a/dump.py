import sys
sys.dont_write_bytecode=True
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
name=sys.argv[1]; n=int(sys.argv[2])
print(registry.level_count(name))
sysdone=False
for lv in range(registry.level_count(name)):
  for seed in range(7,7+n):
    ep=registry.start_episode(Scenario(env=name,level=lv,seed=seed))
    ms=ep.messages
    for m in ms:
        r=m['role'] if isinstance(m,dict) else m.role
        if r=='system' and sysdone: continue
        if r=='system': sysdone=True
        print(f'[{lv}/{seed}] {r}:', (m.get('content') if isinstance(m,dict) else m.content))
    k=len(ms)
    for a in list(ep.world.copy().oracle()):
        ep.step(a)
    for m in ep.messages[k:]: print(m if not isinstance(m,dict) else {k:v for k,v in m.items()})
    print(ep.score)
