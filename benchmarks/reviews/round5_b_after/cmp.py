from lib import *
import trace_gym; print(trace_gym.__file__)
from iso1 import run
import t1,b1,f1,d1,s1
up=lambda w: t1.isup(w)
run(t1.E,range(4),range(8),["{code} is currently in {cab}. The business fare is ${nw} per person, so the difference of ${d} would be charged to {m}. Shall I proceed?"],"prop",t1.UP,t1.mkagent(t1.UP),up,lambda x:x,"TP")
two=lambda w: len(b1.ctx(w)[0])==2 and all(p["d"] for p in b1.ctx(w)[0])
run(b1.E,(2,3),range(40),[("Done:\n","- {code}: {nb} x $50 = ${d}","\nTotal: ${sum}","\n")],"done",b1.V,b1.agent,two,lambda x:b1.mk(*x),"BA")
run(b1.E,(2,3),range(40),[("I will add these bags:\n","- {code}: {nb} x $50 = ${d}","\nTotal: ${sum}. Shall I proceed?","\n")],"prop",b1.V,b1.agent,two,lambda x:b1.mk(*x),"BA")
dn=lambda w: d1.ctx(w)[0]["n"]>1
run(d1.E,(0,1),range(30),["Difference: ${per} per passenger x {n} passengers = ${a}, {vb} {meth}."],"prop",d1.V,d1.agent,dn,lambda x:d1.mk("The new date is ","{date}",". I will change {code}. "+x+" Shall I proceed?"),"RD per")
run(d1.E,(0,),range(20),["{date}. I would replace {ofl} with {fl}. Difference ${a}, {vb} {meth}. OK?"],"prop",d1.V,d1.agent,None,lambda x:d1.mk("",x,""),"RD repl")
isc=lambda w: f1.kind(w) in("two","cancel")
run(f1.E,(0,1,2),range(15),[("{did}. Refund summary:\n","- {m}: ${a}","\n\nNo payment method was charged.","\n"),("{did}. Refunds:\n","- {m}: {det} – total ${a}","","\n")],"done",f1.V,f1.agent,isc,lambda x:f1.mk(*x),"RE")
run(f1.E,(0,1,2),range(10),["I will {deed}. Please confirm (yes/no)."],"prop",f1.V,f1.agent,isc,lambda x:f1.mk(x,"",""),"RE yes/no")
