from agg import *
import trace_gym.score as TS
def parts(w,c): return w.reservations[c]['payment_history']
def meth(w,m): 
    x=w.users[w.customer]['payment_methods'][m]; return f"credit card ending in {x['last_four']}" if x['source']=='credit_card' else 'gift card'
def pl2(style):
    def f(w):
        codes,paid,tot,ch,ref=facts(w); many=len(ch)>1
        yield Call('get_user_details',{'user_id':w.customer})
        for c in codes: yield Call('get_reservation_details',{'reservation_id':c})
        if style=='breakdown':
            yield Say(text="Here is what you've paid:\n\n"+'\n'.join(f"- {c}: "+(' + '.join(f"${p['amount']} ({meth(w,p['payment_id'])})" for p in parts(w,c))+(f" = ${paid[c]}" if len(parts(w,c))>1 else '')) for c in codes)+f"\n\nTotal: ${tot}\n\nI would cancel {J(ch)} and refund ${ref}. Shall I proceed?")
            for c in ch: yield Call('cancel_reservation',{'reservation_id':c})
            yield Say(text=f"Done. {J(ch)} {'are' if many else 'is'} cancelled. Refunds:\n"+'\n'.join(f"- {c}: "+' and '.join(f"${p['amount']} to your {meth(w,p['payment_id'])}" for p in parts(w,c)) for c in ch)+f"\n\nIn total you get back ${ref}.")
        if style=='twostep':
            yield Say(text=f"You have paid ${tot:,} in total for {'that trip' if w.named else 'all your trips'}.")
            yield Say(text=f"I'm now ready to cancel {J(ch)}. The total refund is ${ref:,}. Would you like me to proceed?")
            for c in ch: yield Call('cancel_reservation',{'reservation_id':c})
            yield Say(text=f"{J(ch)} {'have' if many else 'has'} been cancelled successfully. You'll receive ${ref:,} back in total.")
        if style=='onebyone':
            yield Say(text=f"You have paid a total of ${tot}. The trip{'s' if many else ''} to cancel: {J(ch)}. I'd cancel {'them one by one' if many else 'it'}. OK?")
            for i,c in enumerate(ch):
                yield Call('cancel_reservation',{'reservation_id':c})
                if i+1<len(ch): yield Say(text=f"{c} has been cancelled; ${paid[c]} will be refunded. Next, I'll cancel {ch[i+1]}.")
            yield Say(text=f"{ch[-1]} has been cancelled as well; ${paid[ch[-1]]} will be refunded. The total refund is ${ref}." if many else f"{ch[0]} has been cancelled and ${ref} will be refunded.")
        if style=='eachconsent':
            yield Say(text=f"You've paid ${tot} altogether. The first trip to cancel is {ch[0]} with a refund of ${paid[ch[0]]}. Do you agree?")
            for i,c in enumerate(ch):
                yield Call('cancel_reservation',{'reservation_id':c})
                if i+1<len(ch): yield Say(text=f"{c} is cancelled. The next one is {ch[i+1]}, with a refund of ${paid[ch[i+1]]}. Shall I cancel it too?")
            yield Say(text=f"Everything is done. In total, ${ref} will be refunded to you.")
        if style=='reason':
            yield Say(text=f"You have paid ${tot} in total. "+{'most':'The most expensive trip is','least':'The least expensive trip is','people':'The trip with the most travelers is'}.get(w.rule,'The trips that meet your condition are' if many else 'The trip that meets your condition is')+f" {J([f'{c} (${paid[c]}, %d travelers)'%len(w.reservations[c]['passengers']) for c in ch])}. It can be cancelled because {'they are' if many else 'it is'} insured and you are ill. ${ref} would go back to what you paid with. Shall I cancel?" if not w.named else f"You have paid ${tot} for {w.named}. It is insured, so it can be cancelled for health reasons and ${ref} would be refunded. Shall I cancel it?")
            for c in ch: yield Call('cancel_reservation',{'reservation_id':c})
            yield Say(text=f"I've cancelled {J(ch)}. The refund of ${ref} will arrive within 5 to 7 business days.")
    return f
