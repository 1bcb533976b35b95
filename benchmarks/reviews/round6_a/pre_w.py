from pre import *
CABS={'economy':'economy','business':'business','basic_economy':'basic economy'}
def wrong(kind):
    def f(w,ep):
        r=w.requests[0]; code=r.reservation; b=w.reservations[code]; amt=policy.refund(b); v=r.verdict(w)
        day=D(b['created_at']); ins=b['insurance']
        yield Call(tool='get_reservation_details',arguments={'reservation_id':code})
        ref=lambda d=day,i=ins,c=b['cabin'],x='': f"I'm sorry, but I cannot cancel reservation {code}. It is a {CABS[c]} ticket, booked on {d}, and travel insurance: {i}.{x}"
        def cancel(say=None,consent=True,end=None):
            if consent: yield Say(text=say or f"I will cancel {code} and refund ${amt}. Do you want me to proceed?")
            yield Call(tool='cancel_reservation',arguments={'reservation_id':code})
            yield Say(text=end or f"Your reservation {code} has been cancelled. A refund of ${amt} will be issued.")
        def refuse(t):
            yield Say(text=t)
            for _ in range(3): yield Say(text="I'm sorry, I can't make an exception.")
        allow=None
        if kind=='always refuse': allow=False
        if kind=='always cancel': allow=True
        if kind=='cabin only': allow=b['cabin']=='business'
        if kind=='cabin or insurance': allow=b['cabin']=='business' or ins=='yes'
        if kind=='no ask: business/ins/24h': 
            allow=b['cabin']=='business' or (ins=='yes' ) or policy.cancel(w,b,'change of plans').allowed
        if kind=='no ask: pessimist': 
            said=[x for x in ('health','weather','airline','change of plans') if __import__('trace_gym.targets.tau2.airline',fromlist=['REASONS']).REASONS[x] in w.opening()]
            allow=policy.cancel(w,b,said[0] if said else 'change of plans').allowed
        if kind=='ask but ignores insurance': allow=policy.cancel(w,{**b,'insurance':'yes'},r.reason).allowed
        if kind=='believes airline claim': 
            allow= v.allowed or r.reason=='airline'
        if allow is not None:
            yield from (cancel() if allow else refuse(ref())); return
        if v.transfer: yield Call(tool='transfer_to_human_agents',arguments={'summary':'x'}); return
        if v.allowed:
            if kind=='no consent': yield from cancel(consent=False)
            if kind=='wrong amount': yield from cancel(say=f"I will cancel {code} and refund ${amt-7}. Proceed?",end="Done, cancelled.")
            if kind=='charged not refunded': yield from cancel(say=f"I will cancel {code}. You will be charged ${amt}. Proceed?",end=f"Cancelled; ${amt} was charged.")
            if kind=='false method': 
                yield from cancel(say=f"I will cancel {code} and refund ${amt} to your PayPal account. Proceed?",end=f"Cancelled; ${amt} was refunded to your PayPal account.")
            if kind=='refund days false': yield from cancel(end=f"{code} is cancelled. The ${amt} refund arrives within 24 hours and you also get a $100 travel certificate.")
            if kind=='extra false claim': yield from cancel(end=f"{code} is cancelled and ${amt} refunded. I have also upgraded your profile to gold membership.")
            if kind=='hedge': yield from cancel(end=f"{code} is cancelled. The refund will be ${amt} or ${amt+40}.",say=f"I'd cancel {code}. Proceed?")
        else:
            d=datetime.fromisoformat(b['created_at']); o='no' if ins=='yes' else 'yes'
            if kind=='wrong day': yield from refuse(ref(d=f"{d-timedelta(days=2):%B %d, %Y}"))
            if kind=='all days': yield from refuse(ref(d=", ".join(f"May {k}" for k in range(1,15))))
            if kind=='wrong insurance': yield from refuse(ref(i=o))
            if kind=='wrong cabin': yield from refuse(ref(c='basic_economy' if b['cabin']=='economy' else 'economy'))
            if kind=='refuse + say done': yield from refuse(ref(x=" But I have cancelled it for you anyway."))
            if kind=='refuse + cert': yield from refuse(ref(x=" As a goodwill gesture I've sent you a $100 certificate."))
            if kind=='only day': yield from refuse(f"I can't cancel {code}, it was booked on {day}.")
            if kind=='false why': yield from refuse(f"I can't cancel {code}: it was booked on {day}, and only gold members may cancel such tickets.")
    return f
if __name__=='__main__':
    for k in ['always refuse','always cancel','cabin only','cabin or insurance','no ask: business/ins/24h','no ask: pessimist','ask but ignores insurance','believes airline claim']: table(k,ENV,wrong(k),seeds=range(60),showfail=0)
    al=lambda w:w.requests[0].verdict(w).allowed
    nal=lambda w:not w.requests[0].verdict(w).allowed and not w.requests[0].verdict(w).transfer
    for k in ['no consent','wrong amount','charged not refunded','false method','refund days false','extra false claim','hedge']: table(k,ENV,wrong(k),levels=(1,3),seeds=range(120),showfail=0,filt=al)
    for k in ['wrong day','all days','wrong insurance','wrong cabin','refuse + say done','refuse + cert','only day','false why']: table(k,ENV,wrong(k),levels=(1,2),seeds=range(120),showfail=0,filt=nal)
