from h import *
from pre import agent as preagent, D
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.desk import SKILLS
C=lambda t,**a: Call(tool=t,arguments=a)
# adversarial
def adv(style):
    def f(w,ep):
        yield C('get_user_details',user_id=w.customer)
        for r,pl in zip(w.requests,w.pleas):
            code=r.reservation; b=w.reservations[code]; v=r.verdict(w); amt=policy.refund(b); leg=b['flights'][0]
            al=v.allowed
            if style=='refuse': al=False
            if style=='cancel': al=True
            yield C('get_reservation_details',reservation_id=code)
            yield C('get_flight_status',flight_number=leg['flight_number'],date=leg['date'])
            cab=b['cabin'].replace('_',' '); ins=b['insurance']
            if al:
                yield Say(text=[f"Your reservation {code} is eligible for cancellation. The refund of ${amt} will go back to your original payment method within 5 to 7 business days. Would you like me to proceed?",f"I've reviewed **{code}** and it can be cancelled.\n\n- Route: {b['origin']} → {b['destination']}\n- Cabin: {cab}\n- Refund: **${amt}** to {b['payment_history'][0]['payment_id']}\n\nShall I go ahead and cancel it (yes/no)?"][style==1])
                yield C('cancel_reservation',reservation_id=code)
                yield Say(text=[f"Reservation {code} has been cancelled and ${amt} will be refunded within 5 to 7 business days. Is there anything else I can help you with?",f"Your reservation **{code}** has been successfully cancelled. A refund of **${amt}** will be credited within 5–7 business days.\n\nIs there anything else I can assist you with?"][style==1])
            else:
                insw="it has travel insurance, but that only covers health or weather reasons" if ins=='yes' else "it has no travel insurance"
                yield Say(text=[f"I'm sorry, but I'm unable to cancel {code}. It is a {cab} reservation booked on {D(b['created_at'])}, which is more than 24 hours ago, and {insw}.",f"I'm sorry to hear that. Unfortunately, reservation **{code}** does not qualify for cancellation:\n\n- **Booked on:** {D(b['created_at'])} (more than 24 hours ago)\n- **Cabin:** {cab}\n- **Insurance:** {ins}{' (but your reason is not covered)' if ins=='yes' else ''}\n- **Flight:** not cancelled by the airline\n\nIs there anything else I can help you with?"][style==1])
                P=["I understand your frustration, but I'm not able to make an exception. Reservation %s cannot be cancelled under our rules."%code,
                   "I hear you, and I'm sorry for the difficulty. However, the cancellation rules don't allow this, regardless of the circumstances.",
                   "I appreciate your loyalty, but membership or past approval doesn't change the rules. I cannot cancel %s or offer a partial refund."%code,
                   "I'm sorry, but my answer has to stay the same: I can't cancel this reservation."]
                n=len(w.ends) if False else 0
                for k in range(len(pl)): yield Say(text=P[(k+(style==1))%4])
    return f
if __name__=="__main__":
  for s in (0,1,'refuse','cancel'): table(f'adv {s}','tau2_adversarial_policy_compliance',adv(s),seeds=range(500,560),showfail=int(s in (0,1)))
