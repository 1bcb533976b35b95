import os,sys,random,collections
os.environ.setdefault("OMP_NUM_THREADS","1")
sys.path.insert(0,"TREE")
from trace_gym import registry
from trace_gym.types import Scenario, Call, Say
from trace_gym.targets.tau2 import policy, records
class Talk:
    def __init__(self,env,level,seed):
        self.ep=registry.start_episode(Scenario(env=env,level=level,seed=seed)); self.w=self.ep.world.copy(); self.log=[]
        self.log.append("USER: "+self.ep.messages[1]["content"])
    def say(self,t):
        if self.ep.done: return None
        r=self.ep.step(Say(text=t)); a=r[-1]["content"] if r else None
        self.log+=["AGENT: "+t,"USER: "+str(a)]; return a
    def call(self,tool,**a):
        if self.ep.done: return None
        r=self.ep.step(Call(tool=tool,arguments=a)); c=r[-1]["content"] if r else None
        self.log.append(f"CALL {tool} {a} -> {str(c)[:150]}"); return c
    def do(self,s):
        return self.say(s.text) if isinstance(s,Say) else self.call(s.tool,**s.arguments)
    def end(self):
        sc=self.ep.finish(); return sc
from trace_gym.score import reward
def failed(sc): return [c.description for c in sc.checks if not c.passed]
def sweep(env,levels,seeds,variants,agent,show=1,filt=None):
    """variants: {slot: [v0,...]}; agent(talk, pick) ; one slot varied at a time"""
    for slot,vs in variants.items():
        for i in range(len(vs)):
            n=ok=0; why=collections.Counter(); ex=None
            for lv in levels:
                for s in seeds:
                    t=Talk(env,lv,s)
                    if filt and not filt(t.w,slot): continue
                    pick=lambda k: variants[k][i if k==slot else 0]
                    agent(t,pick); sc=t.end(); n+=1; good=sc.success and sc.conduct==1; ok+=good
                    if not good:
                        why.update(failed(sc) or [str(sc)[:100]]); ex=ex or (lv,s,t.log)
            print(f"{slot}[{i}] {ok}/{n}", "" if ok==n else dict(why.most_common(3)))
            if ok<n and ok< n*0.97 and show: 
                print("   EX",ex[0],ex[1]); [print("     ",l[:700]) for l in ex[2] if not l.startswith("CALL get")]

def wrong(env,levels,seeds,W,V,agent,filt=None,thr=0.85):
    """wrong messages replaced in slot; prints share of full reward, mean reward"""
    for slot in W:
        for i,x in enumerate(W[slot]):
            rs=[]; ex=None
            for lv in levels:
                for s in seeds:
                    t=Talk(env,lv,s)
                    if filt and not filt(t.w,slot): continue
                    agent(t,lambda k: x if k==slot else V[k][0]); sc=t.end(); rs.append(reward(sc))
                    if rs[-1]>0.99: ex=ex or (lv,s)
            print("WRONG",slot,i,"full reward",sum(r>0.99 for r in rs),"/",len(rs),"mean %.2f"%(sum(rs)/max(1,len(rs))),ex, str(x)[:110].replace("\n"," ") if sum(r>0.99 for r in rs) else "")
def shortcuts(env,levels,seeds,fs):
    for nm,f in fs.items():
        for lv in levels:
            r=[]
            for s in seeds:
                t=Talk(env,lv,s); f(t); sc=t.end(); r.append((sc.success,reward(sc)))
            print("POLICY",nm,"level",lv,"success %.2f reward %.2f"%(sum(x[0] for x in r)/len(r),sum(x[1] for x in r)/len(r)))
def oracle(t):
    for s in t.w.copy().oracle(): t.do(s)
def ablated(t):
    for s in t.w.copy().ablated(): t.do(s)
