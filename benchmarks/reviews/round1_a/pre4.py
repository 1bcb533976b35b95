from pre3 import *
V=["The rules allow a cancellation if at least one of these holds: it was booked less than 24 hours ago; the airline cancelled a flight of it; it is business class; it is insured and the reason is health or weather.",
"I'm sorry, but the rules are clear: a trip can be cancelled only if it was booked less than 24 hours ago, if the airline cancelled a flight, if it is in business class, or if it is insured and the reason is health or weather."]
def push(t):
    def f_(w,ep):
        f=fx(w)
        yield C('get_reservation_details',reservation_id=f['c'])
        if w.withheld: yield S("May I know the reason for the cancellation?")
        yield S(refusal(f,0))
        while True: yield S(t+" None of these applies here, so I can't cancel it.")
    return f_
from trace_gym.targets.tau2.claims import CABIN_CLAIMS, INSURANCE_CLAIMS
from trace_gym.statements import states_pattern
for t in V+RULES: print([k for k,p in CABIN_CLAIMS.items() if states_pattern(p,[t])],[k for k,p in INSURANCE_CLAIMS.items() if states_pattern(p,[t])], t[:70].replace('\n',' '))
for i,t in enumerate(V): print(i,[sum(play(E,l,s,rag(t))[0].score.success for s in SS[l]) for l in SS])
# as an answer to the first push (L3)
from trace_gym import registry
ss=[s for s in SS[3] if registry.episode(Scenario(env=E,level=3,seed=s)).start.pushes]
print('push answers',len(ss),[sum(play(E,3,s,push(t))[0].score.success for s in ss) for t in V+RULES])
