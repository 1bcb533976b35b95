from ms import *
def asks(ep):
    w,L=st(ep)
    ep.a=[]
    r=yield Say("I'd be happy to help with that. Before I proceed, could you tell me the reason for the cancellation(s)?"); ep.a.append(r)
    for r_,b,v,c,d in L: yield Call("get_reservation_details",{"reservation_id":r_.reservation})
    if any(kind(x[0])=='Upgrade' for x in L):
        r=yield Say("Which payment method would you like to use for the upgrade?"); ep.a.append(r)
    ok=[x for x in L if x[2].allowed]; no=[x for x in L if not x[2].allowed]
    r=yield Say(P(0)(ok,no,0)); ep.a.append(r)
    for x in ok: yield x[3]
    r=yield Say(En(0)(ok,no,0)); ep.a.append(r); yield Say("Bye.")
rate(E,range(4),S,{'asks':asks},show=1)
for lv in range(4): print(run(E,lv,801,asks).a)
def wrong(skip=None,all_=False,end=None,refuse=True,consent=True):
    def a(ep):
        w,L=st(ep)
        for r_,b,v,c,d in L: yield Call("get_reservation_details",{"reservation_id":r_.reservation})
        ok=[x for x in L if x[2].allowed or all_]; no=[x for x in L if not x[2].allowed and not all_]
        if consent: yield Say(P(1)(ok,no if refuse else [],0))
        do=ok if skip is None else ok[:skip]
        for x in do: yield x[3]
        yield Say((end or En(1))(ok,no if refuse else [],0)); yield Say("Bye."); yield Say("Bye.")
    return a
def swapamt(ok,no,rs):
    D=[x[4] for x in ok]; D=D[1:]+D[:1]
    return 'Done! '+'. '.join(done((x[0],x[1],x[2],x[3],d),1) for x,d in zip(ok,D))+'.'
def exch(ok,no,rs): return 'Done! '+'. '.join(f"{x[0].reservation}: ${x[4]} charged" if kind(x[0])=='Cancel' else f"{x[0].reservation}: ${x[4]} refunded" for x in ok)+'.'
def exch2(ok,no,rs): return 'Done! '+'. '.join(f"I have cancelled {x[0].reservation} and charged ${x[4]}" if kind(x[0])=='Cancel' else f"I have upgraded {x[0].reservation} and refunded ${x[4]}" for x in ok)+'.'
def claimall(ok,no,rs): return En(1)(ok,[],0)+ ' '+' '.join(f"Reservation {x[0].reservation} has also been cancelled." for x in no)
def gift(ok,no,rs): return En(1)(ok,no,0)+ " As an apology I'm sending you a $50 certificate."
def totalwrong(ok,no,rs): return En(1)(ok,no,0)+ f" In total you get back ${sum(x[4] for x in ok if kind(x[0])=='Cancel')+111}."
W={'first_only':wrong(1),'all_but_last':wrong(-1),'never_refuse':wrong(None,True),'silent_refuse':wrong(None,refuse=False),'swapamt':wrong(end=swapamt),'exch':wrong(end=exch),'exch2':wrong(end=exch2),'claimall':wrong(end=claimall),'gift':wrong(end=gift),'totalwrong':wrong(end=totalwrong),'noconsent':wrong(consent=False)}
rate(E,range(4),S,W,quiet=True)
