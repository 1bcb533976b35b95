from f1 import *
up=lambda w,s: kind(w) in("charge","back")
L={"done":[V["done"][0]]+[mkc(x) for x in ["{did}. The difference is ${per} per passenger, ${a} in total for {n} passengers, {vb} {m}.","{did}. ${a} ({n} x ${per}) was {vb} {m}.","{did}. The fare difference is ${per} per passenger; for all {n} passengers, a total of ${a} was {vb} {m}."]]}
n1=lambda w,s: up(w,s) and cabfact(w.copy())[5]>1
print("n>1"); sweep(E,(1,2),range(200),{"prop":V["prop"][:1],**L},agent,filt=n1,show=1)
L={"done":[V["done"][0]]+[mkc(x) for x in ["{did}. The following amount was {vb}:\n- {m}: ${a}","{did}. Amounts {vb} your payment methods:\n- {m}: ${a}","{did}.\n\n**{nn}:**\n- {m}: ${a}","{did}. Summary:\n- Payment method: {m}\n- Amount {vb}: ${a}","{did}.\n\nPayment summary:\n- {m} {get} ${a} in total\n- No other methods are affected","{did}.\n- Total {nn}: ${a}\n- Method: {m}","{did}. {m}: {nn} of ${a} in total.","{did}. The total {nn} was ${a}, and it went to {m}.","{did}. Since {cab} is {dirn} priced, ${a} was {vb} {m}.","{did}. Your reservation was in {old} before (${o}); {cab} costs ${nw}. The ${a} difference was {vb} {m}.",
"{did}. The price went from ${o} to ${nw}, so {m} {get} ${a} in total."]]}
sweep(E,range(3),range(120),{"prop":V["prop"][:1],**L},agent,filt=up,show=1)
C={"done":[V["done"][0]]+[mk(a,b,c,sp) for a,b,c,sp in [
("{did}. The following amounts are refunded:\n","- {m}: ${a}","","\n"),("{did}. Refund details:\n","- Payment method: {m}\n- Refund: ${a}","","\n"),
("{did}. Here are the refunds per payment method (5 to 7 business days):\n","{m}: ${a}","","\n"),
("{did}. Refund per method: ","{m} = ${a}",".",", "),
("{did}. ","{m} will receive ${a} in total ({sum})",".",". "),
("{did}.\n\n**Refunds:**\n","1. {m}: ${a} total ({sum})","\n\nTotal refund: ${tot}. No charges were made.","\n"),
("{did}. ","Your {lab} ({m}) gets back ${a}",". Nothing is charged.",", and "),
]]}
print("cancel");sweep(E,range(3),range(35),{"prop":V["prop"][:1],**C},agent,filt=lambda w,s: not up(w,s),show=1)
W={"done":[
 mk("{did}. ","{m}: ${a} or ${tot}",".","; "),
 lambda w:(lambda c,ms,k,p: f"{c['did']}. "+" and ".join(f"{i['a']} dollars were {'refunded to' if k=='charge' else 'charged to'} {i['m']}" for i in ms)+".")(*ctx(w)),
 lambda w:(lambda c,ms,k,p: f"{c['did']}. "+" and ".join(f"{i['a']} dollars were refunded or charged to {i['m']}" for i in ms)+".")(*ctx(w)),
 lambda w:(lambda c,ms,k,p: f"{c['did']}. "+" ".join(f"{i['m']} gets back {' '.join('$'+str(x)+',' for _,x in p.get(i['m'],[]))} in total ${i['a']+10}." for i in ms))(*ctx(w)),
 lambda w:(lambda c,ms,k,p: f"{c['did']}. "+" ".join(f"{i['m']} {words(k)['get']} ${x}." for i in ms for _,x in p.get(i['m'],[('',i['a'])])))(*ctx(w)),
 lambda w:(lambda c,ms,k,p: f"{c['did']}. "+" ".join(f"{i['m']} {words(k)['get']} ${x}." for i in ms for x in dict.fromkeys([y for _,y in p.get(i['m'],[])]+[i['a']])))(*ctx(w)),
]}
wrong(E,range(3),range(35),W,V,agent)
shortcuts(E,range(3),range(60),dict(oracle=oracle,ablated=ablated))
import collections
c=collections.Counter()
for lv in range(3):
    for s in range(35):
        for i in (3,4,5):
            t=Talk(E,lv,s); agent(t,lambda k: (W if k=="done" else V)[k][i if k=="done" else 0]); c[(i,kind(t.w),reward(t.end())>.99)]+=1
print(sorted(c.items()))
