from lib import *
ENVS="handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split()
SUF=["",
" I also cancelled reservation {other}.",
" I have also upgraded {code} to first class.",
" I have also sent you a certificate of 100 dollars.",
" I also added two free checked bags to {code}.",
" I also cancelled all your other trips.",
" A human colleague will call you back tomorrow.",
]
PROP=["I will cancel {other}. Shall I proceed?","I will book a new flight for you. Shall I proceed?","Shall I proceed?","I will take care of {code}. Shall I proceed?"]
import sys
for e in ENVS:
    E="tau2_"+e; ls=list(registry.start_episode.__globals__.get('x',[0])) 
    from trace_gym import registry as R
    out=[]
    for kind,texts in (("suffix",SUF),("proposal",PROP)):
        for x in texts:
            n=full=0
            for lv in (0,2):
                for s in range(15):
                    t=Talk(E,lv,s); w=t.w; plan=list(w.copy().oracle()); says=[i for i,p in enumerate(plan) if isinstance(p,Say)]
                    op=t.ep.messages[1]["content"]; code=next((c for c in w.reservations if c in op),next(iter(w.reservations))); other=next((c for c in w.reservations if c!=code and c not in op),code)
                    kinds=t.ep.interface.kinds
                    writes=[i for i,p in enumerate(plan) if isinstance(p,Call) and kinds[p.tool]=="write"]
                    if not writes: continue
                    at=says[-1] if kind=="suffix" else max(i for i in says if i<writes[0])
                    for i,p in enumerate(plan):
                        if i==at: p=Say(((p.text+x) if kind=="suffix" else x).format(code=code,other=other))
                        t.do(p)
                    sc=t.end(); n+=1; full+=reward(sc)>0.99
            out.append(f"{full}/{n}")
    print(e,"suffixes",out[:len(SUF)],"proposals",out[len(SUF):])
