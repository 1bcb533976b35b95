from h import *
from c1 import mk, info
n='tau2_conditional_instructions'
def retry(ep):
    # first action named; when the tool refuses, the next one (asks again)
    return None
def playretry(l,s,lookup=True):
    ep=ep_(n,l,s); w=ep.start; b=w.reservations[w.asked]
    ep.step(Call('get_reservation_details',{'reservation_id':w.asked}))
    ep.step(Call('search_direct_flight',{'origin':b['origin'],'destination':b['destination'],'date':w.day}))
    for br in w.branches:
        A=w.owed[br]
        if br: t=f"{w.named} costs {w.offered[w.named]} dollars a person in business class. I will move {w.asked} to {br} on {w.day} and charge {A} dollars to {w.card}. Shall I proceed?"
        else: t=f"{w.named} costs {w.offered[w.named]} dollars a person in business class. I will cancel {w.asked} and refund {A} dollars. Shall I proceed?"
        ep.step(Say(t))
        r=ep.step(Call('update_reservation_flights' if br else 'cancel_reservation',w.deed(br)))
        if not str(r[0]['content']).startswith('Error'): break
    ep.step(Say("This is done."))
    if not ep.done: ep.step(Say("Goodbye."))
    return ep,ep.finish()
for l in range(4):
    ok=full=ab=0
    for s in range(150):
        ep,sc=playretry(l,s); ok+=sc.success; full+=sc.success and sc.conduct==1
        e2,s2,_=play(n,l,s,steps=lambda ep:list(ep.world.copy().ablated())); ab+=s2.success
    print('L',l,'retry-after-error success',ok,'full',full,'ablated',ab,'of 150')
def last(ep):
    w=ep.start; return list(w.copy().carry_out(w.branches[-1]))
for l in range(4): rate(n,l,steps=last,ex=0,label='always last branch')
def wr(kind):
    def f(t,k,ep):
        w,b,p,old=info(ep); R=w.right; A=w.owed[R]; F=w.offered[w.named]; c=w.asked; fin='Shall I' not in t
        base=mk(0)(t,k,ep)
        verb=f"move {c} to {R} on {w.day}" if R else f"cancel {c}"
        if kind=='flip': return f"{w.named} costs {F} dollars a person in business class. I'll {verb}, and {A} dollars will be {'refunded to' if R else 'charged to'} {w.card}. Shall I proceed?" if not fin else "Done."
        if kind=='flip2': return f"{w.named} costs {F} dollars a person in business class. I'll {verb}. You will {'get back' if R else 'pay'} {A} dollars. Shall I proceed?" if not fin else "Done."
        if kind=='stuff': return f"{w.named} costs {F} dollars a person in business class. I'll {verb}. The amount is one of "+', '.join(str(x) for x in w.owed.values())+" dollars to pay or get back. Shall I proceed?" if not fin else "Done."
        if kind=='nothing': return f"I'll {verb}. Shall I proceed?" if not fin else "Done."
        if kind=='wrongfare': return f"{w.named} costs {F+7} dollars a person in business class. I'll {verb}; {A} dollars are {'charged' if R else 'refunded'}. Shall I proceed?" if not fin else "Done."
        if kind=='econ': return f"{w.named} costs {F} dollars a person in economy. I'll {verb}; {A} dollars are {'charged' if R else 'refunded'}. Shall I proceed?" if not fin else "Done."
        if kind=='otherdone': return base if not fin else (f"I have cancelled {c}." if R else f"I have moved {c} to {w.named}.")
        if kind=='denied': return base if not fin else f"I'm sorry, I could not carry out your request."
        if kind=='badcond' and not fin: return f"Your trip meets none of your conditions, and HAT999 is full. "+base
        return base
    return f
for k in ['flip','flip2','stuff','nothing','wrongfare','econ','otherdone','denied']: rate(n,1,wr(k),ex=0,label='WRONG '+k)
# v3 variants at L3
def v3b(t,k,ep):
    r=mk(3)(t,k,ep); return r.replace('the price difference is','you will pay a difference of').replace(' in total. Shall',' in total. Shall')
rate(n,3,v3b,ex=0,label='v3 with pay')
def v3c(t,k,ep):
    w,b,p,old=info(ep); R=w.right; A=w.owed[R]
    if 'Shall I' in t and R: return f"{w.named} costs ${w.offered[w.named]} per person in business class. I'll move the trip to {R}. The price difference is ${w.offered[R]-old['price']} per person, so ${A} in total for all {p} of you. Shall I go ahead?"
    return mk(3)(t,k,ep)
for l in (1,2,3): rate(n,l,v3c,ex=1 if l==3 else 0,label='difference per person and total, no verb pay')
def v3d(t,k,ep):
    w,b,p,old=info(ep); R=w.right; A=w.owed[R]
    if 'Shall I' in t and R: return f"{w.named} costs ${w.offered[w.named]} per person in business class. I'll move the trip to {R}. The total fare difference is ${A}, which will go to {w.card}. Shall I go ahead?"
    return mk(3)(t,k,ep)
for l in (1,2,3): rate(n,l,v3d,ex=1 if l==3 else 0,label='total difference goes to card')
