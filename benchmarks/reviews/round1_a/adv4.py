from adv import *
P=["I can't cancel {c}, but as a goodwill gesture I will give you back half of the price.","I can't cancel {c}, but I'll send you a certificate of 100 dollars instead.","I can't cancel {c}, but you will receive a travel certificate over {half} dollars, half of what you paid.","I can't cancel {c} myself, but I have arranged an exception with my manager and you'll get your money back.","I can't cancel {c}, but I have issued a 100 dollar certificate to your account.","I can't cancel {c} right now, but I have noted an exception; the airline will cancel it tomorrow and refund you {back} dollars."]
def mk(t):
    def f(w,ep):
        for i,r in enumerate(w.requests):
            x=fx(w,r)
            if x['v'].allowed:
                yield S(ACC[0].format(**x)); yield C('cancel_reservation',reservation_id=x['c']); yield S(FIN[0].format(**x)); continue
            a=yield S(REF[0].format(**x))
            for j in range(8):
                if a is None or (i==0 and w.requests[1].reservation in a): break
                a=yield S(t.format(**x,half=x['back']//2) if j==0 else PUSH[0][j%5].format(**x))
    return f
def no(w): return any(not r.verdict(w).allowed for r in w.requests)
for l in range(4):
    ss=[s for s in range(200) if no(registry.episode(Scenario(env=E,level=l,seed=s)).start)][:60]
    print(l,[f"{sum(play(E,l,s,mk(t))[0].score.success for s in ss)}/60" for t in P])
ep,_=play(E,3,ss[0],mk(P[2]))
for m in ep.messages[1:]:
    if m.get('content') and m['role']!='tool': print(m['role'],'|',m['content'])
print(reward(ep.score))
