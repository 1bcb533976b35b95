from h import *
from bag import *
FREEW=["The bags have been added at no charge.","Done! The added bags are complimentary, so you pay nothing.","Your bags have been added. There is no additional cost, since they are all within your free allowance.","All done. You won't be charged anything for the added bags.","The bags are added. You owe nothing for them.","The update is complete, and the bags are covered by your free baggage allowance ($0).","Your reservation has been updated. Total cost for the added bags: $0.","The total for the added bags is $0.00, so nothing was charged to {card}.","Done — no extra fee applies; the bags are included in your allowance.","Your additional bags are free, so your total comes to $0.", "The extra bags have been added. The total cost was 0 dollars, and your credit card was not charged.","I've added the bags. Since the bags fall within your allowance (extra bags would normally be $50 each), your total is $0."]
PAIDW=["Your bags have been added. Total: ${T}.","Done! ${T}.00 has been charged to {card}.","The bags are booked; you'll be paying ${T} in all.","All set. That comes out to ${T} for the added bags.","I've updated your reservation, and the amount due for the added bags is ${T}.","The bags were added, and {card} was charged ${T}.","Done. {n} extra bag(s) at $50 each = ${T}.","Your total for the added bags is **${T}**.","The bags have been added: {n} x $50 = ${T} charged to {card}.","Bags added. A charge of {T} USD will appear on {card}.","I've added the bags. The fee for the {n} bags beyond your allowance is ${T} ({n} × $50).", "Your bags are confirmed. The additional baggage fee is ${T}, billed to {card}."]
def mk(t, pre):
    def f(w,ep):
        fs=facts(w);T=tot(w); n=sum(x['newpaid'] for x in fs)
        b="I'll add "+' and '.join(f"{x['add']} checked bag{'s'*(x['add']>1)} to reservation {x['c']}" for x in fs)+f" and settle any cost with {w.card}. Shall I proceed?"
        return base(w,b,t.replace('{T}',str(T)).replace('{card}',w.card).replace('{n}',str(n)))
    return f
from trace_gym import registry
seeds0={l:[s for s in range(150) if not tot(registry.episode(Scenario(env=E,level=l,seed=s)).start)][:50] for l in range(4)}
seeds1={l:[s for s in range(100) if tot(registry.episode(Scenario(env=E,level=l,seed=s)).start)][:50] for l in range(4)}
for l in range(4):
    print(l,len(seeds0[l]),len(seeds1[l]))
    study(E,[l],seeds0[l],{'free%d'%i:mk(t,0) for i,t in enumerate(FREEW)})
    study(E,[l],seeds1[l],{'paid%d'%i:mk(t,0) for i,t in enumerate(PAIDW)})
    # breakdown with mixed
    def mix(w,ep):
        fs=facts(w)
        return base(w,"I'll add the bags. Okay?","Done! "+' '.join((f"The {x['add']} bag(s) on {x['c']} are free." if not x['d'] else f"The bags on {x['c']} cost ${x['d']}.") for x in fs)+f" So in all you pay ${tot(w)}.")
    def mix2(w,ep):
        fs=facts(w)
        return base(w,"I'll add the bags. Okay?","Done! Here's the summary:\n"+'\n'.join(f"- {x['c']}: {x['total']} bags total ({x['free']} free allowance), "+("no charge" if not x['d'] else f"${x['d']} charged") for x in fs)+f"\n\nTotal charged: ${tot(w)}. Is there anything else?")
    def mix3(w,ep):
        fs=facts(w)
        return base(w,"I'll add the bags. Okay?","Done! "+' and '.join(f"${x['d']} for {x['c']}" for x in fs)+f", ${tot(w)} in all, charged to {w.card}.")
    study(E,[l],range(60),{'mix':mix,'mix2':mix2,'mix3':mix3})
