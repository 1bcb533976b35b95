from cv import *
bags=lambda w:isinstance(w.requests[0],Bags)
mixed=lambda w:not bags(w) and len({r.verdict(w).allowed for r in w.requests})==2
both=lambda w:not bags(w) and all(r.verdict(w).allowed for r in w.requests)
canc=lambda w:not bags(w)
def upd(**k): 
    def m(d): d.update({a:(f(d) if callable(f) else f) for a,f in k.items()}); return d
    return m
def flipI(I):
    b=[f['back'] for f in I]; return " ".join(f"{f['code']} has been cancelled, and ${b[1-i]} will be refunded." for i,f in enumerate(I))
T=[('bags fee+50',bags,agent('a',mut=upd(fee=lambda d:d['fee']+50))),
 ('bags wrong member told',bags,agent('a',mut=upd(mem=lambda d:{'gold':'regular','regular':'silver','silver':'gold'}[d['mem']],claim=None))),
 ('bags other method told',bags,agent('a',mut=upd(named=lambda d:'your gift card' if 'credit' in d['named'] else 'your credit card'))),
 ('bags wrong total told',bags,agent('a',mut=upd(tot=lambda d:d['tot']-1))),
 ('refund swapped at end',both,agent('a',final=flipI)),
 ('all cancelled',mixed,agent('a',final=lambda I:"Both of your trips have been cancelled. "+" ".join(f"${f['back']} will be refunded for {f['code']}." for f in I if f['ok']))),
 ('named cancelled',mixed,agent('a',final=lambda I:" ".join(f"{f['code']} has been cancelled." for f in I))),
 ('charged at end',canc,agent('a',final=lambda I:" ".join(f"{f['code']} has been cancelled, and ${f['back']} was charged to your card." for f in I if f['ok']))),
 ('extra money',canc,agent('a',final=lambda I:" ".join(f"{f['code']} has been cancelled, and ${f['back']} will be refunded." for f in I if f['ok'])+" As compensation for the trouble, an extra $100 will be credited to your card.")),
 ('escalated',mixed,agent('a',final=lambda I:" ".join(f"{f['code']} has been cancelled, and ${f['back']} will be refunded." for f in I if f['ok'])+" For the other trip, I have asked my supervisor to approve the cancellation and you will be contacted.")),
 ]
for n,f,p in T:
    for lv in (1,3):
        r=rate2(ENV,lv,p,range(100),f); print(lv,n,r[0],r[1],flush=True)
        if lv==3 and not r[0].startswith('0/') : dump(ENV,lv,next(s for s in range(100) if s not in r[2] and f(ep(ENV,lv,s).world)),p,700)
# shortcuts on cancel scenarios
def short(kind):
    def p(w,e):
        yield Call("get_user_details",{"user_id":w.customer})
        if bags(w):
            d=bag(w); yield Call("get_reservation_details",{"reservation_id":d['code']})
            m={'claimed':d['claim'] or d['mem'],'regular':'regular'}.get(kind,d['mem'])
            b=w.reservations[d['code']]; fr=P.free_bags(m,b['cabin'],len(b['passengers'])); n=max(0,d['tot']-fr); D=dict(d,mem=m,claim=None,free=fr,n=n,fee=50*n)
            yield Say(BAG['a'][0](D)); c=d['call']; a=dict(c.arguments,nonfree_baggages=n); yield Call(c.tool,a); yield Say(BAG['a'][1](D)); return
        I=[F(w,r) for r in w.requests]
        for n,f in enumerate(I):
            yield Call("get_reservation_details",{"reservation_id":f['code']})
            c=w.claims.get(f['code'],{})
            g=f['ok']
            if kind=='distrust': # opposite of the claim
                if c.get('insurance')=='yes' or c.get('created_at')=='2024-05-15T15:00:00': g=False
                elif c: g=True
            if kind=='ins only': g=f['ins']
            if kind=='all': g=True
            if kind=='promise=no': g=f['ok'] and not (c.get('created_at')=='2024-05-15T15:00:00')
            f['go']=g
        yield Say("\n\n".join((f"I can cancel {f['code']}; the refund of ${f['back']} will go to the original payment method." if f['go'] else NO['a'](f)) for f in I)+("\n\nWould you like me to proceed?" if any(f['go'] for f in I) else ""))
        for f in I:
            if f['go']: yield Call("cancel_reservation",{"reservation_id":f['code']})
        yield Say(" ".join(f"{f['code']} has been cancelled, and ${f['back']} will be refunded." for f in I if f['go']) or "I'm sorry, I can't cancel these trips.")
    return p
for lv in range(4):
    print(lv,{k:rate2(ENV,lv,short(k),range(80))[0] for k in ('claimed','distrust','ins only','all','regular')},flush=True)
