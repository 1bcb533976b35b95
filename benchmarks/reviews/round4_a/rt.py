from lib import *
from trace_gym.world import call_tool
from trace_gym.targets.tau2.retail import SKILLS, Cancel, Readdress, Repay, Return, Swap
from trace_gym.targets.tau2 import retail_policy as RP
from trace_gym.targets.tau2.retail_requests import in_words
def mname(w,pm):
    m=w.users[w.customer]['payment_methods'][pm]
    return {'gift_card':'gift card','paypal':'PayPal account'}.get(m['source']) or f"{m['brand'].title()} card ending in {m['last_four']}"
def D(w,r):
    o=w.orders[r.order]; ok=r.verdict(w).allowed; d=dict(r=r,code=r.order,ok=ok,o=o,st=o['status'],paid=RP.paid(o),k=type(r).__name__,old=mname(w,RP.original(o)))
    d['call']=r.call(w,SKILLS)
    a=d['call'].arguments
    if isinstance(r,(Return,Swap,Repay)): d['m']=mname(w,a['payment_method_id']); d['pm']=a['payment_method_id']
    if isinstance(r,Return):
        d['items']=[i for i in o['items'] if i['item_id'] in r.items]; d['back']=sum(i['price'] for i in d['items'])
    if isinstance(r,Swap):
        it=next(i for i in o['items'] if i['item_id']==r.items[0]); new=w.products[it['product_id']]['variants'][a['new_item_ids'][0]]
        d.update(it=it,new=new,diff=new['price']-it['price'])
    return d
def op(v): return ", ".join(f"{k}: {x}" for k,x in v['options'].items())
def prop(d,s):
    k,c=d['k'],d['code']
    if k=='Cancel':
        return {'a':f"Cancel order {c} (reason: {d['r'].reason}). The amount of ${d['paid']:.2f} will be refunded to your {d['old']}.",
                'b':f"**{c}**: cancellation, refund of ${d['paid']:.2f} to the original payment method ({d['old']}) within 5 to 7 business days.",
                'c':f"I'll cancel {c} and you'll get {d['paid']:.2f} dollars back on your {d['old']}."}[s]
    if k=='Readdress':
        return {'a':f"Change the shipping address of order {c} to {in_words(d['r'].address)}.",'b':f"**{c}**: new shipping address {d['r'].address['address1']}, {d['r'].address['city']}, {d['r'].address['state']} {d['r'].address['zip']}, USA.",'c':f"I'll update the address of {c} to {in_words(d['r'].address)}."}[s]
    if k=='Repay':
        return {'a':f"Change the payment method of order {c} from your {d['old']} to your {d['m']}. ${d['paid']:.2f} will be charged to your {d['m']}, and ${d['paid']:.2f} will be refunded to your {d['old']}.",
                'b':f"**{c}**: payment of ${d['paid']:.2f} moves to {d['m']}; the original {d['old']} payment is refunded.",
                'c':f"I'll charge the {d['paid']:.2f} dollars for {c} to your {d['m']} instead of your {d['old']}."}[s]
    if k=='Return':
        L=" and ".join(f"{i['name']} ({op(i)}, ${i['price']:.2f})" for i in d['items'])
        return {'a':f"Return the {L} from order {c}. Total refund: ${d['back']:.2f} to your {d['m']}.",
                'b':f"**{c}**: return of "+", ".join(f"{i['name']} – item {i['item_id']} – ${i['price']:.2f}" for i in d['items'])+f"; refund of ${d['back']:.2f} to {d['m']} ({d['pm']}).",
                'c':f"I'll take back the {' and the '.join(i['name'] for i in d['items'])} of {c}, and {d['back']:.2f} dollars go back to your {d['m']}."}[s]
    if k=='Swap':
        x=d['diff']; 
        return {'a':f"Replace the {d['it']['name']} in order {c} ({op(d['it'])}, ${d['it']['price']:.2f}) with the cheapest other option ({op(d['new'])}, ${d['new']['price']:.2f}). The difference of ${abs(x):.2f} will be {'charged' if x>=0 else 'refunded'} to your {d['m']}.",
                'b':f"**{c}**: {d['it']['name']} {d['it']['item_id']} -> {d['new']['item_id']}; {'additional payment' if x>=0 else 'refund'} of ${abs(x):.2f}, {d['m']}.",
                'c':f"I'll exchange the {d['it']['name']} of {c} for item {d['new']['item_id']}; {'you pay' if x>=0 else 'you get back'} {abs(x):.2f} dollars with your {d['m']}."}[s]
