from d1 import *
N={"prop":[
mk("Today is Wednesday, May 15, 2024. ","Counting from there, the new {leg} flight falls on {sd}"," The available flights fit. I'll change {code} in {cab} and use {mm}. Shall I proceed?",". "),
mk("Here is how I understand it:\n","- {leg} flight: currently {ofl} on {nod}, new date **{nd}** with {fl} at {t}, ${np} per person (instead of ${op})","\n\nTotal difference: ${a}, {vb} {meth}. Is this correct?","\n"),
mk("The date works out to ","{nd} ({wd})",". For {n} passenger(s), {who} ${a}: the fare goes from ${tof} to ${tnf}. I'd use {mm}. Do you agree?"," and "),
mk("","I would replace {ofl} ({od}) with {fl} ({date})",". Difference: {n} x ${per} = ${a}, {vb} {meth}. OK?","; "),
mk("| Flight | Old date | New date | New flight |\n|---|---|---|---|\n","| {leg} | {od} | {date} | {fl} |","\n\nThe change results in {wh2} of ${a} on {mm}. Shall I go ahead?","\n"),
mk("That day is ","{wd}, {nd}",". On it, the same route flies nonstop, and everything else on {code} stays the same. The difference will be settled with {meth}. Do you confirm?"," and "),
mk("Your booking was made on {bk0}. ".replace("{bk0}","")[:0]+"","The {leg} flight moves from {nod} to {nd}",". The new fare is {mc}; {who} ${a} via {mm}. Should I make the change?"," and "),
mk("I've got it: ","{date} for the {leg} flight ({fl}, departing at {t})","; the cabin stays {cab} and ${a} will be {vb} {mm}. Please confirm.",", "),
mk("","The new date for the {leg} flight is {nd}, flight {fl}, at ${np} per person compared with ${op} now",". All told, {who} ${a}. May I book this for {code} with {mm}?",". ")],
"done":[
mk("{code} has been updated. Before: ${tof} in total; now: ${tnf}. You see a {wh2} of ${a} on {mm}.","",""),
mk("Done!\n\n| Item | Amount |\n|---|---|\n| Old fare | ${tof} |\n| New fare | ${tnf} |\n| {wh2} | ${a} |","",""),
mk("Your flight is changed. In the end, {who} ${a} ({n} passenger(s) x ${per}), through {mm}.","",""),
mk("All set: ","{fl} on {nd}",". The new flight is {mc}, so the difference of ${a} has been {vb} {mm}."),
mk("The change went through. Total fare difference: ${a}, {vb} {meth}. That is, {who} ${a}.","",""),
mk("{code} is now changed to ","{date}",". The difference is ${a}, which has been {credit} to {mm}."," and "),
mk("I've moved it. The difference: ${a}. {who2} this amount.".replace("{who2}","{who}")[:0]+"I've moved it. The difference comes to ${a} and {who} it.","",""),
mk("Done. ","{leg} fare: ${op} → ${np} per person","; total for {n}: ${a} {wh2} ({mm}).","; "),
mk("Your trip {code} is updated. A {wh2} of ${a} applies, and it was {vb} {meth}. Everything else is unchanged.","",""),
mk("The update is complete. The fare was ${tof} before and is ${tnf} now, which means {who} ${a}.","","")]}
sweep(E,range(3),range(30),{k:[V[k][0]]+N[k] for k in N},agent)
