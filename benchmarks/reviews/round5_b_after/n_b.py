from b1 import *
N={"prop":[
 mk("I've checked your profile: you're a {mem} member. ","On {code} ({cab}, {n} traveler(s)) you have {allow} free checked bags, currently {had} booked. With {more} more you'd have {tot}, so {nb} would be charged at $50 each = ${d}."," In total ${sum} would be charged to {card}. Do you want me to add them?"," "),
 mk("| Reservation | Bags now | Bags after | Paid bags added | Cost |\n|---|---|---|---|---|\n","| {code} | {had} | {tot} | {nb} | ${d} |","\n\nTotal to be charged to {card}: **${sum}**. Shall I go ahead?","\n"),
 mk("Here's the plan:\n","- {code}: {had} → {tot} checked bags. {fr} of the new bags are free, {nb} at $50 each: ${d}","\n\nGrand total: ${sum} ({card}). Do you agree?","\n"),
 mk("Your free allowance is ","{allow} bags on {code} ({per} for each of the {n} passenger(s))",". The added bags would therefore cost ${sum} in all. May I book them and use {card}?"," and "),
 mk("","{code}: total bags {tot} (free allowance {allow}, non-free {paid}); additional cost ${d}",". Total additional cost: ${sum}, paid with {card}. Please confirm with yes.","; "),
 mk("I can add ","{more} checked bags to {code}, bringing you to {tot}",". The price for that is ${sum} altogether. A bag beyond the allowance costs $50. Should I proceed with {card}?"," and "),
 mk("To confirm, I will ","set {code} to {tot} checked bags ({more} more than the {had} you have now) for ${d}",", total ${sum} on your credit card ending in {four}. Is this right?"," and "),
 mk("","For {code}: {nb} x $50 = ${d}.","\nSum: ${sum}. I'd add the bags and charge {card}. OK?","\n")],
"done":[
 mk("Your bags have been booked! ","{code}: {had} → {tot} bags."," The added bags cost ${sum} in total."),
 mk("Done.\n\n| Reservation | Bags | Charge |\n|---|---|---|\n","| {code} | {tot} | ${d} |","\n| **Total** | | **${sum}** |","\n"),
 mk("I've added the bags. ","On {code}, {nb} bag(s) x $50 = ${d} ({fr} free)."," Your total cost comes to ${sum}, charged to {card}."),
 mk("The {mores} bags are added. In all you pay ${sum}; {nbs} of them were beyond your free allowance at $50 each.","",""),
 mk("Everything is set: ","{code} has {tot} checked bags now, of which {paid} are paid",". You paid ${sum} in all for the added bags with {card}."," and "),
 mk("All added. Amount charged to {card}: ${sum}.","",""),
 mk("The baggage on {codes} was updated and ${sum} has been charged to your credit card ending in {four}.","",""),
 mk("Summary of your bags:\n","- {code}: {more} added (total {tot}), ${d}","\n\nYou pay ${sum} in all. Anything else?","\n"),
 mk("Done – the cost of the added bags is ${sum} in all. ","As a {m} member in {cab} you get {per} free bag(s) per passenger on {code}.",""),
 mk("Your card {card} was charged ${sum} for the additional bags on {codes}.","",""),
 mk("The additional bags cost you a total of {sum} dollars. ","{code} previously had {had} bags and now has {tot}.","")]}
VV={k:[V[k][0]]+N[k] for k in N}
sweep(E,range(4),range(25),VV,agent)
ZZ={"prop":[V["prop"][0]]+[mk(a,b,c) for a,b,c in [("The bags on {codes} are all covered by your free allowance, so $0 will be charged to {card}. Shall I add them?","",""),("I'll add the bags to {codes} at no cost. Shall I go ahead?","",""),("","{code}: {allow} free bags, {tot} wanted, so nothing to pay."," Total: $0. Do you agree?"),("Since your allowance covers them, you won't be charged anything for the added bags on {codes} (a bag beyond it would cost $50). OK?","","")]],
"done":[V["done"][0]]+[mk(x,"","") for x in ["The bags on {codes} are added. You were not charged: the total is $0.","The bags on {codes} have been added for $0, so nothing was charged to {card}.","Done. Charged to {card}: $0.","Done! $0 charged, since everything is within your allowance. A bag beyond it would have cost $50.","The bags are on {codes}. The total amount charged was $0.","All set. $0 has been billed to {card}.","Done. You paid $0 in all.","The added bags on {codes} were free of charge, so you pay 0 dollars."]]}
print("zero");sweep(E,range(4),range(50),ZZ,agent,filt=lambda w,s:ctx(w)[1]==0)
