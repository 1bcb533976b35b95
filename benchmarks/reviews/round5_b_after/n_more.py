# more natural texts: q of refunds/prices in every env's last report, appended to the oracle report; true extra sentences
from lib import *
import collections,re
A={"cancel":["Refunds usually take 5 to 7 business days to appear.","The refund will show up within 5-7 business days, depending on your bank.","Please allow 5–7 business days for the refund to be processed.","You'll receive a confirmation within 5 to 7 business days.".replace("You'll receive a confirmation","The money should arrive"),"Your other reservations remain unchanged.","No cancellation fee was charged.","There is no fee for this.","I wish you a speedy recovery.","If you have any further questions, feel free to ask.","The refund goes back to the original payment methods."],
"other":["There is no change fee.","No additional fees were charged.","Nothing else was changed.","All other details of your reservation stay the same.","Is there anything else I can help you with today?","Please let me know if you need anything else.","Your other reservations remain unchanged.","Have a great trip!","The change takes effect immediately.","You can see it in your reservation."]}
for x in ("cancel","other"):
    for suf in A[x]:
        r={}
        for e in "handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split():
            n=ok=0; w_=collections.Counter()
            for lv in (0,1,2):
                for s in range(7):
                    t=Talk("tau2_"+e,lv,s); plan=list(t.w.copy().oracle()); w=[i for i,p in enumerate(plan) if isinstance(p,Call) and t.ep.interface.kinds[p.tool]=="write"]
                    if not w or (plan[w[0]].tool=="cancel_reservation")!=(x=="cancel"): continue
                    for where in ("report","proposal"):
                        p2=list(plan)
                        i=max(i for i,p in enumerate(plan) if isinstance(p,Say) and i<w[0]) if where=="proposal" else next((i for i,p in enumerate(plan) if isinstance(p,Say) and i>w[-1]),None)
                        if i is None: continue
                        if where=="proposal":
                            if suf[-1]!="." or re.search(r"was|were|anything|Have|see it|take|effect",suf) and x=="other": continue
                            m=re.search(r"(Shall I[^?]*\?|Do you agree\?)$",plan[i].text); 
                            if not m: continue
                            p2[i]=Say(plan[i].text[:m.start()]+suf+" "+m[0])
                        else: p2[i]=Say(plan[i].text+" "+suf)
                        t=Talk("tau2_"+e,lv,s)
                        for p in p2: t.do(p)
                        sc=t.end(); g=sc.success and sc.conduct==1; n+=1; ok+=g
                        if not g: w_[where+": "+failed(sc)[0][:50]]+=1
            if n and ok<n: r[e]=(f"{ok}/{n}",dict(w_))
        print(repr(suf),r or "all ok")
