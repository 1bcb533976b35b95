"""proposals of a change that gives money back, in words without 'refund'/'back'"""
from retail import *
from itin import info
D={
'd1':"The cheapest one that fits is item {new}, which costs ${np} instead of ${op}. Shall I make this change?",
'd2':"The new item {new} costs ${np}, which is ${ad} {less} than your current one (${op}). Should I go ahead using your {m}?",
'd3':"Current price: ${op}. New price: ${np} (item {new}). Difference: ${ad} {favor}. Do you want to proceed?",
'd4':"I found item {new} for ${np}; you paid ${op}. The price difference of ${ad} will be applied to your {m}. Do you confirm?",
'd5':"Item {new} is priced at ${np} versus ${op} for your current one. The difference will be settled with your {m}. Shall I proceed?",
'd6':"The cheapest available option is {new} at ${np}. Your {m} will be used for the difference of ${ad}. OK?",
'd7':"I'd replace {old} (${op}) with {new} (${np}). That's a difference of {sd}. I'll use {pm} for it. Proceed?",
}
def pol(k):
    def p(ep,w):
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
            else: break
        r=w.requests[0]; c=r.call(w,SKILLS); o=w.orders[r.record]
        old=next(i for i in o['items'] if i['item_id']==c.arguments['item_ids'][0]); new=next(v for p_ in w.products.values() for v in p_['variants'].values() if v['item_id']==c.arguments['new_item_ids'][0])
        d=new['price']-old['price']
        yield Say(D[k].format(new=new['item_id'],old=old['item_id'],np=f"{new['price']:.2f}",op=f"{old['price']:.2f}",ad=f"{abs(d):.2f}",less='more' if d>0 else 'less',favor='to pay' if d>0 else 'in your favor',m=mname(w,c.arguments['payment_method_id']),pm=c.arguments['payment_method_id'],sd=f"{'+' if d>0 else '-'}${abs(d):.2f}"))
        yield c; yield Say("The replacement has been requested.")
    return p
I={'i1':"HAT {n} costs ${p} per person instead of ${o}. The difference goes to {c}. Shall I proceed?",
'i2':"The new flight {n} costs ${p} per person, ${ad} {less} than what you paid (${o}). Shall I make this change with {c}?",
'i3':"{n} fits. Fare: ${p} (you paid ${o}). The difference of ${ad} per person will be applied to {c}. OK to continue?",
'i4':"{n} on {on} costs ${p}. Your current flight cost ${o}. I'll use {c} for the difference. Do you confirm?"}
def it(k):
    def p(ep,w):
        b,ppl,L=info(ep,w); O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool!='update_reservation_flights': yield s
        l=L[0]; d=l[6]-l[7]
        if len(L)>1: yield O[-3]
        else: yield Say(I[k].replace('HAT {n}','{n}').format(n=l[2],on=l[3],p=l[6],o=l[7],ad=abs(d),less='more' if d>0 else 'less',c=w.card))
        yield [s for s in O if isinstance(s,Call) and s.tool=='update_reservation_flights'][0]
        yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L))
    return p
if __name__=='__main__':
    for k in D: run('tau2_retail_structured_data',pol(k),n=60,label=k,levels=[1,3],examples=1)
    for k in I: run('tau2_itinerary_preservation',it(k),n=60,label=k,levels=[0,1],examples=1)