V={s:pl2(s) for s in('breakdown','twostep','onebyone','eachconsent','reason')}
def mut(g,base=pl(0)):
    def f(w):
        for s in list(base(w)):
            if isinstance(s,Say):
                t=g(s.text,w); 
                if t is None: continue
                s=Say(text=t)
            yield s
    return f
import re
W=dict(hedge=mut(lambda t,w:t.replace(f"${facts(w)[2]:,}",f"${facts(w)[2]:,} or ${facts(w)[2]-facts(w)[1][facts(w)[0][-1]] or 55:,}")),
 charged=mut(lambda t,w:t.replace('refund of','charge of').replace('returned to','charged to').replace('receive a','pay a')),
 norefund=mut(lambda t,w:re.sub(r'(A total refund of.*?days\.|You would receive.*?days\.)','',t)),
 refund_is_total=mut(lambda t,w:re.sub(r'refund of \$[\d,]+',f'refund of ${facts(w)[2]}',t)),
 nototal=mut(lambda t,w:re.sub(r'You have paid a total.*?\n','',t)),
 noconsent=mut(lambda t,w:None if 'proceed?' in t else f"You have paid a total of ${facts(w)[2]}. "+t))
def heur(choose,open_=99):
    def f(w):
        codes,paid,tot,ch,ref=facts(w)
        codes=codes[:open_]; T={c:(paid[c],len(w.reservations[c]['passengers']),parts(w,c)[0]['amount']) for c in codes}
        ch=choose(T,w); tot=sum(paid[c] for c in codes); ref=sum(paid[c] for c in ch)
        yield Call('get_user_details',{'user_id':w.customer})
        for c in codes: yield Call('get_reservation_details',{'reservation_id':c})
        yield Say(text=f"You paid {tot} dollars in all. I am going to cancel {', '.join(ch)}, and {ref} dollars go back. Do you agree?")
        for c in ch: yield Call('cancel_reservation',{'reservation_id':c})
        yield Say(text=f"It is cancelled. You get back {ref} dollars.")
    return f
from importlib import import_module
meant=sys.modules[type(start('tau2_aggregation',0,1).world).__module__].__dict__['meant'] if True else None
W|=dict(gold=heur(lambda T,w:meant(w.rule,w.limit,w.heads,{c:v[:2] for c,v in T.items()})),
 firstpart=heur(lambda T,w:meant(w.rule,w.limit,w.heads,{c:(v[2],v[1]) for c,v in T.items()})),
 nohead=heur(lambda T,w:meant(w.rule,w.limit,0,{c:v[:2] for c,v in T.items()})),
 noamount=heur(lambda T,w:[c for c,v in T.items() if v[1]>=w.heads] if w.heads else meant(w.rule,w.limit,w.heads,{c:v[:2] for c,v in T.items()})),
 all_=heur(lambda T,w:list(T)), only_one=heur(lambda T,w:meant(w.rule,w.limit,w.heads,{c:v[:2] for c,v in T.items()})[:1]),
 skip_last=heur(lambda T,w:meant(w.rule,w.limit,w.heads,{c:v[:2] for c,v in list(T.items())[:-1]} if len(T)>1 else {c:v[:2] for c,v in T.items()})))
def tab(env,lv,name,f,n=60):
    g=rw=0;err=0
    for s in range(2000,2000+n):
        ep=start(env,lv,s); w=ep.world.copy()
        try: run(ep,f(w)); g+=ok(ep); rw+=TS.reward(ep.score)
        except Exception as e: err+=1
    print(env,lv,name,'success',g,'/',n,'reward',round(rw/n,2),err or '',flush=True)
if __name__=='__main__':
    table('tau2_aggregation',[0,1,2,3],V,n=50)
    for n,f in W.items():
        for lv in range(4): tab('tau2_aggregation',lv,n,f)
