from s1 import *
def tab(c,x):
    rows=sorted(x["alts"]+[dict(flight_number=x['fl'],date=x['date'],scheduled_departure_time_est=x['t'],prices={c['cab']:x['p']},available_seats={c['cab']:x['s']})],key=lambda g:(g['date'],g['scheduled_departure_time_est']))
    return "| Flight | Date | Departs | Price | Seats |\n|---|---|---|---|---|\n"+"\n".join(f"| {g['flight_number']} | {g['date']} | {g['scheduled_departure_time_est'][:5]} | ${g['prices'][c['cab']]} | {g['available_seats'][c['cab']]} |" for g in rows)+f"\n\nThe cheapest with at least {c['n']} seats is {x['fl']} on {x['date']}, which leaves at {x['t']}."
def cmp1(c,x):
    s=f"{x['fl']} on {x['nd']} departs at {x['ap']} and costs ${x['p']} per person."
    for g in sorted(x["dear"],key=lambda g:g['prices'][c['cab']])[:1]: s+=f" Compared to that, {g['flight_number']} would be ${g['prices'][c['cab']]}."
    return s
def cmp2(c,x):
    s=f"The best option is {x['fl']} on {x['date']} at {x['t']} for ${x['p']} per person"
    for g in sorted(x["dear"],key=lambda g:g['prices'][c['cab']])[:1]: s+=f" (vs. ${g['prices'][c['cab']]} for {g['flight_number']})"
    return s+"."
def cmp3(c,x):
    s=f"I found {1+len(x['dear'])} nonstop flight(s) with enough room on {x['date']}: {x['fl']} at {x['t']} (${x['p']})"
    for g in sorted(x["dear"],key=lambda g:g['prices'][c['cab']]): s+=f", {g['flight_number']} at {g['scheduled_departure_time_est'][:5]} (${g['prices'][c['cab']]})"
    return s+f". The cheapest is {x['fl']}, departing at {x['t']}."
def full2(c,x):
    return "".join(f"{g['flight_number']} would have been the cheapest at ${g['prices'][c['cab']]}, but there {'is' if g['available_seats'][c['cab']]==1 else 'are'} only {g['available_seats'][c['cab']]} {c['cab']} seat(s) left. " for g in x["full"])+f"So I'd go with {x['fl']} on {x['nd']}, leaving at {x['ap']}, for ${x['p']} each."
N={"prop":[
mk("",tab,"\n\nShall I book it for {code} in {cab} and settle the difference with {card}?","\n\n"),
mk("",cmp1," I'd move all {n} of you on {code} in {cab}; the difference goes to {card}. OK?"),
mk("",cmp2," The total difference for {n} passenger(s) is ${d}, {vb} {card}. Shall I change {code} to this in {cab}?"),
mk("",cmp3," I will change {code} to it in {cab}, using {card}. Do you agree?"),
mk("",full2," Difference: ${d}, {vb} {card}. Cabin: {cab}. Do you want me to change {code}?"),
mk("Proposed change for {code}:\n","- Flight: {fl} ({o} → {d})\n- Date: {nd}\n- Departure: {t} EST, arrival: {ta} EST\n- Fare: ${p} per passenger","\n- Cabin: {cab}\n- Passengers: {n}\n- Difference: ${d} {vb} {card}\n\nPlease confirm.","\n"),
mk("All {n} travelers can fly on ","{fl} on {nd} at {t}",", the cheapest nonstop with enough seats in {cab}. ${d} will be {vb} {card}. Go ahead?"," and "),
mk("The flight leaves at ","{ap} on {nd} ({fl}, ${p} per person)",". Shall I rebook {code} in {cab}, difference on {card}?"," and "),
mk("Your new itinerary would be: ","{fl}, {date}, {t}–{ta}",", {cab}. It's nonstop. The total fare difference for {n} passenger(s) is ${d} and will be {vb} {card}. Should I book it?","; ")],
"done":[mk("Everyone on {code} is now on ","{fl} on {nd}, departing {t}",". ${d} has been {vb} {card}."," and "),
mk("Booked! ","{fl} | {date} | {t} | {cab}","\nDifference: ${d} ({vb} {card})","\n"),
mk("{code} has been changed to {cab}. The fare difference of ${d} was {vb} {card}. Is there anything else?","",""),
mk("The change is confirmed: ","{fl} leaves {o} at {ap} on {nd}",". Fare per person: see above. ${d} was {vb} {card} for {n} passenger(s)."," and "),
mk("Reservation {code} has been updated for all {n} passengers. ","New flight: {fl}, ${p} per passenger."," Total difference: ${d}."),
mk("You're all set on ","{fl}",". The difference of ${d} has been {vb} {card}. Safe travels!"," and "),
mk("Done, {code} was moved. ","Departure: {t} on {date}."," I {vbs} ${d} {toc} {card}.").__class__ and mk("Done, {code} was moved. ","Departure: {t} on {date}.",""),
mk("The new flight{n} ".replace("{n}","")+"is booked: ","{fl} at {t}",". You originally had another flight; the difference came to ${d}, {vb} {card}."," and ")]}
sweep(E,range(4),range(25),{k:[V[k][0]]+N[k] for k in N},agent)
