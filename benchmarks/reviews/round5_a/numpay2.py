from h import *
from trace_gym.targets.tau2 import policy
N='tau2_numerical_payment_reasoning'
V={
'b0':lambda x:f"{x['extra']} bags would normally be ${x['extra']*50}, but {x['fr']} of them {x['isare']} free, so you pay ${x['tot']} in total.",
'b1':lambda x:f"{x['fr']} of the {x['extra']} additional bags {x['isare']} covered by your free allowance of {x['free']}, and the remaining {x['count']} cost $50 each, for a total of ${x['tot']}.",
'b2':lambda x:f"Your allowance is {x['free']} free bags. With {x['bags']} bags in total, {x['paidnow']} are chargeable; you have already paid for {x['paid']} of them, so the additional cost is {x['count']} x $50 = ${x['tot']}.",
'b3':lambda x:f"The total for all chargeable bags would be ${x['paidnow']*50}, of which you already paid ${x['paid']*50}, so the cost of this change is ${x['tot']}.",
'b4':lambda x:f"Instead of the full ${x['extra']*50}, you only pay ${x['tot']}, because {x['fr']} of the bags {x['isare']} free.",
'b5':lambda x:f"{x['extra']} bags × $50 = ${x['extra']*50}; minus {x['fr']} free = −${x['fr']*50}. Total: ${x['tot']}.",
'b6':lambda x:f"The cost is ${x['tot']} ({x['count']} × $50). I added {x['fr']} bags within the free allowance at no charge.",
'b7':lambda x:f"That comes to **${x['tot']}** in all: {x['count']} paid bags at $50 per bag, {x['fr']} free.",
}
C={
'c1':lambda x:f"For each passenger the upgrade is ${x['unit']}, so ${x['unit']} × {x['n']} = ${x['tot']}.",
'c2':lambda x:f"The new price for {x['n']} passengers is ${x['now']*x['n']}, the old one ${x['old']*x['n']}. The total difference is ${x['tot']}.",
'c3':lambda x:f"Upgrading all {x['n']} travelers comes to ${x['tot']} in all (${x['unit']} each).",
'c4':lambda x:"; ".join(f"leg {i+1}: (${a} - ${b}) × {x['n']} = ${(a-b)*x['n']}" for i,(a,b) in enumerate(x['legs']))+f". Total: ${x['tot']}.",
'c5':lambda x:f"{x['n']} passengers × (${x['now']} − ${x['old']}) = ${x['tot']}",
'c6':lambda x:f"Fare today: ${x['now']} per person. You paid ${x['old']} per person. Total for {x['n']}: ${x['tot']}. ",
'c7':lambda x:"Passengers: "+", ".join(f"{nm}: ${x['unit']}" for nm in x['names'])+f". All together ${x['tot']}.",
}
def pol(v):
    def p(ep,w):
        O=list(w.copy().oracle())
        for s in O:
            if isinstance(s,Call) and s.tool.startswith(('get','search')): yield s
        upd=[s for s in O if isinstance(s,Call) and s.tool.startswith('update')][0]
        unit,count,ch=w.deed(); b=w.reservations[w.trip]; n=len(b['passengers']); own=w.users[w.customer]
        x=dict(unit=unit,count=count,tot=unit*count,n=n,extra=w.extra,fr=w.extra-count,isare='is' if w.extra-count==1 else 'are',
           free=policy.free_bags(own['membership'],b['cabin'],n),bags=ch.get('total_baggages'),paidnow=ch.get('nonfree_baggages'),paid=b['nonfree_baggages'],names=[p_['first_name'] for p_ in b['passengers']])
        if not w.extra:
            x['legs']=[(w.flights[f['flight_number']]['dates'][f['date']]['prices'][w.to_cabin],f['price']) for f in b['flights']]
            x['now']=sum(a for a,_ in x['legs']); x['old']=sum(o for _,o in x['legs'])
        t=(V if w.extra else C).get(v,lambda x:"")(x)
        yield Say(t+f" I would charge it to {ch['payment_id']}. Shall I proceed?"); yield upd; yield Say("Done, the change has been made.")
    return p
for v in V: run(N,pol(v),n=60,label=v,only=lambda ep: ep.start.extra and ep.start.deed()[1]<ep.start.extra)
for v in C: run(N,pol(v),n=60,label=v,only=lambda ep: not ep.start.extra)
