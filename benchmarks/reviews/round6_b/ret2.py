from ret import *
import ret
def pl(v):
    def plan2(d,s):
        q=d["q"]; n=q.order
        if d["k"]=="Return":
            it=" and the ".join(i["name"] for i in d["its"]); m=M(d["to"]); x=f"${d['amt']:.2f}"
            return {"echo":f"take back the {it} of order {n} and refund it to your {m}","echoamt":f"take back the {it} of order {n} and refund {x} to your {m}","paren":f"return the {it} from order {n} (refund of {x} to your {m})","with":f"return the {it} from order {n} with a refund of {x} to your {m}","comma":f"return the {it} of order {n}, refunded to your {m}","semi":f"return the {it} from order {n}, refunding {x} to your {m}"}[v]
        if d["k"]=="Cancel": return {"echo":f"cancel order {n}","echoamt":f"cancel order {n} and refund ${d['amt']:.2f} to your {M(d['to'])}","paren":f"cancel order {n} (refund of ${d['amt']:.2f})","with":f"cancel order {n} with a refund of ${d['amt']:.2f}","comma":f"cancel order {n}","semi":f"cancel order {n}, refunding ${d['amt']:.2f} to your {M(d['to'])}"}[v]
        if d["k"]=="Readdress": return f"send order {n} to {adr(q.address)}"
        return f"charge order {n} to your {M(d['to'])}"
    return plan2
def mk(v):
    p=pl(v)
    def pol(a):
        its,_=lookup(a); ok=[d for d in its if d["ok"]]; no_=[d for d in its if not d["ok"]]
        ps=[p(d,0) for d in ok]; sep="; " if v=="semi" else ", "
        body=ps[0] if len(ps)==1 else sep.join(ps[:-1])+sep.rstrip()+" and "+ps[-1]
        r=a.say(" ".join([no(d,0) for d in no_]+[f"To confirm, I will {body}. Would you like me to proceed?"]))
        for _ in range(2):
            if not a.done and not YES(r): r=a.say("Shall I proceed with these changes?")
        for d in ok: write(a,d)
        a.say("All done!\n"+"\n".join("- "+rep(d,0) for d in ok))
    return pol
def fin(v):  # final report in one sentence
    def pol(a):
        its,_=lookup(a); ok=[d for d in its if d["ok"]]; no_=[d for d in its if not d["ok"]]
        r=a.say(" ".join([no(d,1) for d in no_]+["I will:\n"+"\n".join("- "+ret.plan(d,0) for d in ok)+"\n\nDo you agree?"]))
        for _ in range(2):
            if not a.done and not YES(r): r=a.say("Shall I proceed with these changes?")
        for d in ok: write(a,d)
        def f(d):
            n=d["q"].order
            return {"Cancel":f"order {n} has been cancelled and ${d.get('amt',0):.2f} will be refunded to your {M(d['src'])}","Return":f"the return for order {n} is set up and ${d.get('amt',0):.2f} will be refunded to your {M(d['src'])}","Readdress":f"order {n} will be sent to {adr(getattr(d['q'],'address',{'address1':'','city':'','state':'','zip':''}))}","Repay":f"order {n} is now charged to your {M(d.get('to',d['src']))}"}[d["k"]]
        fs=[f(d) for d in ok]
        a.say("Everything is done: "+(", ".join(fs[:-1])+", and "+fs[-1] if len(fs)>1 else fs[0])+".")
    return pol
for L in (2,3):
    for v in ("echo","echoamt","paren","with","comma","semi"): trial(E,L,mk(v),range(100),1,"one sentence "+v)
    trial(E,L,fin(0),range(100),1,"final in one sentence")
