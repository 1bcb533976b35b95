"""proposals of changes that cost more, with 'receive' / 'return' about the goods"""
from direction import *
import direction
D.clear(); D.update({
'e1':"I'll exchange item {old} for item {new} at ${np}. You'll receive an email with instructions on how to return the current item. Shall I proceed?",
'e2':"I can exchange it for item {new} (${np}). Once the old item is returned, the new one is shipped. The price difference is ${ad}. Do you want me to proceed?",
'e3':"Item {new} is the cheapest that fits (${np} vs. ${op}). You would receive it in exchange for {old}. Is that okay?",
'e4':"I'll replace {old} by {new}: ${op} → ${np}, difference ${ad}, {m}. Confirm?",
'e5':"Here is the exchange:\n- Old item: {old}, ${op}\n- New item: {new}, ${np}\n- Price difference: ${ad} ({favor})\n- Payment method: {m}\n\nDo you confirm?",
'e6':"You'll get item {new} for ${np} instead of {old} for ${op}. You would be charged or refunded the difference on your {m}. Confirm?",
'e7':"I will exchange {old} for {new}. The price goes from ${op} to ${np}; the difference of ${ad} goes on your {m}. Shall I?",
'e8':"The replacement is cheaper or more expensive depending on the variant; {new} at ${np} is the cheapest one. Shall I use it?"})
for k in D: run('tau2_retail_structured_data',pol(k),n=60,label=k,levels=[0,3],examples=1)
I.clear(); I.update({'f1':"{n} on {on} fits. You'd pay the fare of ${p} instead of ${o} per person; the difference goes to {c}. Shall I?",'f2':"New fare: ${p}, old fare: ${o}. Price difference: ${ad} per passenger, {c}. Proceed?",'f3':"{n}: ${p} per person vs ${o} paid before, so the difference of ${ad} per person goes to {c}. OK?",'f4':"I'd change it to {n}. You will receive an updated itinerary. The fare difference will be handled through {c}. Is this OK?",'f5':"{n} costs ${p} per person, so you save or pay the difference to ${o} on {c}. Do you agree?",'f6':"The fare for {n} is ${p}; you originally paid ${o}. Any difference will be charged or refunded to {c}. Shall I proceed?"})
for k in I: run('tau2_itinerary_preservation',it(k),n=60,label=k,levels=[0],examples=1)
