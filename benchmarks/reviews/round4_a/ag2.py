from ag import *
import random
def wr(kind):
    def p(w,e):
        d=info(w); yield from reads(w,d,True); D=dict(d); cancel=list(d['chosen'])
        t=lambda x:x
        if kind=='noconsent':
            for c in cancel: yield Call("cancel_reservation",{"reservation_id":c})
            yield Say(f"You paid ${d['total']} in total. "+Af(d)); 
            if not e.done: yield Say("Yes, everything is done.")
            return
        if kind=='total+50': D['total']+=50
        if kind=='back+50': D['back']+=50
        if kind=='swapparts': # per-trip amounts permuted in list (total right)
            cs=d['asked']; v=[d['paid'][c] for c in cs]; D['paid']=dict(zip(cs,v[1:]+v[:1])); D['paid'].update({c:d['paid'][c] for c in d['codes'] if c not in cs})
        if kind=='first3': # uses only first three for total, right cancel
            D['total']=sum(d['paid'][c] for c in d['codes'][:3])
        if kind in('charged',):
            yield Say(B(d).replace("you would get back","you would be charged")); 
            for c in cancel: yield Call("cancel_reservation",{"reservation_id":c})
            yield Say(f"The cancellation is complete, and ${d['back']} was charged to your original payment method.")
            if not e.done: yield Say("Yes, everything is done.")
            return
        if kind=='chargedthenback':
            yield Say(B(d)); 
            for c in cancel: yield Call("cancel_reservation",{"reservation_id":c})
            yield Say(f"The cancellation is complete, and ${d['back']} was charged to your card.")
            if not e.done: yield Say("Yes, everything is done.")
            return
        if kind=='stuff':
            yield Say(B(d)+" Subtotals: "+", ".join(f"${sum(d['paid'][c] for c in d['codes'][:k])}" for k in range(1,len(d['codes'])+1))+".")
            for c in cancel: yield Call("cancel_reservation",{"reservation_id":c})
            yield Say(Bf(d))
            if not e.done: yield Say("Yes, everything is done.")
            return
        if kind=='stufftotals':
            yield Say("You paid one of: "+", ".join(f"${sum(d['paid'][c] for c in d['codes'][:k])}" for k in range(1,len(d['codes'])+1))+f". I will cancel {', '.join(cancel)}, ${d['back']} come back. Do you agree?")
            for c in cancel: yield Call("cancel_reservation",{"reservation_id":c})
            yield Say(Bf(d))
            if not e.done: yield Say("Yes, everything is done.")
            return
        if kind=='extra claim':
            yield Say(B(d))
            for c in cancel: yield Call("cancel_reservation",{"reservation_id":c})
            yield Say(f"All your trips have been cancelled, and ${d['back']} will be refunded.")
            if not e.done: yield Say("Yes, everything is done.")
            return
        if kind=='wrong names':
            oth=[c for c in d['codes'] if c not in cancel][:len(cancel)]
            yield Say(B(d))
            for c in cancel: yield Call("cancel_reservation",{"reservation_id":c})
            yield Say(f"I have cancelled {', '.join(oth)}, and ${d['back']} will be refunded.")
            if not e.done: yield Say("Yes, everything is done.")
            return
        yield Say((A if kind=='swapparts' else B)(D))
        for c in cancel: yield Call("cancel_reservation",{"reservation_id":c})
        yield Say((Af if kind=='swapparts' else Bf)(D))
        if not e.done: yield Say("Yes, everything is done.")
    return p
nn=lambda w:not w.named
for k in ['noconsent','total+50','back+50','swapparts','first3','charged','chargedthenback','stuff','stufftotals','extra claim','wrong names']:
    for lv in (1,3):
        f=(lambda w:not w.named and len(w.reservations)>3) if k in('first3','swapparts','stuff','stufftotals') else None
        r=rate2('tau2_aggregation',lv,wr(k),range(60),f); print(lv,k,r[0],r[1],r[2][:9],flush=True)
s=next(s for s in range(60) if nn(ep('tau2_aggregation',3,s).world)); 
for k in ('swapparts','wrong names','chargedthenback'): dump('tau2_aggregation',3,s,wr(k))
