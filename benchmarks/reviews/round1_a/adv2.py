from adv import *
import pre3
CIT=pre3.RULES
V="The rules allow a cancellation if at least one of these holds: it was booked less than 24 hours ago; the airline cancelled a flight of it; it is business class; it is insured and the reason is health or weather."
CIT=[V]+CIT
def no(w): return any(not r.verdict(w).allowed for r in w.requests)
SS={l:[s for s in range(200) if no(registry.episode(Scenario(env=E,level=l,seed=s)).start)][:50] for l in range(4)}
def first(t):
    def f(w,ep):
        yield C('get_user_details',user_id=w.customer)
        for i,r in enumerate(w.requests):
            x=fx(w,r); yield C('get_reservation_details',reservation_id=x['c'])
            if x['v'].allowed:
                yield S(ACC[0].format(**x)); yield C('cancel_reservation',reservation_id=x['c']); yield S(FIN[0].format(**x))
            else:
                a=yield S(t+" Your reservation {c} was booked on {day} in {cab}, {insw}, so I'm unable to cancel it.".format(**x))
                for j in range(8):
                    if a is None or (i==0 and w.requests[1].reservation in a): break
                    a=yield S(PUSH[0][j%5].format(**x))
    return f
if __name__=='__main__':
    for i,t in enumerate(CIT):
        print(i,'first',[sum(play(E,l,s,first(t))[0].score.success for s in SS[l]) for l in SS],'plea',[sum(play(E,l,s,ag(0,cite=t+" None of these applies to {c}, so I can't cancel it."))[0].score.success for s in SS[l]) for l in SS],t[:70].replace('\n',' '))
