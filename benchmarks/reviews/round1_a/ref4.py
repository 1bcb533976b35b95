from ref import *
import itertools
def stuffer(sums):
    def post(w,d,r,up,c,h):
        if up: # quotes first payment like the ablated expert
            return POST['q0'](w,w.topmost(),r,up,c,h)
        ms=list(dict.fromkeys(m for _,m,_ in h)); am=[a for _,_,a in h]
        cand=list(dict.fromkeys(am+([sum(s) for k in range(2,len(am)+1) for s in itertools.combinations(am,k)] if sums else [])))
        return did(r,up,c)+' '+' '.join(f"${a} will be refunded to {m}." for a in cand for m in ms)
    return post
def ablated(w,d,r,up,c,h): return POST['q0'](w,w.topmost(),r,up,c,h)
study(E,range(3),range(200),{'ablated':ag(PRE['p0'],ablated),'every payment to every method':ag(PRE['p0'],stuffer(False)),'every sum to every method':ag(PRE['p0'],stuffer(True))},show=0)
for s in range(400):
    ep,_=play(E,1,s,ag(PRE['p0'],stuffer(True)))
    if ep.score.success and len(ep.start.moves())==2 and len(info(ep.start)[4])==3:
        print(s, ep.start.moves(), info(ep.start)[4]); print([m['content'] for m in ep.messages if m.get('content') and m['role'] in('user','assistant')]); break
