from f1 import *
def agent2(t,pick):
    w=t.w.copy(); 
    t.say(V["prop"][0](w))
    for r in w.requests: t.do(r.call(w,SKILLS))
    t.say(pick("done")(w))
multi=lambda w,s: kind(w) in("two","cancel") and any(len(l)>1 for l in ctx(w)[3].values())
def g(fmt):
    def f(w):
        c,ms,k,p=ctx(w); return fmt(c,ms,k,p)
    return f
W={"done":[
 g(lambda c,ms,k,p: f"{c['did']}. "+" ".join(f"{i['m']} gets back ${x}." for i in ms for _,x in p[i['m']])),
 g(lambda c,ms,k,p: f"{c['did']}. "+" ".join(f"{i['m']} gets back ${x}." for i in ms for _,x in p[i['m']]+[("",c["tot"])])),
 g(lambda c,ms,k,p: f"{c['did']}. "+" ".join(f"{i['m']} gets back {', '.join('$'+str(x) for _,x in p[i['m']])} or ${i['a']}." for i in ms)),
 g(lambda c,ms,k,p: f"{c['did']}. "+" ".join(f"{i['m']} gets back ${i['a']}, or maybe ${c['tot']}." for i in ms)),
]}
wrong(E,range(3),range(60),W,V,agent2,filt=multi)
