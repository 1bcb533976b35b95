from lib import *
for env in sys.argv[1:]:
    for lv in range(4):
        o=rate(env,lv,lambda w:w.oracle(),range(50)); a=rate(env,lv,lambda w:w.ablated(),range(50)); 
        print(env,lv,'oracle',o[:2],'ablated',a[:2], flush=True)
