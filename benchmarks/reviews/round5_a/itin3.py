from itin import *
# what fraction of wrong messages pass with exchanged direction; print the passing example. And arrival as departure, never right
def wrong(kind):
    def p(ep,w):
        b,ppl,L=info(ep,w)
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool!='update_reservation_flights': yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool=='update_reservation_flights'][0]
        diff=sum(l[6]-l[7] for l in L)*ppl
        yield Say(f"I would move you to {' and '.join(l[2] for l in L)}, difference on {w.card}. Shall I proceed?")
        yield upd
        if kind=='exch': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+f" You were {'refunded' if diff>0 else 'charged'} ${abs(diff)} on {w.card}.")
        if kind=='arr': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[5]}." for l in L))
        if kind=='both': yield Say("Done. "+" ".join(f"{l[2]}: {l[4]}, {l[5]}." for l in L))
        if kind=='right_then_arr':
            yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+" To sum up: "+" ".join(f"{l[2]} departs at {l[5]}." for l in L))
        if kind=='swapped' :
            yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[5]} and arrives at {l[4]}." for l in L))
        if kind=='upg_this': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+" I have upgraded your trip to business class.") if b['cabin']!='business' else Say("x")
        if kind=='cancel_claim': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+f" Your reservation {w.code} has been cancelled.")
        if kind=='noflight_old': yield Say("Done. "+" ".join(f"{l[2]} leaves at {l[4]}." for l in L)+f" The change was free of charge.")
    return p
for k in ('exch','arr','both','right_then_arr','swapped','upg_this','cancel_claim','noflight_old'):
    run(N,wrong(k),n=50,label='WRONG '+k,good='pass',examples=1 if k=='exch' else 0,levels=[1,3])
