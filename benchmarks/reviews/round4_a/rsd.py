from lib import *
from trace_gym.world import call_tool
from trace_gym.targets.tau2.retail import SKILLS
def info(w):
    r=w.requests[0]; o=w.orders[r.order]; item=r.items[0]
    it=next(i for i in o['items'] if i['item_id']==item)
    vs=w.products[it['product_id']]['variants']
    fit=[v for v in vs.values() if v['item_id']!=item and v['available'] and r.wish.items()<=v['options'].items()]
    new=min(fit,key=lambda v:v['price'])
    pm=r.call(w,SKILLS).arguments['payment_method_id']; m=w.users[w.customer]['payment_methods'][pm]
    name={'gift_card':'gift card','paypal':'PayPal account','credit_card':'credit card'}[m['source']]
    return dict(r=r,o=o,it=it,new=new,vs=vs,pm=pm,name=name,diff=round(new['price']-it['price'],2),pend=o['status']=='pending',n=len(o['items']))
def opts(v): return ", ".join(f"{k}: {x}" for k,x in v['options'].items())
def reads(w,d):
    plan=list(w.copy().oracle())
    for s in plan:
        if isinstance(s,Call) and s.tool.startswith(('find','get')): yield s
def dirp(d,fut=True):
    x=d['diff']
    if x>=0: return f"${x:.2f} will be charged to your {d['name']}" if fut else f"${x:.2f} was charged to your {d['name']}"
    return f"${-x:.2f} will be refunded to your {d['name']}" if fut else f"${-x:.2f} was refunded to your {d['name']}"
def P1(d): return f"I found the cheapest available alternative:\n\n**Current item:** {d['it']['name']} ({opts(d['it'])}) – ${d['it']['price']:.2f}\n**New item:** {d['it']['name']} ({opts(d['new'])}) – ${d['new']['price']:.2f}\n**Price difference:** ${abs(d['diff']):.2f} {'to be charged' if d['diff']>=0 else 'to be refunded'} to your {d['name']}\n\nPlease note that after this change the order cannot be modified or cancelled any more. Would you like me to proceed?"
def F1(d): return f"Your {d['it']['name']} in order {d['o']['order_id']} has been {'changed' if d['pend'] else 'exchanged'}. The difference of {dirp(d,False)}. Is there anything else I can help you with?"
def P2(d): return f"The cheapest other {d['it']['name']} is item {d['new']['item_id']} at {d['new']['price']:.2f} dollars (you paid {d['it']['price']:.2f}). {'You pay' if d['diff']>=0 else 'You get back'} {abs(d['diff']):.2f} dollars, settled with your {d['name']} ({d['pm']}). Shall I {'modify' if d['pend'] else 'exchange'} it?"
def F2(d): return f"Done. Your new {d['it']['name']} costs {d['new']['price']:.2f} dollars, so {'an additional' if d['diff']>=0 else 'a refund of'} {abs(d['diff']):.2f} {'was charged to' if d['diff']>=0 else 'goes to'} your {d['name']}."
def P3(d):
    av=[v for v in d['vs'].values() if v['item_id']!=d['it']['item_id']]
    return "Here are the variants:\n"+"\n".join(f"- {v['item_id']}: {opts(v)}, ${v['price']:.2f}{'' if v['available'] else ' (sold out)'}" for v in av)+f"\n\nThe cheapest one that fits is {d['new']['item_id']}. The difference is ${d['new']['price']:.2f} - ${d['it']['price']:.2f} = {'-' if d['diff']<0 else ''}${abs(d['diff']):.2f}, so {dirp(d)}. Do you agree (yes/no)?"
def F3(d): return f"The exchange has been requested. You will receive an email with return instructions." if not d['pend'] else "The order has been updated."
def F4(d):
    total=sum(i['price'] for i in d['o']['items'])
    return f"All done! Order {d['o']['order_id']} now includes the {d['it']['name']} ({opts(d['new'])}). Your order total went from ${total:.2f} to ${total+d['diff']:.2f}; {dirp(d,False)}."
def pol(P,F,dd=None,write=True,ask=True):
    def p(w):
        d=info(w); yield from reads(w,d)
        D=dd(dict(d)) if dd else d
        if ask: yield Say(P(D))
        yield d['r'].call(w,SKILLS)
        yield Say(F(D))
    return p
if __name__=='__main__':
    for lv in range(4):
        for k,(P,F) in {'1':(P1,F1),'2':(P2,F2),'3':(P3,F3),'14':(P1,F4)}.items():
            r=rate('tau2_retail_structured_data',lv,pol(P,F),range(60)); print(lv,k,r[0],r[1],r[2][:9],flush=True)
    def flip(d): d['diff']=-d['diff']; return d
    def p5(d): d['diff']=d['diff']+5; return d
    def zero(d): d['diff']=0; return d
    for lv in (1,3):
        for k,f in {'flip':flip,'plus5':p5,'zero':zero}.items():
            for n,(P,F) in {'1':(P1,F1),'2':(P2,F2)}.items():
                r=rate('tau2_retail_structured_data',lv,pol(P,F,f),range(60),lambda w:abs(info(w)['diff'])>1); print('WRONG',lv,k,n,r[0],r[1],flush=True)
        r=rate('tau2_retail_structured_data',lv,pol(P1,F1,None,ask=False),range(60)); print('noask',lv,r[:2])
        r=rate('tau2_retail_structured_data',lv,pol(P3,F3,None),range(60)); print('ok',lv,r[:2])
    # shortcuts by rank
    def rank(sel):
        def p(w):
            d=info(w); yield from reads(w,d)
            vs=[v for v in d['vs'].values() if v['item_id']!=d['it']['item_id']]
            new=sel(vs,d)
            D=dict(d,new=new,diff=round(new['price']-d['it']['price'],2))
            yield Say(P1(D)); c=d['r'].call(w,SKILLS); a=dict(c.arguments); a['new_item_ids']=[new['item_id']]; yield Call(c.tool,a)
            yield Say(F1(D))
        return p
    S={'cheapest overall':lambda v,d:min(v,key=lambda x:x['price']),'cheapest avail':lambda v,d:min([x for x in v if x['available']],key=lambda x:x['price']),'cheapest fit any':lambda v,d:min([x for x in v if d['r'].wish.items()<=x['options'].items()],key=lambda x:x['price']),'first':lambda v,d:v[0],'last':lambda v,d:v[-1],'second cheapest fit':lambda v,d:sorted([x for x in v if d['r'].wish.items()<=x['options'].items()],key=lambda x:x['price'])[1:2][0]}
    for lv in range(4):
        print(lv,{k:rate('tau2_retail_structured_data',lv,rank(f),range(60))[0] for k,f in S.items()},flush=True)
