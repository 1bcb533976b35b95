from lib import *
import collections
C=["Shall I proceed?","Please confirm (yes/no).","Please confirm (yes or no).","Do you confirm (yes/no)?","Please reply with yes or no.","Please confirm with 'yes' or 'no'.","Please reply \"yes\" to confirm.","Please type 'yes' to confirm.","Let me know if I should proceed.","Please let me know if you'd like me to go ahead.","Just say yes and I'll do it.","Can you confirm?","Please confirm: yes or no?","Is this correct (yes/no)?","Are you okay with this? (yes/no)","Do you agree to this (yes/no)?","Please confirm with a yes or no so I can proceed.","Please confirm \"yes\" to proceed.","Reply YES to proceed.","Do I have your approval to proceed?","May I have your explicit confirmation (yes) to proceed?","Please confirm if you would like to proceed.","Do you want me to proceed with this?","If everything looks right, please confirm and I'll take care of it.","To proceed, I need your explicit confirmation. Do you confirm?","Please confirm you'd like me to proceed (yes/no)."]
E=["tau2_"+x for x in "handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split()]
import re
for x in C:
    r={}
    for e in E:
        ok=n=0
        for s in range(8):
            t=Talk(e,1,s); plan=list(t.w.copy().oracle()); w=[i for i,p in enumerate(plan) if isinstance(p,Call) and t.ep.interface.kinds[p.tool]=="write"]
            if not w: continue
            i=max(i for i,p in enumerate(plan) if isinstance(p,Say) and i<w[0])
            q=re.sub(r"(Shall I (proceed|go ahead)|Do you agree)\?","",plan[i].text).rstrip(); plan[i]=Say(q+" "+x); ans=None
            for j,p in enumerate(plan):
                a=t.do(p)
                if j==i: ans=a
            sc=t.end(); n+=1; g=sc.success and sc.conduct==1; ok+=g
            if not g: r.setdefault("ex",(e,ans))
        r[e[5:15]]=f"{ok}/{n}"
    bad={k:v for k,v in r.items() if k!="ex" and len(set(v.split("/")))>1}
    print(repr(x),"all ok" if not bad else bad,r.get("ex"))
