from itin import *
for st in ('itinerary','nonums'): run(N,pol(st),n=50,label=st)
# wrong agents
def wrong(kind):
    def p(ep,w):
        b,ppl,L=info(ep,w)
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool!='update_reservation_flights': yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool=='update_reservation_flights'][0]
        diff=sum(l[6]-l[7] for l in L)*ppl
        if kind!='noconsent': yield Say(f"I would move you to {' and '.join(l[2]+' leaving at '+l[4] for l in L)}, difference on {w.card}. Shall I proceed?")
        if kind=='partial':  # claims but only named flights
            upd=[s for s in w.copy().ablated() if isinstance(s,Call) and s.tool=='update_reservation_flights'][0]
        if kind!='nowrite': yield upd
        if kind=='exchanged': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+f" You were {'refunded' if diff>0 else 'charged'} ${abs(diff)} on {w.card}.")
        elif kind=='wrongamt': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+f" The difference of ${abs(diff)+37} was {'charged' if diff>0 else 'refunded'} to {w.card}.")
        elif kind=='bagsclaim': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+f" I also added insurance and two free checked bags to {w.code}.")
        elif kind=='othercab': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+f" I also upgraded your trip {w.code} to business class.")
        elif kind=='arrival': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[5]}." for l in L))
        elif kind=='keptcancel': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+" I removed your other flights from the reservation.")
        else: yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L))
    return p
for k in ('noconsent','partial','nowrite','exchanged','wrongamt','bagsclaim','othercab','arrival','keptcancel'):
    run(N,wrong(k),n=50,label='WRONG '+k,good=False,examples=0,levels=[1,3])
