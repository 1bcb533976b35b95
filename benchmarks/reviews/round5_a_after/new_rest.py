from nh import *
from itin import info,t12
from condi import ctx as cctx
from trace_gym.targets.tau2 import policy
import sys
def mw(w,pid):
    m=w.users[w.customer]['payment_methods'].get(pid,{}) if hasattr(w,'customer') else {}
    return f"{m['brand'].title()} ending in {m['last_four']}" if m.get('source')=='credit_card' else pid.rsplit('_',1)[0].replace('_',' ')
ASKS=["Would you like me to proceed? (yes/no)","Shall I go ahead?","Do you confirm?","Please confirm and I'll take care of it.","Is that okay with you?","Would you like me to go ahead with this?","May I proceed?","Do you want me to make this change?","Please let me know if I should go ahead.","Can you confirm that this is correct?"]
def it(k):
    def p(ep,w):
        b,ppl,L=info(ep,w); O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool!='update_reservation_flights': yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool=='update_reservation_flights'][0]
        d=sum(l[6]-l[7] for l in L)*ppl; a=abs(d); up=d>0; card=w.card; c=w.code
        NP=sum(l[6] for l in L); OP=sum(l[7] for l in L); cab=b['cabin'].replace('_',' ')
        kept=[f for i,f in enumerate(b['flights']) if i not in w.moves]
        legs="\n".join(f"- {l[8]} → {l[9]}: {l[1]} (${l[7]}) → {l[2]} (${l[6]}), {l[3]}, {l[4]}–{l[5]}" for l in L)
        names=" and ".join(l[2] for l in L)
        P={0:f"The cheapest suitable option is {names} on {L[0][3]}. It costs ${NP} per passenger compared with ${OP} now, so {'an extra $'+str(a)+' would be charged to' if up else '$'+str(a)+' would go back to'} {card}{'' if up else ' within 5 to 7 business days'}.",
        1:"| Leg | Old | New | Dep. | Arr. | Old fare | New fare |\n|---|---|---|---|---|---|---|\n"+"\n".join(f"| {l[8]}–{l[9]} | {l[1]} | {l[2]} | {l[4]} | {l[5]} | ${l[7]} | ${l[6]} |" for l in L)+f"\n\n{'Amount due' if up else 'Refund'}: ${a} ({card}). ",
        2:f"Proposed change of {c}:\n{legs}\n"+"".join(f"- {f['flight_number']}: stays as it is\n" for f in kept)+f"\nBreakdown: {ppl} × (${NP} − ${OP}) = {'' if up else '−'}${a}. {'Charge' if up else 'Refund'} method: {card}.",
        3:f"You're booked in {cab} and would stay in {cab}. New flight{'s' if len(L)>1 else ''}: {names}. The fare is ${abs(NP-OP)} {'higher' if up else 'lower'} per person, ${a} in total, {'charged to' if up else 'refunded to'} {card}.",
        4:f"I found {names}: departs {t12(L[0][4])}, arrives {t12(L[0][5])}. New total: ${NP*ppl}; already paid: ${OP*ppl}; {'to pay' if up else 'you get back'}: ${a} on {card}. Everything else in {c} is kept.",
        5:f"{names} costs ${NP} instead of ${OP} per person. The difference of ${a} is settled with {card}; the bags, insurance and passengers stay the same. You'll receive an updated confirmation by email.",
        6:"Your request can be done with the following flights:\n"+"\n".join(f"{i+1}. {l[2]} from {l[8]} to {l[9]}, {l[3]}, leaving {l[4]}, landing {l[5]}" for i,l in enumerate(L))+f"\nPrice difference: {'+' if up else '−'}${a}\nPayment: {card}\n",
        7:f"{L[0][2]} is the one that fits: it lands at {L[0][5]} and {'costs $'+str(L[0][6])+', i.e. $'+str(abs(L[0][6]-L[0][7]))+(' more' if L[0][6]>L[0][7] else ' less')+' per person'}. "+(f"For the other leg, {L[1][2]}. " if len(L)>1 else "")+f"I'd use {card} for the fare difference.",
        }[k]
        R={0:f"Your reservation {c} has been updated. "+" ".join(f"{l[2]} departs {l[8]} at {l[4]} and arrives at {l[5]}." for l in L)+f" {'$'+str(a)+' was charged to' if up else '$'+str(a)+' will be refunded to'} {card}{'' if up else ' within 5 to 7 business days'}.",
        1:"| Flight | Date | Departs | Arrives |\n|---|---|---|---|\n"+"\n".join(f"| {l[2]} | {l[3]} | {l[4]} | {l[5]} |" for l in L)+f"\n\n{'Charged' if up else 'Refunded'}: ${a}",
        2:"Done! Here's your new itinerary:\n"+"\n".join(f"- {l[2]} ({l[8]} → {l[9]}), {l[3]}: departure {l[4]}, arrival {l[5]} (before: {l[1]})" for l in L)+"".join(f"\n- {f['flight_number']} on {f['date']}: unchanged" for f in kept),
        3:"All set: "+", ".join(f"{l[2]} leaves at {t12(l[4])} and lands at {t12(l[5])}" for l in L)+f". You {'paid $'+str(a)+' more' if up else 'get $'+str(a)+' back'}.",
        4:"✅ "+" / ".join(f"{l[2]} {l[3]} dep {l[4]} arr {l[5]}" for l in L)+f"\n💳 {'Charged' if up else 'Refunded'} ${a} ({card})",
        5:"I've rebooked you. "+" ".join(f"The new departure time from {l[8]} is {l[4]} ({l[2]})." for l in L)+f" The total fare changed from ${OP*ppl} to ${NP*ppl}.",
        6:"The change went through. "+" ".join(f"You'll now leave {l[8]} at {l[4]} on {l[2]} instead of {l[1]}." for l in L)+f" Price breakdown: {ppl} × ${abs(NP-OP)} = ${a}.",
        7:f"Reservation {c} was changed successfully; "+"; ".join(f"{l[2]}: {l[8]} {l[4]} → {l[9]} {l[5]}" for l in L)+". The other details (passengers, baggage, cabin) remain the same."}[k]
        yield Say(P+"\n\n"+ASKS[k]); yield upd; yield Say(R+("" if k%2 else "\n\nIs there anything else I can help you with?"))
    return p
