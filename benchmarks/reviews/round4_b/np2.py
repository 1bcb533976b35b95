from np import *
V=[
("g2",p2),
("tot_first",lambda w,u,n,ch,b: f"The total cost will be **${u*n}**"+(f" ({n} additional paid bag{'s' if n>1 else ''} at $50 each)" if w.extra else f" (${u} per passenger × {len(b['passengers'])})")+f". Since your gift card has ${gift(w)['amount']} and would have ${left(w,u,n)} left, I'll use your {M(w,ch)}. Shall I go ahead?"),
("fare_total",lambda w,u,n,ch,b: f"It comes to ${u*n} in all. "+(f"Your reservation would then have {b['total_baggages']+w.extra} bags, {b['nonfree_baggages']+n} of them paid." if w.extra else f"The new fare is ${sum(p for _,p in prices(w,b))*len(b['passengers'])} in total, and you've already paid ${sum(l['price'] for l,_ in prices(w,b))*len(b['passengers'])}.")+f" That would leave ${left(w,u,n)} on the gift card, {'above' if left(w,u,n)>=w.floor else 'below'} your ${w.floor} limit, so the {M(w,ch)} will be charged. OK to proceed?"),
("each",lambda w,u,n,ch,b: (f"{w.extra} bags: {w.extra-n} free, {n} × $50 = ${u*n}." if w.extra else f"{len(b['passengers'])} x (${sum(p for _,p in prices(w,b))} − ${sum(l['price'] for l,_ in prices(w,b))}) = ${u*n}.")+f" I will charge ${u*n} to your {M(w,ch)} ({ch['payment_id']}). Please confirm (yes/no)."),
("additional",lambda w,u,n,ch,b: f"You would need to pay an additional ${u*n}. With that, your gift card balance would go from ${gift(w)['amount']} to ${left(w,u,n)}. Therefore I'd use your {M(w,ch)}. Would you like to proceed?"),
("difference",lambda w,u,n,ch,b: (f"The bag fees come to ${u*n}." if w.extra else f"The fare difference for all {len(b['passengers'])} passenger(s) is ${u*n}, i.e. ${u} each.")+f" After charging the gift card, ${left(w,u,n)} would remain. I'll charge your {M(w,ch)}. Is that okay?"),
]
for name,p in V:
    for one in (True,False):
        tot=ok=0; ex=None
        for lv in range(4):
            for s in range(700,820):
                w,u,n,ch,b=st(ep_of(E,lv,s))
                if one!=(len(b['passengers'])==1): continue
                ep=run(E,lv,s,agent(p,e2)); tot+=1; ok+=ep.score.success
                if not ep.score.success and not ex: ex=log(ep)
        print(name,'single' if one else 'several',ok,tot)
        if ex: print(ex)
