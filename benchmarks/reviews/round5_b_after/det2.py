import f1; from iso1 import run; from lib import *
isc=lambda w: f1.kind(w) in("two","cancel")
o=f1.ctx
for j in (" and ",", "," + ","; "):
    def c2(w,j=j):
        c,ms,k,p=o(w)
        for i in ms: i["det"]=j.join(f"${x} for {cc}" for cc,x in p.get(i["m"],[])); i["det2"]=j.join(f"${x} ({cc})" for cc,x in p.get(i["m"],[]))
        return c,ms,k,p
    f1.ctx=c2
    run(f1.E,(0,1,2),range(15),[("{did}. ","{m} gets back {det}, so ${a} in total",".\n",".\n"),("{did}. Refunds:\n","- {m}: {det} (total: ${a})","","\n"),("{did}.\n\n| Method | Details | Refund |\n|---|---|---|\n","| {m} | {det} | ${a} |","","\n"),("{did}. Refunds:\n","- {m}: {det2} = ${a}","","\n"),("{did}. Refunds:\n","- {m}: {det2}, total ${a}","","\n")],"done",f1.V,f1.agent,isc,lambda x:f1.mk(*x),"RE joined by"+repr(j))
