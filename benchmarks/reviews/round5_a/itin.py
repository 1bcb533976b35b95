from h import *
import sys
N='tau2_itinerary_preservation'
def info(ep,w):
    b=w.reservations[w.code]; ppl=len(b['passengers']); L=[]
    for i,f in enumerate(b['flights']):
        if i in w.moves:
            n,on=w.moves[i]; fl=w.flights[n]; p=fl['dates'][on]['prices'][b['cabin']]
            L.append((i,f['flight_number'],n,on,fl['scheduled_departure_time_est'][:5],fl['scheduled_arrival_time_est'][:5],p,f['price'],f['origin'],f['destination']))
    return b,ppl,L
def t12(t):
    h,m=map(int,t.split(':')); return f"{(h-1)%12+1}:{m:02d} {'AM' if h<12 else 'PM'}"
def pol(style):
    def p(ep,w):
        b,ppl,L=info(ep,w)
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool!='update_reservation_flights': yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool=='update_reservation_flights'][0]
        diff=sum(l[6]-l[7] for l in L)*ppl
        kept=[f for i,f in enumerate(b['flights']) if i not in w.moves]
        word=(f'an additional charge of ${diff}' if diff>0 else f'a refund of ${-diff}')
        keptl=''.join(f"\n- {f['flight_number']} {f['origin']} → {f['destination']} on {f['date']}: unchanged" for f in kept)
        if style=='rich':
            t="I found the flights you asked for. Here is what I would change on reservation "+w.code+":\n"
            for l in L: t+=f"\n- {l[8]} → {l[9]}: {l[1]} → **{l[2]}** on {l[3]}, departing {t12(l[4])}, arriving {t12(l[5])} (${l[6]} per passenger, instead of ${l[7]})"
            t+=keptl
            t+=f"\n\nFor {ppl} passenger{'s' if ppl>1 else ''}, this results in {word} to {w.card}. Do you want me to proceed (yes/no)?"
            r=yield Say(t)
            yield upd
            t=f"Your reservation {w.code} has been updated:\n"
            for l in L: t+=f"\n- {l[2]} {l[8]} → {l[9]} on {l[3]}: departs {l[4]}, arrives {l[5]}"
            t+=keptl
            t+=f"\n\nThe {'charge' if diff>0 else 'refund'} of ${abs(diff)} has been applied to {w.card}. Is there anything else I can help you with?"
            yield Say(t)
        elif style=='prose':
            r=yield Say("I can do that. "+" ".join(f"You would move from {l[1]} to {l[2]} from {l[8]} to {l[9]}, leaving at {l[4]} and landing at {l[5]} on {l[3]}." for l in L)+f" The fare difference is {word}, applied to your credit card {w.card}. All other flights stay the same. May I go ahead?")
            yield upd
            yield Say("Done! "+" ".join(f"Your new flight {l[2]} leaves {l[8]} at {t12(l[4])}." for l in L)+" Have a great trip!")
        elif style=='table':
            t="Here is the summary of the changes:\n\n| Segment | Current flight | New flight | Departure | Arrival | Fare |\n|---|---|---|---|---|---|\n"
            for l in L: t+=f"| {l[8]}-{l[9]} | {l[1]} | {l[2]} | {l[4]} | {l[5]} | ${l[6]} |\n"
            t+=f"\nDifference: ${abs(diff)} {'to be charged' if diff>0 else 'to be refunded'} to {w.card}. Shall I make this change?"
            yield Say(t); yield upd
            yield Say("The change is complete.\n"+"\n".join(f"New departure time of {l[8]} to {l[9]} ({l[2]}): {l[4]}" for l in L))
        elif style=='options':  # lists the alternatives on the day too
            t="I looked at the nonstop flights on that day:\n"
            for l in L:
                for f in w.search_direct_flight(l[8],l[9],l[3]):
                    t+=f"- {f['flight_number']}: departs {f['scheduled_departure_time_est'][:5]}, arrives {f['scheduled_arrival_time_est'][:5]}\n"
            t+="The ones that match your request: "+", ".join(f"{l[2]} (arrives {l[5]})" for l in L)+f". I would switch you to {' and '.join(l[2] for l in L)}, with {word} on {w.card}. Do you confirm?"
            yield Say(t); yield upd
            yield Say("Your flights have been changed. "+" ".join(f"{l[2]} departs {l[8]} at {l[4]} and arrives in {l[9]} at {l[5]} on {l[3]}." for l in L))
        elif style=='itinerary':  # final: the complete itinerary with times of every flight
            yield Say("I'd change "+" and ".join(f"{l[1]} to {l[2]} ({l[4]}-{l[5]})" for l in L)+f" on {L[0][3]} with {word} on {w.card}. OK?")
            yield upd
            t="All set! Your updated itinerary:\n"
            for i,f in enumerate(b['flights']):
                n,on=w.moves.get(i,(f['flight_number'],f['date'])); fl=w.flights[n]
                t+=f"{i+1}. {n}: {f['origin']} to {f['destination']}, {on}, {fl['scheduled_departure_time_est'][:5]} – {fl['scheduled_arrival_time_est'][:5]}\n"
            yield Say(t)
        elif style=='nonums':
            yield Say("I found "+" and ".join(f"a nonstop flight from {l[8]} to {l[9]} that arrives at {l[5]} and departs at {l[4]}" for l in L)+f". The difference would go to {w.card}. Would you like me to book it?")
            yield upd
            yield Say("It's done. "+" ".join(f"The new flight from {l[8]} to {l[9]} leaves at {l[4]}." for l in L))
    return p
if __name__=='__main__':
    for st in ('rich','prose','table','options','itinerary','nonums'):
        run(N,pol(st),n=50,label=st)
