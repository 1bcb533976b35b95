from iso1 import run
from lib import *
import t1,c1,f1,b1
from trace_gym.targets.tau2.airline import SKILLS
isc=lambda w: f1.kind(w) in("two","cancel")
D=[("{did}. Refunds:\n","- {m}: {sum} = ${a}","","\n"),("{did}. ","{m} gets back {det}, so ${a} in total",".","; "),("{did}. ","{m} gets back {det}; total ${a}",".",". "),("{did}. Refunds:\n","- {m}: {det} (total: ${a})","","\n"),("{did}. ","{m}: {det}, total refund ${a}",".","; "),("{did}.\n","**{m}**\n- {det}\n- Total: ${a}","","\n"),("{did}. ","Your {m} receives {det}, for a total of ${a}",".",". "),("{did}. ","{m} is refunded ${a} in total: {det}",".",". ")]
run(f1.E,(0,1,2),range(20),D,"done",f1.V,f1.agent,isc,lambda x:f1.mk(*x),"RE det")
def split(w):
    c,ms,k,parts=f1.ctx(w); o=f"{c['did']}.\n"
    for cc in c["codes"].split(" and "): o+=f"\nRefund for {cc}:\n"+"\n".join(f"- ${x} to {m}" for m,l in parts.items() for c2,x in l if c2==cc)
    return o+"\n\nTotals:\n"+"\n".join(f"- {i['m']}: ${i['a']}" for i in ms)
def split2(w):
    c,ms,k,parts=f1.ctx(w); o=f"{c['did']}.\n\n| Reservation | Method | Amount |\n|---|---|---|\n"
    o+="\n".join(f"| {c2} | {m} | ${x} |" for m,l in parts.items() for c2,x in l)
    return o+"\n\nTotal per method:\n"+"\n".join(f"- {i['m']}: ${i['a']} refunded" for i in ms)
for nm,fn in (("split",split),("split2",split2)): run(f1.E,(0,1,2),range(20),[nm],"done",f1.V,f1.agent,isc,lambda x:fn,"RE")
# cabin statements, concurrent
X=["{code} is currently in {old}. The {cab} fare differs by ${a}, {vb} your {named}.","{code}: in {old} now; {cab} for ${a} ({vb} your {named}).","{code} (currently in {old}): change to {cab}, {named}.","{code} is booked in {old}; I'd make it {cab}, ${a} {vb} your {named}.","{code}: currently {old}, new {cab}, {named}."]
for x in X:
    run(c1.E,(0,1,2,3),range(15),[x],"prop",c1.V,c1.agent,None,lambda x:(x,"I cannot change {code}: its flight on {date} has been flown."," Shall I go ahead?"),"CI")
cp=lambda w: not isc(w)
Y=["Your trip is in {old} now. The fare in {cab} is ${nw} instead of ${o}; ${a} will be {vb} {m}. Shall I proceed?","You are currently in {old}. {cab} on the same flights costs ${nw}, so ${a} would be {vb} {m}. Shall I change it?","It's in {old} at the moment (${o}). With {cab} the fare is ${nw}; the difference of ${a} is {vb} {m}. OK?"]
run(f1.E,(0,1,2),range(80),Y,"prop",f1.V,f1.agent,cp,f1.mkc,"RE")
# baggage share per level
B=("Done:\n","- {code}: {nb} x $50 = ${d}","\nTotal: ${sum}","\n"); B2=("I will add these bags:\n","- {code}: {more} more bags ({tot} in total), {nb} x $50 = ${d}","\nTotal: ${sum} on {card}. Shall I proceed?","\n")
B3=("I will add these bags:\n","- {code}: {more} more bags ({tot} in total), {nb} paid bags x $50 = ${d}","\nTotal: ${sum} on {card}. Shall I proceed?","\n")
for lv in range(4):
    run(b1.E,(lv,),range(50),[B],"done",b1.V,b1.agent,None,lambda x:b1.mk(*x),f"BA lv{lv}")
    run(b1.E,(lv,),range(50),[B2,B3],"prop",b1.V,b1.agent,None,lambda x:b1.mk(*x),f"BA lv{lv}")