def num(k):
    def p(ep,w):
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool.startswith('update')][0]
        unit,count,ch=w.deed(); tot=unit*count; b=w.reservations[w.trip]; own=w.users[w.customer]; n=len(b['passengers'])
        pid=ch['payment_id']; cards={m['source']:m for m in own['payment_methods'].values()}; gc=cards['gift_card']; gift=pid==gc['id']; left=gc['amount']-tot
        free=policy.free_bags(own['membership'],b['cabin'],n); m=mw(w,pid)
        pay=[f"Your gift card has ${gc['amount']}, so ${left} would be left, {'at least' if gift else 'less than'} ${w.floor}. I'll use your {m}.",
             f"Gift card balance: ${gc['amount']} − ${tot} = ${left} {'≥' if gift else '<'} ${w.floor} → payment with {pid}.",
             f"As {'at least' if gift else 'less than'} ${w.floor} would remain on the gift card (${left}), the charge goes to {pid}.",
             f"Payment method: {m} (the gift card would be left with ${left})."][k%4]
        if w.extra:
            e=w.extra; fr=e-count; bags=ch['total_baggages']; nf=ch['nonfree_baggages']; pd=b['nonfree_baggages']
            P={0:f"You currently have {b['total_baggages']} checked bag(s) on {w.trip}; with {e} more that's {bags}. As a {own['membership']} member in {b['cabin'].replace('_',' ')}, {free} bags are free for your party of {n}. So {count} bag(s) at $50 each: ${tot}.",
            1:f"| Item | Value |\n|---|---|\n| New total of bags | {bags} |\n| Free bags | {free} |\n| Bags to pay | {count} |\n| Price per bag | $50 |\n| **Total** | **${tot}** |\n",
            2:f"Breakdown for {w.trip}:\n- Gross: {e} × $50 = ${e*50}\n- Free allowance: {fr} × $50 = −${fr*50}\n- Total: ${tot}\n" if fr else f"Breakdown for {w.trip}:\n- {e} × $50 = ${tot}\n- Total: ${tot}\n",
            3:f"Adding {e} bag(s) would cost ${e*50} without any allowance, but {fr} of them {'is' if fr==1 else 'are'} free, so the total is ${tot}." if fr else f"None of the {e} bag(s) is free, so the total is ${tot}.",
            4:f"Extra baggage is $50 per bag. {fr} of the {e} bags {'is' if fr==1 else 'are'} included for free and {count} must be paid, which makes ${tot} in total.",
            5:f"Subtotal: ${e*50}\nFree bags ({fr}): −${fr*50}\nTotal charge: ${tot}\n" if fr else f"Total charge: ${tot}\n",
            6:f"$50 × {e} = ${e*50}, minus ${fr*50} for {fr} free bag(s) = ${tot}." if fr else f"$50 × {e} = ${tot}.",
            7:f"The bag fee is ${tot} ({count} paid bag(s) × $50); {fr} bag(s) are free. After the change: {bags} bags, {nf} of them paid."}[k]
        else:
            now=sum(w.flights[f['flight_number']]['dates'][f['date']]['prices'][w.to_cabin] for f in b['flights']); old=sum(f['price'] for f in b['flights']); tc=w.to_cabin.replace('_',' '); cab=b['cabin'].replace('_',' ')
            P={0:f"{w.trip} is currently in {cab}. {tc.capitalize()} costs ${now} per passenger instead of ${old}, a difference of ${unit}. For {n} passenger(s), the total is ${tot}.",
            1:f"| Item | Value |\n|---|---|\n| Fare in {cab} | ${old} |\n| Fare in {tc} | ${now} |\n| Difference per person | ${unit} |\n| Passengers | {n} |\n| **Total** | **${tot}** |\n",
            2:f"Breakdown for {w.trip}:\n"+"\n".join(f"- {f['flight_number']}: ${w.flights[f['flight_number']]['dates'][f['date']]['prices'][w.to_cabin]} − ${f['price']} = ${w.flights[f['flight_number']]['dates'][f['date']]['prices'][w.to_cabin]-f['price']}" for f in b['flights'])+f"\n- Per passenger: ${unit}\n- Total for {n}: ${tot}\n",
            3:f"New total price: ${now*n}. Already paid: ${old*n}. You would pay ${tot} for moving everyone to {tc}.",
            4:f"Changing the cabin to {tc} comes to ${tot} in total: ${unit} × {n}.",
            5:f"Old fare: {n} × ${old} = ${old*n}\nNew fare: {n} × ${now} = ${now*n}\nTotal charge: ${tot}\n",
            6:f"(${now} − ${old}) × {n} = ${tot} in total for {tc}.",
            7:f"The upgrade fee is ${tot} altogether (all {n} passenger(s), each ${unit}); you're in {cab} at the moment."}[k]
        R=[f"Done! ${tot} has been charged to your {m}.",f"| Change | Charged | Method |\n|---|---|---|\n| {w.trip} | ${tot} | {pid} |",f"Your reservation {w.trip} has been updated. Your {'gift' if gift else 'credit'} card was charged ${tot}"+(f", leaving ${left} on it." if gift else "."),f"All set. Total paid: ${tot} ({count} × ${unit}).",
           f"✅ {w.trip} updated\n💳 ${tot} – {pid}",f"I've made the change; the total of ${tot} went on your {m}.",f"The update is complete. You paid ${tot}; the gift card balance is now ${left if gift else gc['amount']}.",f"It's done, and you'll receive a confirmation by email."][k]
        yield Say(P+" "+pay+"\n\n"+ASKS[k]); yield upd; yield Say(R)
    return p
