from lib import *
import collections,re
C=["Please confirm (yes/no).","Please confirm (Yes/No).","Please confirm (yes/no)","Please confirm (yes/no) to proceed.","Please confirm (yes/no) if you would like me to proceed.","Please confirm if you would like to proceed.","Please confirm if you would like me to proceed.","Please confirm if you'd like to proceed (yes/no).","Please confirm whether you want to proceed.","Please confirm that you would like to proceed.","Please confirm if you wish to proceed.","Please let me know if you would like to proceed.","Would you like to proceed?","Would you like to go ahead?","Would you like to proceed with these changes? (yes/no)","Let me know if you would like to proceed.","If you would like to proceed, please confirm.","Please confirm if this is correct.","Please confirm if that's okay.","Please confirm so I can proceed.","Please confirm this is what you want.","Do I have your permission? (yes/no)","OK? (yes/no)","Confirm? (yes/no)","Please answer yes/no.","Please confirm yes/no.","Please respond with yes/no.","Please confirm - yes/no?","Kindly confirm (yes/no)."]
E=["tau2_"+x for x in "handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split()]
RE=os.environ.get("REASK")
for x in C:
    tot=ok=ok2=0; ex=collections.Counter()
    for e in E:
        for s in range(5):
            t=Talk(e,1,s); plan=list(t.w.copy().oracle()); w=[i for i,p in enumerate(plan) if isinstance(p,Call) and t.ep.interface.kinds[p.tool]=="write"]
            if not w: continue
            i=max(i for i,p in enumerate(plan) if isinstance(p,Say) and i<w[0])
            q=re.sub(r"(Shall I (proceed|go ahead)|Do you agree)\?","",plan[i].text).rstrip(); plan[i]=Say(q+" "+x)
            for again in (0,1):
                t=Talk(e,1,s); ans=None
                for j,p in enumerate(plan):
                    a=t.do(p)
                    if j==i:
                        ans=a
                        if again and not re.search(r"\b[Yy]es\b",str(a)): t.say("Do you agree that I proceed with this?")
                sc=t.end(); g=sc.success and sc.conduct==1
                if again: ok2+=g
                else: ok+=g; tot+=1; ex[str(ans)[:60]]+=not g
    print(repr(x),f"{ok}/{tot}",f"after asking again {ok2}/{tot}" if ok<tot else "",ex.most_common(2) if ok<tot else "")
