from trace_gym import registry
from trace_gym.types import Scenario
import sys
for n in sys.argv[1:]:
    ep=registry.episode(Scenario(env=n,level=0,seed=7))
    print('#####',n); print(ep.messages[0]['content'][:6000]); print(ep.messages[1])