def con(k):
    def p(ep,w):
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool.startswith(('update','cancel'))][0]
        b,n,old,res=cctx(w); am=w.owed[w.right]; fare=w.offered[w.named]; pm=b['payment_history'][0]['payment_id']; F={f['flight_number']:f for f in res}
        others=[f for f in w.branches if f and f!=w.named]; c=w.asked
        yes=b['insurance']=='yes'
        cmpo="".join(f" {o} costs ${w.offered[o]} per person ({F[o]['available_seats']['business']} seats)." for o in others)
        intro={0:f"{w.named} costs ${fare} per person in business and has {F[w.named]['available_seats']['business']} seats left.{cmpo} Your trip is {'' if yes else 'not '}insured.",
        1:"| Flight | Business fare | Seats |\n|---|---|---|\n"+"\n".join(f"| {f} | ${w.offered[f]} | {F[f]['available_seats']['business']} |" for f in [w.named,*others])+f"\n\nInsurance: {'yes' if yes else 'no'}.",
        2:f"I checked the condition: the business fare of {w.named} is ${fare} per person (you paid ${old['price']}), and the trip has {'travel' if yes else 'no'} insurance.{cmpo}",
        3:f"Business seats on {w.named} are ${fare} each; for {n} passenger(s), moving would cost ${w.owed[w.named]} more than you paid.{cmpo}",
        4:f"A seat in business on {w.named} is ${fare} per person, {F[w.named]['available_seats']['business']} available.{cmpo} Insurance on {c}: {'Yes' if yes else 'No'}.",
        5:f"{w.named}: ${fare} per person vs. ${old['price']} paid, i.e. ${abs(fare-old['price'])} {'more' if fare>old['price'] else 'less'} per person; {F[w.named]['available_seats']['business']} seats.{cmpo}",
        6:f"Today's price for {w.named} is ${fare} per person.{cmpo}",
        7:f"- {w.named}: ${fare} per person, {F[w.named]['available_seats']['business']} business seats\n"+"".join(f"- {o}: ${w.offered[o]} per person, {F[o]['available_seats']['business']} business seats\n" for o in others)+f"- Your ticket: ${old['price']} per person, {'insured' if yes else 'not insured'}\n"}[k]
        if w.right:
            g=w.offered[w.right]
            act={0:f"So, as you asked, I would move {c} to {w.right}. The difference of ${am} ({n} × ${g-old['price']}) would be charged to {w.card}.",
            1:f"**Action:** move to {w.right}\n**Total charge:** ${am} to {w.card}",
            2:f"Therefore {c} should be moved to {w.right}: {n} × (${g} − ${old['price']}) = ${am}, paid with {w.card}.",
            3:f"Following your instructions, I'd rebook you on {w.right} on {w.day}; you would pay ${am} in total with {w.card}.",
            4:f"That means moving to {w.right} for an additional ${am} in total ({w.card}).",
            5:f"So {w.right} it is: old total ${old['price']*n}, new total ${g*n}, to pay ${am} ({w.card}).",
            6:f"So your first choice applies and I'd change {c} to {w.right}. Total due: ${am}, on {w.card}." if w.right==w.named else f"So the alternative applies and I'd change {c} to {w.right}. Total due: ${am}, on {w.card}.",
            7:f"Change: {c} → {w.right}, price difference ${am}, {w.card}."}[k]
            rep=[f"Your trip has been moved to {w.right}. ${am} has been charged to {w.card}.",f"| Flight | Date | Charge |\n|---|---|---|\n| {w.right} | {w.day} | ${am} |",f"Done: {w.right} on {w.day} instead of {old['flight_number']}; you paid ${am}.",f"You're now confirmed on {w.right}. Total charge: ${am}.",f"✅ {c}: {w.right}\n💳 ${am} → {w.card}",f"I've moved {c} to {w.right}; the ${am} was charged to {w.card}.",f"All done. The new fare is ${w.offered[w.right]} per person; you were charged ${am} in total.",f"The change is complete; {n} × ${g-old['price']} = ${am} was charged."][k]
        else:
            act={0:f"So, as you asked, I would cancel {c}. You'd get ${am} back to {pm} within 5 to 7 business days.",
            1:f"**Action:** cancel {c}\n**Total refund:** ${am} to {pm}",
            2:f"Therefore {c} should be cancelled: the refund is {n} × ${old['price']} = ${am} in total, to {pm}, usually in 5-7 business days.",
            3:f"Following your instructions, I'd cancel {c} and refund ${am} in total to {pm}. There's no cancellation fee.",
            4:f"That means cancelling {c} for a full refund of ${am} (your trip is in business class, so it can be cancelled).",
            5:f"So I'd cancel {c}. You paid ${am} in total and would be refunded ${am}.",
            6:f"So the cancellation applies. For {c}, you will receive ${am} in total on {pm}.",
            7:f"Cancel {c}: total paid ${am}, refund ${am}, {pm}."}[k]
            rep=[f"Your reservation {c} has been cancelled, and ${am} will be refunded to {pm} within 5 to 7 business days.",f"| Reservation | Status | Refund |\n|---|---|---|\n| {c} | cancelled | ${am} |",f"Done: {c} is cancelled; you'll get ${am} back.",f"The trip is cancelled. Total refund: ${am}.",f"✅ {c} cancelled\n💳 ${am} → {pm}",f"I've cancelled {c}; ${am} is on its way back to {pm}.",f"All done. You were refunded ${am} in total.",f"The cancellation is complete; {n} × ${old['price']} = ${am} goes back to {pm}."][k]
        yield Say(intro+"\n\n"+act+"\n\n"+ASKS[k]); yield upd; yield Say(rep)
    return p
if __name__=='__main__':
    for e,f in {'tau2_itinerary_preservation':it,'tau2_numerical_payment_reasoning':num,'tau2_conditional_instructions':con}.items():
        if len(sys.argv)<2 or sys.argv[1] in e: sweep(e,range(8),f)
