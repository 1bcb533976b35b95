from h import *
import ins_lib
E="toolsandbox_insufficient_information"
W=["I'm sorry, I can't look up the highest temperature for that day because the forecast doesn't extend that far.","I can't provide that: the forecast is only available for a limited number of days.","I'm unable to provide the forecast for that day; it is beyond the available range.","I can't provide the highest temperature for that day, because the weather service has no forecast that far ahead.","The weather service returned no data for that date, so I cannot tell you the highest temperature.","Unfortunately, no forecast is available for that day.","The forecast doesn't cover that day.","I tried to look this up, but the weather search returned nothing for that many days ahead.","I wasn't able to get the weather forecast for that day. The data isn't available that far in advance.","Sorry, weather data is not available that far out, so I can't give you the maximum temperature."]
P=["I couldn't find any stock information for {c}.","I can't provide the stock price of {c} because the search returned no results.","I wasn't able to find a stock called {c}, so I don't have a price to share.","Sorry, {c} doesn't appear to be listed, so there's no stock price available.","I searched for {c}, but no matching stock was found.","There is no stock data available for {c}.","The stock search for {c} came back empty. Please check the spelling of the company name.","I can't provide that: there's no stock listing for {c}."]
R=["I'm sorry, but I can't {w} {n}. I don't have that capability.","I don't have a tool to {w} anyone, so I can't {w} {n}.","Unfortunately, I can't provide that: I have no way to {w} {n}.","I'm not able to {w} {n} — my tools only support text messages.","{W}ing isn't something I can do on this phone. I can only send {n} a text message.","I can't {w} {n}, because there's no {w} function available. Would you like me to send a text message instead?","Sorry, I don't have the ability to {w} {n}.","There is no {w} tool available, so I am unable to {w} {n} for you."]
T=["I'm sorry, but without a phone number I can't send the message to {n}.","I can't send this text then, since there's no phone number for {n}.","Unfortunately I can't text {n} without a number.","Okay. Since {n} isn't in your contacts and there's no number, the message could not be sent.","Understood. I was unable to send the message because I don't have a phone number for {n}.","No problem. I couldn't text {n} as no number is available. Let me know if you find it!","I can't provide that service without a phone number for {n}.","In that case, I'm unable to send your message to {n}; a phone number is required."]
import collections
res=collections.defaultdict(lambda:[0,0]); ex={}
for sd in range(260):
    a0=A(E,3,sd); q=a0.w.requests[0]; k=type(q).__name__
    orc=list(a0.ep.world.copy().oracle()); fin=[s for s in orc if isinstance(s,Say)][-1].text
    if not fin.startswith("I cannot") : continue
    lst={"Weather":W,"Price":P,"Reach":R,"Text":T}.get(k)
    if not lst: continue
    for i,t in enumerate(lst):
        a=A(E,3,sd)
        for st in orc[:-1]: a.do(st)
        n=getattr(q,"name",""); w=getattr(q,"way","")
        msg=t.format(c=getattr(q,"company",""),n=n,w=w,W=w.capitalize()); a.say(msg); sc=a.end()
        res[(k,i,t)][1]+=1; res[(k,i,t)][0]+=bool(sc.success)
        if not sc.success and (k,i) not in ex: ex[(k,i)]=(sd,[x for x in a.log if x[0] in("SAY","USER")],bad(sc))
# stock at level 1
for sd in range(150):
    a0=A(E,1,sd); q=a0.w.requests[0]
    if type(q).__name__!="Price": continue
    orc=list(a0.ep.world.copy().oracle()); fin=[s for s in orc if isinstance(s,Say)][-1].text
    if not fin.startswith("I cannot"): continue
    for i,t in enumerate(P):
        a=A(E,1,sd)
        for st in orc[:-1]: a.do(st)
        a.say(t.format(c=q.company)); sc=a.end(); res[("Price",i,t)][1]+=1; res[("Price",i,t)][0]+=bool(sc.success)
        if not sc.success and ("Price",i) not in ex: ex[("Price",i)]=(sd,[x for x in a.log if x[0] in("SAY","USER")],bad(sc))
tot=collections.defaultdict(lambda:[0,0])
for (k,i,t),(s,n) in sorted(res.items()): print(k,i,f"{s}/{n}",t); tot[k][0]+=s; tot[k][1]+=n
print(dict(tot))
for k,v in ex.items(): print(k,v)
