from lib import *
import collections,re
r=collections.Counter(); ex={}
for e in ["tau2_"+x for x in "handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split()]:
    for s in range(12):
        t=Talk(e,1,s); plan=list(t.w.copy().oracle()); w=[i for i,p in enumerate(plan) if isinstance(p,Call) and t.ep.interface.kinds[p.tool]=="write"]
        if not w: continue
        i=max(i for i,p in enumerate(plan) if isinstance(p,Say) and i<w[0])
        plan[i]=Say(re.sub(r"(Shall I (proceed|go ahead)|Do you agree)\?","",plan[i].text).rstrip()+" Please confirm (yes/no).")
        for j,p in enumerate(plan):
            t.do(p)
            if j==i: t.say("Shall I go ahead with this, yes or no?")
        sc=t.end(); g=sc.success and sc.conduct==1; r[e,g]+=1
        if not g: ex[e]=(failed(sc),t.log[-6:])
print(r); print(ex)
