from retail2 import *
for lv in (0,1):
    seen=0
    for s in range(2000,2100):
        ep=start('tau2_retail_desk',lv,s); w=ep.world.copy()
        if any(not r.verdict(w).allowed for r in w.requests):
            run(ep,claimdone(w))
            if ok(ep) and seen<1: seen+=1; print(s,conv(ep))
