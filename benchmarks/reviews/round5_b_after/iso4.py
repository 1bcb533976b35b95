from iso1 import run
from lib import *
import t1,c1,f1,s1,d1,h1,b1
up=lambda w: t1.isup(w)
T=["{code} is currently in {cab}. The business fare is ${nw} per person, so the difference of ${d} would be charged to {m}. Shall I proceed?",
"{code} is in {cab} now (${o} per person). Business costs ${nw} per person. ${d} would be charged to {m}. Do you want to proceed?",
"Your trip {code} is booked in {cab}. An upgrade to business costs ${d}, charged to {m}. Shall I proceed?",
"You are currently booked in {cab} on {code}. I will make the upgrade for ${d}, charged to {m}. Shall I proceed?",
"You're in {cab} on {code} at the moment. The upgrade costs ${d} on {m}. Shall I do it?",
"Currently in {cab}: ${o}. Business: ${nw}. Difference for {code}: ${d}, charged to {m}. OK?",
"Compared with the ${o} per person in {cab}, business on {code} costs ${nw}. ${d} will be charged to {m}. OK?",
"Current cabin: {cab}. New cabin: business. {code}, ${d} on {m}. OK?",
"I can upgrade {code}, which is in {cab} at the moment, for ${d} charged to {m}. Shall I?",
"The seats on {code} are in {cab}. The business class fare is ${nw} each; I'd charge the ${d} difference to {m}. Shall I go ahead?"]
run(t1.E,range(4),range(15),T,"prop",t1.UP,t1.mkagent(t1.UP),up,lambda x:x,"TP")
RD=["{date}. I would replace {ofl} with {fl}. Difference ${a}, {vb} {meth}. OK?","{date}. {ofl} will be replaced by {fl}. Difference ${a}, {vb} {meth}. OK?","{date}. I'd replace the current flight with {fl} on that day, {vb} {meth}. OK?","{date}. I'll replace the {od} flight with one on {date} and move the difference to {meth}. OK?","{date}. I will swap {ofl} for {fl}, ${a} {vb} {meth}. OK?"]
run(d1.E,(0,),range(30),RD,"prop",d1.V,d1.agent,None,lambda x:d1.mk("",x,""),"RD")
dn=lambda w: d1.ctx(w)[0]["n"]>1
Q=["The difference is ${per} per passenger x {n} = ${a}, {vb} {meth}.","Difference: ${per} per passenger x {n} passengers = ${a}, {vb} {meth}.","Difference: ${per} per passenger × {n} passengers = ${a} ({wh2}), {meth}.","Difference: ${per} per passenger, for {n} passengers ${a} in total, {vb} {meth}.","Fare difference: ${per} per person ({n} passengers), total ${a}, {vb} {meth}.","The fare difference is ${per} per passenger. For {n} passengers, ${a} will be {vb} {meth}.","Difference: ${per} per passenger for {n} passengers = ${a}, {vb} {meth}."]
run(d1.E,(0,1),range(40),Q,"prop",d1.V,d1.agent,dn,lambda x:d1.mk("The new date is ","{date}",". I will change {code}. "+x+" Shall I proceed?"),"RD per")
isc=lambda w: f1.kind(w) in("two","cancel")
K=["No payment methods were charged.","No other payment methods were charged or refunded.","No other payment method is affected.","There were no charges.","None of your payment methods was charged.","No additional charges were made to any payment method.","No payment method is charged.","No payment method has been charged.","Nothing was charged to any payment method.","None of your methods is charged.","No method was charged."]
run(f1.E,(0,1,2),range(12),[("{did}. Refund summary:\n","- {m}: ${a}","\n\n"+k,"\n") for k in K]+[("{did}. ","${a} was refunded to {m}",". "+k," and ") for k in K[:4]],"done",f1.V,f1.agent,isc,lambda x:f1.mk(*x),"RE")
D=[("{did}.\n","- {m}: ${a} ({det})","","\n"),("{did}.\n\n| Method | Details | Refund |\n|---|---|---|\n","| {m} | {det} | ${a} |","","\n"),("{did}. Refunds:\n","- {m}: {det} – total ${a}","","\n"),("{did}. ","To {m}: {det}, in total ${a}",".","; "),("{did}. Refunds:\n","- {m}: {det} → total ${a}","","\n")]
run(f1.E,(0,1,2),range(20),D,"done",f1.V,f1.agent,isc,lambda x:f1.mk(*x),"RE det")
cp=lambda w: not isc(w)
H=["{did}. The following amount was {vb}:\n- {m}: ${a}","{did}. Amounts {vb} your payment methods:\n- {m}: ${a}","{did}.\n\n**{nn}:**\n- {m}: ${a}","{did}. Amount {vb} your card:\n{m}: ${a}","{did}. Payment methods with a {nn}:\n- {m}: ${a}","{did}. {nn}:\n- {m}: ${a}","{did}. Here is the {nn}:\n- {m}: ${a}","{did}. The following payment method was {vb0}:\n- {m}: ${a}","{did}. Total {nn}:\n- {m}: ${a}","{did}.\n- **{m}**: {nn} of ${a}","{did}.\n- {m}: ${a} ({nn})","{did}. Payment summary:\n- {m}: ${a} {vb1}"]
def hk(x):
    def f(w):
        k=f1.kind(w); y=x.replace("{vb0}","charged" if k=="charge" else "refunded").replace("{vb1}","charged" if k=="charge" else "refunded"); return f1.mkc(y)(w)
    return f
run(f1.E,(0,1,2),range(80),H,"done",f1.V,f1.agent,cp,hk,"RE head")
S=["Compared to that, {f} would be ${p}.","By comparison, {f} costs ${p}.","In comparison, {f} at {t} would cost ${p}.","The next cheapest would be {f} for ${p}.","(For reference, {f} at {t} costs ${p}.)","{f} at {t} is also available for ${p}, but it's more expensive.","{f} ({t}) would cost ${p} per person, so it's not the cheapest.","Another option with enough seats is {f} at {t} for ${p}, which costs more.","{f} has seats too but costs ${p}.","The other option, {f}, is ${p}.","A later/earlier flight, {f} at {t}, costs ${p}.","All other flights are more expensive, e.g. {f} at ${p}."]
def alt(fmt):
    def it(c,x):
        s=f"The cheapest nonstop with room for {c['n']} is {x['fl']} on {x['date']}, departing at {x['t']} (${x['p']} per person)."
        for g in sorted(x["dear"],key=lambda g:g['prices'][c['cab']])[:1]: s+=" "+fmt.format(f=g['flight_number'],t=g['scheduled_departure_time_est'][:5],p=g['prices'][c['cab']])
        return s
    return it
run(s1.E,range(4),range(10),S,"prop",s1.V,s1.agent,lambda w:any(x["dear"] for x in s1.ctx(w)[1]),lambda x:s1.mk("",alt(x)," I'd move {code} to it in {cab}; the difference goes to {card}. Shall I proceed?"),"SA")
