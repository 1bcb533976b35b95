from ret import *
from ret2_lib import pl
def mk(v,joinf,tail):
    p=pl(v)
    def pol(a):
        its,_=lookup(a); ok=[d for d in its if d["ok"]]; no_=[d for d in its if not d["ok"]]
        r=a.say(" ".join([no(d,2) for d in no_]+[joinf([p(d,0) for d in ok])+" Would you like me to proceed?"]))
        for _ in range(2):
            if not a.done and not YES(r): r=a.say("Shall I proceed with these changes?")
        for d in ok: write(a,d)
        a.say(tail(ok,no_))
    return pol
J={"(1) (2)":lambda x:"I will "+" ".join(f"({i+1}) {t}" for i,t in enumerate(x))+".","inline 1) 2)":lambda x:"Here is the plan: "+", ".join(f"{i+1}) {t}" for i,t in enumerate(x))+".","then":lambda x:"I will "+", then ".join(x)+".","bullets nodot":lambda x:"I will:\n"+"\n".join("- "+t for t in x)+"\n","sentences":lambda x:" ".join("I will "+t+"." for t in x),"comma and":lambda x:"I will "+(", ".join(x[:-1])+" and "+x[-1] if len(x)>1 else x[0])+"."}
def table(ok,no_): return "Everything has been processed.\n\n| Order | Action | Amount |\n|---|---|---|\n"+"\n".join(f"| {d['q'].order} | {dict(Cancel='Cancelled',Return='Return requested',Readdress='Address updated',Repay='Payment method changed')[d['k']]} | {('$%.2f refund'%d['amt']) if 'amt' in d else '-'} |" for d in ok)
def lines(ok,no_): return "All done!\n"+"\n".join("- "+rep(d,0) for d in ok)
for L in (2,3):
    for v in ("echo","comma","echoamt"):
        for j,f in J.items(): trial(E,L,mk(v,f,lines),range(60),0,f"{v} / {j}")
    trial(E,L,mk("echoamt",J["sentences"],table),range(60),1,"final table")
