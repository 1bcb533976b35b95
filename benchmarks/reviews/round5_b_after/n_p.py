from p1 import *
N={"prop":[
 mk("I checked the passenger list of {code}. ","On file the {part} of {nn} is given as {old}, but according to you it should be {new}.","\n\nI'll update this now if you agree; nobody else's entry will be touched."),
 mk("Here's the proposed update for {code}:\n\n| Traveler | Field | Now | Corrected |\n|---|---|---|---|\n","| {nn} | {part} | {old} | {new} |","\n\nAll the other travelers stay exactly as booked, in the same order. There is no charge. Do you want me to go ahead?","\n"),
 mk("I've found the mistake{s}:\n","{n}. {part} says '{old}' and should say '{new}' ({nn}, born {ndob})","\n\nShall I fix this?","\n"),
 mk("On {code}, ","{nn} (born {ndob}) currently has the {part} \"{old}\" – I'd replace it with \"{new}\"",". May I make this correction?","; "),
 mk("The entr{s} that needs fixing: ","{part}: {old} → {new}",". Everyone else is kept as is. OK to proceed?"," | "),
 mk("For this reservation, the only discrepanc{s} I see: ","the {part} is recorded as {old} rather than {new} for {nn}",". I will submit the corrected passenger list with everybody in the same order. Please confirm.","; and "),
 mk("To make the record read as you told me, I need to change ","{on}'s {part} ({old}) to {new}",". Do I have your permission?"," and "),
 mk("Currently on file: ","{on}, born {odob}","\nAfter the correction: see below.\n"," / ").__class__ and mk("","Currently on file: {on}, born {odob}. After the correction: {nn}, born {ndob}. So the wrong {part} is {old}.","\n\nShall I apply the correction to {code}?","\n"),
 ],
"done":[
 mk("The passenger list of {code} has been corrected. ","{nn}'s {part} was wrongly stored as {old}; it is {new} now.",""),
 mk("All done!\n\n","**{part}** — before: {old}, now: {new}","\n\nAll other travelers and the order of the list are unchanged.","\n"),
 mk("Done. What was wrong on file:\n","- {part} of {nn}: {old}","\nThis has been fixed on {code}.","\n"),
 mk("I've corrected the record{s}. ","It said {old} as the {part} for {nn}."," The number of travelers stays the same."),
 mk("Your update went through. ","Instead of \"{old}\", the {part} for {nn} is now \"{new}\".",""),
 mk("The correction was successful: ","{part} {old} has been replaced by {new}",". Is there anything else I can do for you?","; "),
 mk("Reservation {code} is up to date. ","Wrong entry: {old} ({part}); right entry: {new}."," No fee was charged."),
 mk("Update complete. ","The incorrect {part} ({old}) has been changed to {new} for {nn}.",""),
 mk("Everything is as you described it now: ","{nn}, born {ndob} (the {part} used to be {old})",".","; ")]}
sweep(E,range(4),range(25),{k:[V[k][0]]+N[k] for k in N},agent)
