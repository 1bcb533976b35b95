"""reward with and without 'business days' in the proposal"""
from h import *
from trace_gym.score import reward
from trace_gym.targets.tau2 import policy
import sys
def pol(tail):
    def p(ep,w):
        SK=__import__('trace_gym.targets.tau2.desk',fromlist=['SKILLS']).SKILLS
        for s in w.copy().oracle():
            if isinstance(s,Say) and 'Shall I proceed?' in s.text:
                s=Say(s.text.replace('Shall I proceed?', tail+'Shall I proceed?'))
            yield s
    return p
for N in ('tau2_precondition','tau2_multi_step','tau2_airline_desk','tau2_conditional_instructions','tau2_precondition_mixed'):
  for lv in range(registry.level_count(N)):
    for label,tail in (('plain',''),('5 to 7 business days','The refund arrives within 5 to 7 business days. ')):
        rs=[];cf=0;n=0
        for s in range(100,160):
            ep,sc=play(N,lv,s,pol(tail))
            acts=[e.step.tool for e in ep.events if isinstance(e.step,Call)]
            if 'cancel_reservation' not in acts: continue
            n+=1; rs.append(reward(sc)); cf+=sc.conduct<1
        print(N,lv,label,'cancellations',n,'mean reward %.3f'%(sum(rs)/max(1,len(rs))),'conduct failed',cf)
