"""proposals for numerical_payment_reasoning and conditional_instructions: the total in other words"""
from h import *
NP='tau2_numerical_payment_reasoning'; CI='tau2_conditional_instructions'
A=["The total cost is ${t}.","That will be ${t} in all.","In total, this comes to ${t}.","The total additional charge is ${t}.","You'd pay ${t} altogether.","The change costs ${t} overall.","Total: ${t}","The total comes to **${t}**.","The total amount due is ${t}.","The overall price difference is ${t}.","It's ${t} in all.","This would be {t} dollars in total.","Adding this costs ${t}.","The fare difference for everyone is ${t}.","The total fee is ${t}.","Grand total: ${t}.","Your total is ${t}.","The amount to pay is ${t}.","This change will cost you ${t}, all included.","That makes ${t}.","The sum is ${t}.","The upgrade/change comes out to ${t}."]
def pa(t):
    def p(ep,w):
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        u,c,ch=w.deed(); yield Say(t.format(t=u*c)+f" I'll charge it to {ch['payment_id']}. Shall I go ahead?")
        yield [s for s in O if isinstance(s,Call) and s.tool.startswith('update')][0]; yield Say("Done.")
    return p
B=["{f} costs ${x} per person in business class.","A business class seat on {f} on {d} is ${x} per person.","The business fare for {f} is ${x}.","{f}: ${x} per passenger (business).","Business class on {f} is priced at ${x} per traveler.","The price of {f} in business is ${x} each.","Each business seat on {f} costs ${x}.","I checked {f}: business class fare ${x} per person."]
M=["You would pay ${a} in total.","The total difference to pay is ${a}.","This costs ${a} in all, charged to {c}.","The total charge will be ${a} to {c}.","${a} will be charged to {c}.","You'd owe ${a} altogether.","The total price difference is ${a}.","Total to pay: ${a}."]
C=["You would get back ${a} in total.","The total refund is ${a}.","You'd receive a full refund of ${a}.","${a} will be refunded to your original payment method.","Total refund: ${a}.","You get ${a} back altogether.","The full amount of ${a} will be returned.","The refund amounts to ${a}."]
def pb(i,j):
    def p(ep,w):
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        a=w.owed[w.right]
        yield Say(B[i].format(f=w.named,x=w.offered[w.named],d=w.day)+" "+(f"According to your instructions, I would move the trip {w.asked} to {w.right} on {w.day}. " if w.right else f"According to your instructions, I would cancel the trip {w.asked}. ")+(M if w.right else C)[j].format(a=a,c=w.card)+" Shall I proceed?")
        yield [s for s in O if isinstance(s,Call) and s.tool.startswith(('update','cancel'))][0]; yield Say("This has been done. Anything else?")
    return p
for t in A:
    r=[play(NP,lv,s,pa(t))[1] for lv in (1,3) for s in range(100,130)]; print(sum(x.success and x.conduct==1 for x in r),'/',len(r),t)
for j in range(8):
    for i in ((0,j) if j else (0,)):
        r=[play(CI,lv,s,pb(i,j))[1] for lv in (0,3) for s in range(100,125)]; ok=sum(x.success and x.conduct==1 for x in r)
        print(ok,'/',len(r),B[i],'|',M[j],'|',C[j])
