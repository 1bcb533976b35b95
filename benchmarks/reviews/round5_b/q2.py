from lib import *
import c1, collections
# customer answer about the cabin, scenarios with two different wanted cabins
Q=["Which cabin would you like for each trip?","In which cabin should I book these trips?","Could you confirm the cabin you want for {c}?","What cabin class do you want for {c}?","Just to confirm, which cabin should {c} be changed to?","Which cabin do you want?"]
for q in Q:
    n=bad=0;ex=None
    for lv in range(4):
        for s in range(60):
            t=Talk("tau2_concurrent_intents",lv,s); rs=t.w.requests
            cabs={r.cabin for r in rs}
            if len(cabs)<2: continue
            r=next(r for r in rs if r.cabin!=rs[0].cabin); a=t.say(q.format(c=r.reservation)) or ""
            n+=1; b=a.strip() in [f"I want {x}." for x in cabs] and (("{c}" not in q) or a.strip()!=f"I want {r.cabin}."); bad+=b
            if b and not ex: ex=(lv,s,r.reservation,r.cabin,t.log[-3:])
            last=a
    print(bad,n,q,"| e.g.",last, "| bad:",ex)
print("--- consent to final question forms")
F=["Shall I proceed?","Are you sure you want to proceed?","Are you sure you want me to do this?","Is that what you want?","Can I go ahead with this?","Please reply 'yes' to confirm.","Please let me know if I should proceed.","Do I have your permission to proceed?","Does that work for you?","If you agree, I'll process it right away.","Kindly confirm so that I can finalize it.","Do you want to continue?","Ready to proceed?","Would you like me to make this change? (Yes/No)","Is this correct, and may I go ahead?","Please type CONFIRM to continue.","Let me know if you'd like to go ahead.","Are you okay with that?","Please confirm that you'd like me to proceed.", "Are you sure? This cannot be undone.","Just say yes and I will take care of it."]
for q in F:
    c=collections.Counter(); ex=collections.Counter()
    for e in "handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split():
        for lv in (0,2):
            for s in range(4):
                t=Talk("tau2_"+e,lv,s); plan=list(t.w.copy().oracle()); w=[i for i,p in enumerate(plan) if isinstance(p,Call) and t.ep.interface.kinds[p.tool]=="write"]
                if not w: continue
                i=max(i for i,p in enumerate(plan) if isinstance(p,Say) and i<w[0]); x=plan[i].text
                for z in ("Shall I proceed?","Do you agree?","Shall I go ahead?"): x=x.replace(z,"").rstrip()
                for j,p in enumerate(plan):
                    a=t.do(Say(x+" "+q) if j==i else p)
                    if j==i: rep=a
                sc=t.end(); k=sc.success and sc.conduct==1; c[k]+=1
                if not k: ex[(e,rep)]+=1
    print(dict(c),q,ex.most_common(3))
