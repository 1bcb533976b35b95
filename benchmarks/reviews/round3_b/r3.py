from h import *
from r1 import mk, info
n='tau2_retail_tool_precision'
import collections
ct=collections.Counter(); ex={}
for s in range(300):
    ep=ep_(n,1,s)
    if type(ep.world.requests[0]).__name__!='Swap': continue
    def f(t,k,ep):
        w,r,o,c=info(ep)
        if 'To confirm' in t:
            it=[i for i in o['items'] if i['item_id']==c.arguments['item_ids'][0]][0]
            nv=w.products[it['product_id']]['variants'][c.arguments['new_item_ids'][0]]; d=nv['price']-it['price']
            f.d=d;f.st=o['status']
            return f"I'll replace {it['item_id']} by {nv['item_id']} in {r.order}. The difference of ${abs(d):.2f} will be {'refunded to' if d>0 else 'charged to'} {r.method}. Shall I proceed?"
        return t
    ep,sc,log=play(n,1,s,f)
    ct['dearer' if f.d>0 else 'cheaper',f.st,sc.success]+=1; ex.setdefault((f.d>0,sc.success),(s,f.d,[x for x in log if x[0] in 'AU']))
print(ct); print(ex)
