from h import *
from b1 import mk
from r2 import info
n='tau2_baggage_allowance'
def seq(ep):
    w=ep.start; due=w.bill(); tot=sum(d[2] for d in due.values()); out=[Call('get_user_details',{'user_id':w.customer})]
    for i,(c,(total,paid,dol)) in enumerate(due.items()):
        out.append(Call('get_reservation_details',{'reservation_id':c}))
        out.append(Say(f"For reservation {c}, I'll bring you to {total} checked bags in total, {paid} of them paid. The cost is ${dol}, charged to {w.card}. Shall I proceed?"))
        out.append(Call('update_reservation_baggages',{'reservation_id':c,'total_baggages':total,'nonfree_baggages':paid,'payment_id':w.card}))
        if i<len(due)-1: out.append(Say(f"Reservation {c} has been updated: {total} bags. Now let me look at the other reservation."))
    out.append(Say(f"All bags have been added. In total, you pay ${tot} for the added bags."))
    return out
def seq2(ep):
    w=ep.start; due=w.bill(); tot=sum(d[2] for d in due.values()); out=[Call('get_user_details',{'user_id':w.customer})]
    for i,(c,(total,paid,dol)) in enumerate(due.items()):
        out.append(Call('get_reservation_details',{'reservation_id':c}))
        out.append(Say(f"For reservation {c}, I'll bring you to {total} checked bags in total, {paid} of them paid. The cost is ${dol}. Shall I proceed?"))
        out.append(Call('update_reservation_baggages',{'reservation_id':c,'total_baggages':total,'nonfree_baggages':paid,'payment_id':w.card}))
        out.append(Say(f"Your bags on {c} are booked; this cost ${dol}."))
    out.append(Say(f"In total, you pay ${tot} for the added bags."))
    return out
def ask1(ep): # extra calls
    p=list(ep.world.copy().oracle()); w=ep.world
    extra=[Call('get_reservation_details',{'reservation_id':c}) for c in w.reservations]
    return extra+[Call('calculate',{'expression':'2 * 50'})]+p
for l in (2,3):
    rate(n,l,steps=seq,ex=1,label='sequential'); rate(n,l,steps=seq2,ex=1,label='sequential, report each')
rate(n,1,steps=ask1,ex=1,label='more calls')
def wr(kind):
    def f(t,k,ep):
        w=ep.start; due=w.bill(); tot=sum(d[2] for d in due.values()); final='To confirm' not in t; C=w.card
        b=mk(1)(t,k,ep)
        if kind=='stuff': 
            return t if not final else "That is 0, 50, 100, 150, 200, 250, 300 or 350 dollars in all."
        if kind=='refund': return (b if not final else f"Done. {tot} dollars are refunded to your card.")
        if kind=='refund both': return (f"I'll add the bags and {tot} dollars will be refunded to {C}. Shall I proceed?" if not final else f"Done. {tot} dollars are refunded to your card.")
        if kind=='wrongtotal final': return b if not final else f"Done. You pay {tot+50} dollars in all for the added bags."
        if kind=='wrongcount': return b if not final else f"Done. 1 bag was added, and nothing else. You pay ${tot}."
        if kind=='denied' and final: return f"The bags could not be added. It would have cost ${tot}."
        if kind=='range': return f"The added bags will cost between 0 and {tot+200} dollars. Shall I proceed?" if not final else "Done."
        if kind=='wrongmember' and not final: return "As a platinum member you have 7 free bags each. "+b
        if kind=='gift' and final: return b+" As an apology you also get a 50 dollar certificate."
        return b
    return f
for k in ['stuff','refund','refund both','wrongtotal final','wrongcount','denied','range','wrongmember','gift']: rate(n,1,wr(k),ex=0,label='WRONG '+k)
for l in range(4):
  rate(n,l,steps=lambda ep:list(ep.world.copy().ablated()),ex=0,label='ablated')
  def fixed(g):
    def st(ep):
        w=ep.start; out=[]; tot=0
        for c,total in w.wanted.items():
            b=w.reservations[c]; before=b['nonfree_baggages']
            paid={'never':before,'all':before+total-b['total_baggages']}[g]; tot+=50*(paid-before)
            out.append((c,total,paid))
        return [Say(f"I'll book the bags of {', '.join(x[0] for x in out)} for {tot} dollars in all, charged to {w.card}. Shall I proceed?")]+[Call('update_reservation_baggages',{'reservation_id':c,'total_baggages':t,'nonfree_baggages':p,'payment_id':w.card}) for c,t,p in out]+[Say(f"Done. The added bags cost {tot} dollars in all.")]
    return st
  rate(n,l,steps=fixed('never'),ex=0,label='always free'); rate(n,l,steps=fixed('all'),ex=0,label='always paid')
