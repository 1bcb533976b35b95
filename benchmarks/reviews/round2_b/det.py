from lib2 import *
import hashlib
E=['retail_desk','relative_date_reasoning','airline_desk','connection_feasibility','aggregation','retail_structured_data','conditional_instructions','structured_data','refund_explanation','seat_availability']
for e in E:
    n='tau2_'+e; same=crash=0; tot=0; dup=set()
    for lv in type(start(n,0,0).world).levels:
        for s in range(50):
            a=start(n,lv,s); b=start(n,lv,s); same+=a.state_hash==b.state_hash and a.messages==b.messages; dup.add(a.state_hash); tot+=1
            # idle/gibberish agent
            try:
                for t in ("Hello, how can I help you?","Could you tell me your customer id, please?","What is the reservation or order number?","Which payment method would you like to use?","Can you clarify what exactly you would like?","Purple seven of.","Goodbye!"):
                    if not a.done: a.step(Say(text=t))
                a.finish(); assert not a.score.success
            except Exception as ex: crash+=1; print(e,lv,s,repr(ex)[:100])
    print(e,'deterministic',same,'/',tot,'distinct',len(dup),'crash',crash)
for e in E:
    a=start('tau2_'+e,0,3)
    for t in ("Hello, how can I help you?","Could you tell me your customer id, please?","What is the reservation or order number?","Which payment method would you like to use?","Can you clarify what exactly you would like?"):
        if not a.done: a.step(Say(text=t))
    print(e); print(conv(a))
