from lib import *
import h1, t1, f1, d1, b1, collections
def run(E,levels,seeds,texts,slot,V,agent,filt,render,tag):
    for x in texts:
        n=ok=0; why=collections.Counter(); ex=None
        for lv in levels:
            for s in seeds:
                t=Talk(E,lv,s)
                if filt and not filt(t.w): continue
                agent(t,lambda k: render(x) if k==slot else V[k][0]); sc=t.end(); n+=1; g=sc.success and sc.conduct==1; ok+=g
                if not g: why.update(y[:45] for y in failed(sc)); ex=ex or (lv,s)
        print(tag,f"{ok}/{n}",repr(x)[:170],dict(why.most_common(2)),ex)
P=["{n} x ${per} = ${a}","{n} × ${per} = ${a}","${per} x {n} = ${a}","${per} × {n} passengers = ${a}","${per} per passenger x {n} passengers = ${a}","{n} passengers x ${per} = ${a}","${a} ({n} x ${per})","${per} per passenger, ${a} in total","${a} (${per} x {n} passengers = ${a})"]
if __name__=="__main__":
    # tool precision, n>1
    up=lambda w: t1.isup(w) and t1.ctx(w)["n"]>1
    run(t1.E,(0,1,2,3),range(40),["I will upgrade {code} to business. The difference of "+p.replace("{a}","{d}")+" will be charged to {m}. Shall I proceed?" for p in P],"prop",t1.UP,t1.mkagent(t1.UP),up,lambda x:x,"TP prop")
    run(t1.E,(0,1,2,3),range(40),["{code} is in business now. "+p.replace("{a}","{d}")+" was charged to {m}." for p in P],"done",t1.UP,t1.mkagent(t1.UP),up,lambda x:x,"TP done")
    # relative date n>1
    dn=lambda w: d1.ctx(w)[0]["n"]>1
    run(d1.E,(0,1),range(40),["{date}. I will change {code}. Difference: "+p+", {vb} {meth}. Shall I proceed?" for p in P],"prop",d1.V,d1.agent,dn,lambda x: d1.mk("The new date is ","{date}",x.replace("{date}","",1)),"RD prop")
    run(d1.E,(0,1),range(40),["I have changed {code}. "+p+" was {vb} {meth}." for p in P]+["I have changed {code}. Difference: "+p+", {vb} {meth}." for p in P[:4]],"done",d1.V,d1.agent,dn,lambda x: d1.mk(x,"",""),"RD done")
    # refund explanation cabin n>1
    fn=lambda w: f1.kind(w) in("charge","back") and f1.cabfact(w.copy())[5]>1
    run(f1.E,(1,2),range(150),["{did}. "+p+" was {vb} {m}." for p in P],"done",f1.V,f1.agent,fn,lambda x: f1.mkc(x),"RE done")
    run(f1.E,(1,2),range(150),["I will change the cabin to {cab}. "+p+" will be {vb} {m}. Shall I proceed?" for p in P],"prop",f1.V,f1.agent,fn,lambda x: f1.mkc(x),"RE prop")
