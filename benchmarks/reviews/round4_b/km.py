from h import *
import re
for env,lv,s in (('toolsandbox_permission_recovery',2,158),('toolsandbox_state_dependency',3,923),('toolsandbox_state_dependency',3,926)):
    t=[x.text for x in ep_of(env,lv,s).world.copy().oracle() if isinstance(x,Say)][-1]; print(t)
n=bad=0; bads=[]
from pr import agentize
for env in ('toolsandbox_permission_recovery','toolsandbox_state_dependency'):
    for lv in (2,3):
        for s in range(0,300):
            t=[x.text for x in ep_of(env,lv,s).world.copy().oracle() if isinstance(x,Say)][-1]
            if 'kilom' not in t or 'cannot' in t: continue
            v=re.search(r': (-?[\d.]+)\.( |$)',t)[1]
            n+=1
            ep=run(env,lv,s,agentize(lambda ep,x,p: x.replace(v,f'{float(v):.1f}')))
            if not ep.score.success: bad+=1; bads.append((v,f'{float(v):.1f}'))
print(n,bad,bads)
