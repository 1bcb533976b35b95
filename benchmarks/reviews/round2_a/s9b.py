from s9 import *
def ask(q):
  def f(ep,rng):
    w=ep.world.copy();r=w.requests[0];o=w.orders[r.order]
    yield auth(w)
    names=getattr(r,"items",None) and it(o,r.items[0])["name"] or "item"
    a=yield S(q.format(o=r.order,n=names)); ep.ans=a
    g=good(0)(ep,rng); st=next(g)
    while True:
        a=yield st
        try: st=g.send(a)
        except StopIteration: return
  return f
import collections
for q in ["Which payment method would you like to use?","I see that you have two credit cards on file. Which one do you mean?","Which {n} do you mean, as there are several in this order?","Could you confirm your email address or your name and zip code?","Thank you, I've found your profile. Let me check order {o}.","Please note that you can only do this once per order. Are there any other items you want to include?","What is the reason for the return?","Do you want to return or exchange other items too?"]:
    for l in (1,3):
        ok=0; C=collections.Counter(); ex=None
        for s in range(40):
            ep=ep_(E,l,s); drive(ep,ask(q)(ep,random.Random(s))); ok+=ep.score.success; C[ep.ans[0] if ep.ans else None]+=1
            if not ep.score.success: ex=ep
        print(l,q,ok,"/40",random.Random(1).sample(sorted(map(str,C)),min(3,len(C))))
        if ex: show(ex,tools=False)
def wrongitem(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; o=w.orders[r.order]; yield auth(w); 
    oth=[x for x in o["items"] if x["item_id"] not in r.items]
    tot=sum(it(o,i)["price"] for i in r.items)
    yield S(f"I'll return {' and '.join(x['name']+' ('+opts(x)+')' for x in oth[:len(r.items)])} of {r.order} and refund ${tot:.2f}. OK?")
    yield Call(tool="return_delivered_order_items",arguments={"order_id":r.order,"item_ids":r.items,"payment_method_id":r.method}); yield S("The return is done.")
table(E,[3],80,{"wrongitemtold":wrongitem},bad=0,only=ret)
