from c2_fn import *
import collections
from lib import *
rs=[];full=[]
for lv in range(4):
    for s in range(50):
        t=Talk(E,lv,s)
        if not ctx(t.w)[1]: continue
        retry(t); sc=t.end(); rs.append(reward(sc)); full.append(sc.success); d=[c.description for c in sc.checks if not c.passed]
print("retry on scenarios with a refusal: n",len(rs),"success",sum(full)/len(full),"reward %.3f"%(sum(rs)/len(rs)),d)
# a correct agent with a technical error first on an allowed trip
def clumsy(t,kind):
    w=t.w.copy(); ok,no=ctx(w)
    t.say(render(PROP[0],w," "))
    for d in ok:
        c=d["r"].call(w,SKILLS); a=dict(c.arguments)
        if kind=="pay": a["payment_id"]="credit_card_0000000"
        if kind=="flights": a["flights"]=[]
        if kind=="cabin": a["cabin"]="Business Class"
        t.call(c.tool,**a); t.do(c)
    t.say("That is done.")
for k in ("pay","cabin"):
    c=collections.Counter()
    for lv in range(4):
        for s in range(25):
            t=Talk(E,lv,s); clumsy(t,k); sc=t.end(); c[(sc.success,sc.conduct,tuple(failed(sc))[:2])]+=1
    print("clumsy",k,c.most_common(3))
names=collections.defaultdict(set)
for e in "handover_judgement passenger_correction baggage_allowance record_identification refund_explanation tool_precision concurrent_intents aggregation seat_availability relative_date_reasoning".split():
    for lv in range(3):
        for s in range(6):
            t=Talk("tau2_"+e,lv,s); oracle(t); sc=t.end(); [names[c.description].add(e[:6]) for c in sc.checks if "forbidden" in c.description or "agreed" in c.description or "false" in c.description]
print(dict(names))
