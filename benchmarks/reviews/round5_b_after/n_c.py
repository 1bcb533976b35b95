from c1 import *
PN=[PROP[0],
("For **{code}**, the cabin will change from {old} to {cab}; the {pv} of ${a} will go to your {named} ({m}).","For **{code}**, I'm afraid no change is possible, as flight {fl} on {date} has already been flown.","\n\nMay I go ahead?"),
("| {code} | {old} → {cab} | ${a} {pv} | {named} |","| {code} | not possible | flight {fl} already flown on {nd} | - |","\n\nDo you confirm?"),
("I can switch {code} to {cab}. The fare difference is ${a}, which would be {vb} {m}.","I can't switch {code}: its flight {fl} has already landed, and the cabin can only be changed if no flight has been flown."," Would you like me to do this?"),
("{code} ({o}-{de} on {nd}): cabin {cab}, {named}, {pv} ${a}.","{code} ({o}-{de} on {nd}): already flown, so the cabin has to stay {old}."," Shall I make the changes?"),
("- {code}: ✅ {cab} (currently {old}), ${a} {vb} your {named}","- {code}: ❌ flight already flown, no cabin change possible","\n\nShall I proceed with the possible ones?"),
("Reservation {code} can be changed to {cab}; you'd use your {named}.","Reservation {code} can't be changed because you've already taken that flight ({fl}, {nd})."," Please confirm and I'll do it."),
("I'd put {code} in {cab}, with your {named} for the ${a} difference.","I have to turn down {code}, since its flight was on {nd} and is already over."," OK?"),
("I'll move {code} from {old} to {cab} using {m}.","Regarding {code}: the trip on {date} has already been flown, therefore I'm not able to change its cabin."," Do you want me to continue?"),
]
DN=[DONE[0],
("{code}: now {cab}, {pv} of ${a} ({named}).","{code}: unchanged, as it has been flown.",""),
("The cabin of {code} was changed from {old} to {cab}, and ${a} has been {vb} {m}.","The cabin of {code} could not be changed.",""),
("| {code} | {cab} | ${a} {vb} {m} |","| {code} | {old} (unchanged) | – |",""),
("✅ {code} → {cab} (${a} {vb} your {named})","❌ {code} not changed","\nIs there anything else?"),
("{code} is in {cab} now. It was in {old} before; the difference was ${a}, {vb} your {named}.","","That completes your requests."),
("I've successfully changed {code} to {cab}. A {pv} of ${a} was made to your {named}.","I was not able to change {code} because it had already been flown.",""),
("Your reservation {code} is now {cab}.","{code} is still in {old}.","All requests are handled."),
("Done with {code}: {cab}, ${a} {vb} your {named}.","Nothing was changed on {code}.",""),
]
import c1
def sep2(tp): return "\n" if tp[0][:1] in "-1|✅" or "→" in tp[0] else " "
c1.sep=sep2
sweep(E,range(4),range(25),{"prop":PN,"done":DN},agent)
