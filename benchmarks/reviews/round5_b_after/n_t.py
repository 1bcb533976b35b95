from t1 import *
UPN={"prop":["Reservation {code} is in {cab} now (${o} per person). Business on the same flight costs ${nw} per person. The difference of ${per} x {n} = ${d} would be charged to {m}. Do you want to proceed?",
"I found {named} ({m}) in your profile. I'll upgrade {code} to business and charge ${d} to it. Shall I go ahead?",
"Upgrade summary:\n\n| | |\n|---|---|\n| Reservation | {code} |\n| From | {cab} |\n| To | business |\n| Difference | ${d} |\n| Payment | {m} |\n\nOK to proceed?",
"Before I make the change to {code}: all {n} passenger(s) will be moved to business on {fl} ({date}), the flight stays the same, and ${d} will be charged to {named}. Please confirm.",
"Your current total fare is ${opaid}. Upgrading {code} to business class adds ${d}, paid with {named}. Do you agree?",
"I would upgrade all flights of {code} to business; the difference is put on {m}. Is that what you'd like?",
"Just to confirm: you'd like {code} in business instead of {cab}, with the fare difference (${per} per passenger, ${d} total) on {named}. Shall I do it?",
"To upgrade {code} to business you pay ${d} more, compared with the ${o} per person in {cab}. I will use {m}. Yes or no?"],
"done":["The upgrade of {code} went through. You paid ${d} with {named}. Your flight {fl} is unchanged.",
"{code} is now booked in business class ✅. Charged: ${d} ({n} × ${per}) to {m}.",
"Upgraded! Old fare: ${o} per person. New fare: ${nw} per person. Charge for {n} passenger(s): ${d}.",
"Reservation {code} has been changed from {cab} to business. Your {named2} was charged ${d}.",
"| Reservation | Cabin | Charge |\n|---|---|---|\n| {code} | business | ${d} |",
"All {n} passenger(s) on {code} will travel in business now. The difference, ${d}, has been charged to {named}.",
"Done. As the price rose from ${o} to ${nw} per person, {named} has been charged ${d} in total.",
"I've upgraded {code} to business and charged {m}. Anything else?"]}
BGN={"prop":["You have {had} bags on {code}. Adding {more} makes {tot}. As a {mem} member in {cab} some are free; {paid} would be paid. Cost: ${d}, charged to {named}. Shall I?",
"I will add {more} bag(s) to {code} (from {had} to {tot}) for ${d} using {m}. Do you agree?",
"- Reservation: {code}\n- Bags: {had} → {tot}\n- Price: ${d}\n- Payment: {named}\n\nShall I proceed?",
"Total bags on {code}: {tot}, non-free: {paid}. The price of ${d} goes on {named}. Please confirm."],
"done":["{code} now has {tot} checked bags. Cost: ${d}, charged to {named}.","Done: bags {had} → {tot}, ${d} charged to {m}.","I added {more} bag(s) to {code}. ${d} was charged to {named}.","The bags are added. Charge: ${d} (each bag beyond the allowance is $50).","You were charged ${d} for the {more} additional bag(s).","Your bags are booked; {paid} of the {tot} are paid bags. The total of ${d} was charged to {m}."]}
import t1
o=ctx
def ctx2(w):
    c=o(w); c["named2"]=c["named"].replace("your ",""); return c
t1.ctx=ctx2
sweep(E,range(4),range(30),{k:[UP[k][0]]+UPN[k] for k in UP},mkagent(UP),filt=lambda w,s:isup(w))
print("BAGS");sweep(E,(2,3),range(60),{k:[BG[k][0]]+BGN[k] for k in BG},mkagent(BG),filt=lambda w,s:not isup(w))
