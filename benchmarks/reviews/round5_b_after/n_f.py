from f1 import *
isc=lambda w,s: kind(w) in("two","cancel")
up=lambda w,s: not isc(w,s)
def refs(w): return ", ".join(f"${i['a']} to {i['m']}" for i in ctx(w)[1])
def pl(text):
    def f(w):
        c,ms,k,parts=ctx(w)
        return text.format(**{**c,**words(k)},refs=refs(w),lines="\n".join(f"- {i['m']}: ${i['a']}" for i in ms),ps="; ".join(f"{cc} was paid with "+" and ".join(f"{m} (${x})" for m,l in parts.items() for c2,x in l if c2==cc) for cc in c["codes"].split(" and ")))
    return f
PC=[V["prop"][0]]+[pl(x) for x in [
"I've reviewed {codes}. Cancellation is possible because of the insurance and your illness. Refund: {refs}, within 5 to 7 business days. Shall I proceed?",
"Here's what would happen if I cancel {codes}:\n\n{lines}\n\nThe refund takes 5 to 7 business days. Do you want me to proceed?",
"Current payments: {ps}. All of it would be refunded to these methods within 5-7 business days once I cancel {codes}. May I go ahead?",
"I can cancel {codes} for you. In total, ${tot} would come back: {refs}. Do you agree?",
"Before I cancel {codes}, please confirm: refunds go back to the payment methods originally used (5 to 7 business days). OK?",
"Since you are ill and insured, {codes} can be cancelled with a full refund of ${tot}. Would you like me to do that?",
"Action: cancel {codes}\nReason: health (insured)\nRefund:\n{lines}\nTimeline: 5 to 7 business days\n\nPlease confirm (yes/no).",
"I will now cancel {codes} and refund {refs}. It isn't a business class fare that matters here, it's the insurance. Do you agree?"]]
DC=[V["done"][0]]+[mk(a,b,c,sp) for a,b,c,sp in [
("{did}. These payment methods are refunded within 5 to 7 business days:\n\n","• {m} ({lab}): ${a}","\n\nIn total: ${tot}.","\n"),
("{did}.\n\n| Payment method | Payments | Total refund |\n|---|---|---|\n","| {m} | {det} | ${a} |","\n| **All** | | **${tot}** |","\n"),
("{did}. ","For {m}, you'll be refunded a total of ${a} ({sum})",". That makes ${tot} altogether.","; "),
("The cancellation went through. ","${a} (={sum}) will be returned to {m}",". Refunds appear within 5–7 business days.",", and "),
("{did}. Refund summary:\n","**{m}** – ${a}","\n\nNo payment method was charged.","\n"),
("Done! {did}. The money goes back the way you paid: ","{a} dollars to {m}",".",", "),
("{did}. ","Your {lab}, id {m}, gets a refund of ${a}.",""," "),
("{did}.\n","{m}: refunded ${a}","","\n"),
("{did}. I have refunded ","${a} to {m}",", so ${tot} in total. Allow 5 to 7 business days."," and "),
]]
print("cancel");sweep(E,range(3),range(30),{"prop":PC,"done":DC},agent,filt=isc)
PU=[V["prop"][0]]+[mkc(x) for x in [
"I can change the cabin to {cab} on the same flights. The price is ${nw} instead of ${o}, so ${a} would be {vb} {m}. Shall I proceed?",
"Changing to {cab}: current fare ${o} for {n} passenger(s), new fare ${nw}. Difference: ${a} ({nn}), {m}. Do you confirm?",
"Here's the plan:\n- New cabin: {cab}\n- Fare difference: ${per} per passenger x {n} = ${a}\n- {m} {get} the difference\n\nShall I go ahead?",
"The new cabin would be {cab}. You paid ${paid} so far; the difference of ${a} will be {vb} {m} ({lab}). Is that OK?",
"I'd change your trip from {old} to {cab}, the difference is ${a}, {vb} {m}. May I?"]]
DU=[V["done"][0]]+[mkc(x) for x in [
"{did}. Summary:\n- Old fare: ${o}\n- New fare: ${nw}\n- {m}: ${a} {nn}",
"{did}.\n\n| Payment method | Amount |\n|---|---|\n| {m} ({lab}) | ${a} {nn} |",
"{did}. {n} x ${per} = ${a}, {vb} {m}.",
"{did}. The fare per passenger is ${per} {dirn}. For {n} passenger(s) that is ${a}, which was {vb} {m}.",
"{did}. One payment method is affected: {m}, which {get} ${a} in total.",
"{did}. The amount {vb} {m} is ${a}. Originally you had paid ${paid}.",
"{did}. {nn} for {m}: ${a} total.",
"{did}. Amount {vb} your payment method:\n\n- {m}: ${a}\n\nThis is the difference between ${o} and ${nw}.",
"{did}. As {cab} costs ${nw} in all (before: ${o}), ${a} has been {vb} your {lab} ({m}).",
"{did}. The total {nn} is ${a} (${per} each for {n} travelers) and it goes to {m}." ]]
print("cabin");sweep(E,range(3),range(120),{"prop":PU,"done":DU},agent,filt=up)
