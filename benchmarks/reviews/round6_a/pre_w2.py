from pre_w import *
for k in ('wrong cabin','wrong insurance'):
    c=Counter()
    for lv in (0,1,2,3):
        for sd in range(150):
            w=start(ENV,lv,sd).world; v=w.requests[0].verdict(w)
            if v.allowed or v.transfer: continue
            b=w.reservations[w.requests[0].reservation]
            ep=rewrite(ENV,lv,sd,wrong(k))
            c[(b['cabin'],b['insurance'],ep.score.success)]+=1
    print(k,dict(c))