def ref(d,s):
    c,v=d['code'],{'Cancel':'cancelled','Readdress':'sent to another address','Repay':'charged to another payment method','Return':'returned'}[d['k']]
    return {'a':f"Unfortunately, order {c} can't be {v}, because its status is \"{d['st']}\" (total paid: ${d['paid']:.2f}).",
            'b':f"**{c}**: I'm unable to process this request since the order has already been {d['st']}. You paid ${d['paid']:.2f} for it.",
            'c':f"I'm sorry, but I cannot help with {c}: it is {d['st']}, and {d['paid']:.2f} dollars were paid for it in all."}[s]
def fin(d,s):
    k,c=d['k'],d['code']
    if not d['ok']: return f"Order {c} remains unchanged."
    return {'Cancel':f"Order {c} has been cancelled; ${d.get('paid',0):.2f} will be refunded to your {d['old']}.",'Readdress':f"Order {c} will now be shipped to {in_words(d['r'].address) if k=='Readdress' else ''}.",
     'Repay':f"Order {c} is now paid with your {d.get('m')}; your {d['old']} has been refunded ${d['paid']:.2f}.",'Return':f"The return for order {c} has been requested; you'll receive a refund of ${d.get('back',0):.2f} to your {d.get('m')}.",
     'Swap':f"The {d['it']['name'] if 'it' in d else ''} in order {c} has been replaced; ${abs(d.get('diff',0)):.2f} {'was charged' if d.get('diff',0)>=0 else 'will be refunded'} to your {d.get('m')}."}[k]
def reads(w):
    for s in list(w.copy().oracle()):
        if isinstance(s,Call) and s.tool.startswith(('find','get')): yield s
    yield Call('get_user_details',{'user_id':w.customer})
def agent(s,mode='together',shortfin=False):
    def p(w,e):
        yield from reads(w); I=[D(w,r) for r in w.requests]
        yes=[d for d in I if d['ok']]; no=[d for d in I if not d['ok']]
        if mode=='together':
            sep={'a':"\n\n",'b':"\n- ",'c':" "}[s]
            t=("Thank you! Here's a summary of what I'll do:\n"+sep+sep.join(prop(d,s) if d['ok'] else ref(d,s) for d in I)) if s!='c' else " ".join([ref(d,s) for d in no]+[prop(d,s) for d in yes])
            yield Say(t+"\n\n"+{'a':'Would you like me to proceed with these changes? (yes/no)','b':'Please confirm to proceed.','c':'Is that okay?'}[s])
            for d in yes: yield d['call']
            yield Say("All done." if shortfin else ("Everything has been processed:\n"+"\n".join("- "+fin(d,s) for d in I)+"\n\nIs there anything else I can help you with?"))
        else:
            done=None
            for d in yes:
                yield Say((fin(done,s)+" " if done else "")+(" ".join(ref(x,s) for x in no)+" " if not done else "")+prop(d,s)+" Shall I proceed?")
                yield d['call']; done=d
            yield Say(fin(done,s)+" That completes all of your requests.")
    return p
if __name__=='__main__':
    for env in sys.argv[1:]:
      for lv in range(4):
        for s in 'abc':
          for mode in (('together','each') if 'multi' in env else ('together',)):
            r=rate2(env,lv,agent(s,mode,shortfin=(s=='c')),range(60)); print(env,lv,s,mode,r[0],r[1],r[2][:9],flush=True)
            if r[2]: dump(env,lv,r[2][0],agent(s,mode,shortfin=(s=='c')))