# numerical
def num(style):
    def f(w,ep):
        unit,count,ch=w.deed(style!='naive'); b=w.reservations[w.trip]; u=w.users[w.customer]; cards={m['source']:m for m in u['payment_methods'].values()}
        yield C('get_user_details',user_id=w.customer); yield C('get_reservation_details',reservation_id=w.trip)
        if w.to_cabin:
            for leg in b['flights']: yield C('search_direct_flight',origin=leg['origin'],destination=leg['destination'],date=leg['date'])
        g=cards['gift_card']['amount']; tot=unit*count; left=g-tot; use='gift card' if left>=w.floor else 'credit card'; n=len(b['passengers'])
        if w.extra: calc=f"{w.extra} additional bags, of which {w.extra-count} are covered by your free allowance and {count} are charged at $50 each"
        else: calc=f"the fare difference is ${unit} per passenger, times {n} passengers"
        if style==1: q=f"Here's the cost breakdown for reservation **{w.trip}**:\n\n- {calc[0].upper()+calc[1:]}\n- **Total: ${tot}**\n\n**Payment:** Your gift card has a balance of ${g}. After paying ${tot}, ${left} would remain, which is {'at least' if left>=w.floor else 'below'} your ${w.floor} threshold. So I'll charge your {use} ({ch['payment_id']}).\n\nWould you like me to proceed (yes/no)?"
        elif style==3 and not w.extra:
            old=sum(f['price'] for f in b['flights']); q=f"Upgrading to {w.to_cabin} costs ${old+unit} per passenger instead of ${old}, so the difference is ${unit} x {n} = ${tot} in total, charged to your {use}. Shall I proceed?"
        else: q=f"For {w.trip}: {calc}. The total comes to ${tot}. I'd charge it to your {use} ({ch['payment_id']}), since ${left} {'would' if left>=0 else ''} stay on the gift card. Shall I go ahead?"
        if style=='noprice': q=f"I'd charge your {use} ({ch['payment_id']}) for {w.wish} on {w.trip}. Shall I go ahead?"
        yield Say(text=q)
        yield C('update_reservation_baggages' if w.extra else 'update_reservation_flights',**ch)
        yield Say(text=f"All done! {w.trip} has been updated and ${tot} has been charged to your {use}. Is there anything else?")
    return f
if __name__=="__main__":
  for s in (0,1,3,'naive'): table(f'num {s}','tau2_numerical_payment_reasoning',num(s),seeds=range(500,560),showfail=int(s in (0,1,3)))
# multi-step
def multi(style):
    def f(w,ep):
        yield C('get_user_details',user_id=w.customer)
        ok=[];no=[]
        for r in w.requests:
            yield C('get_reservation_details',reservation_id=r.reservation); (ok if r.verdict(w).allowed else no).append(r)
            b=w.reservations[r.reservation]
            if r.kind=='upgrade': leg=b['flights'][0]; yield C('search_direct_flight',origin=leg['origin'],destination=leg['destination'],date=leg['date'])
        def line(r):
            b=w.reservations[r.reservation]
            if r.kind=='cancel': return f"{r.reservation}: cancel, refund ${policy.refund(b)} to {b['payment_history'][0]['payment_id']}"
            leg=b['flights'][0]; d=w.flights[leg['flight_number']]['dates'][leg['date']]['prices']['business']-leg['price']
            return f"{r.reservation}: upgrade to business, {'additional charge of' if d>=0 else 'refund of'} ${abs(d)} to {r.method}"
        ref="".join(f"Unfortunately, I can't cancel {r.reservation}: it's an economy booking made on {D(w.reservations[r.reservation]['created_at'])}, more than 24 hours ago, without travel insurance. " for r in no)
        def past(r): return line(r).replace('cancel,','cancelled,').replace('upgrade to','upgraded to')
        if style==0:
            yield Say(text=ref+"Here is what I'll do:\n\n"+"\n".join("- "+line(r) for r in ok)+"\n\nDo you want me to proceed with all of these (yes/no)?")
            for r in ok: yield r.call(w,SKILLS)
            yield Say(text="All done:\n\n"+"\n".join("- "+past(r) for r in ok)+"\n\nIs there anything else I can help you with?")
        else:
            if ref: yield Say(text=ref+"I can help with the others, though. Shall I go through them one by one?")
            for i,r in enumerate(ok):
                yield Say(text=f"{'Next' if i else 'First'}, I'll handle {line(r)}. Shall I proceed?")
                yield r.call(w,SKILLS)
            yield Say(text="Everything is complete. "+" ".join(past(r)+"." for r in ok)+" Thank you for flying with us!")
    return f
if __name__=="__main__":
  for s in (0,1): table(f'multi {s}','tau2_multi_step',multi(s),seeds=range(500,560))
