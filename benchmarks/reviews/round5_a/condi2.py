"""conditional_instructions: shortcuts that never read the limit or the insurance, only compare the named fare with other fares of the same day"""
from h import *
import statistics
N='tau2_conditional_instructions'
def facts(w):
    b=w.reservations[w.asked]; old=b['flights'][0]
    res=w.search_direct_flight(old['origin'],old['destination'],w.day); n=len(b['passengers'])
    return b,n,old,{f['flight_number']:(f['prices']['business'],f['available_seats']['business']) for f in res}
def mean(w):
    b,n,old,F=facts(w); fare=F[w.named][0]; return w.named if fare<statistics.mean(v[0] for v in F.values()) else ''
def notmax(w):
    b,n,old,F=facts(w); fare=F[w.named][0]; return w.named if fare<max(v[0] for v in F.values()) else ''
def median(w):
    b,n,old,F=facts(w); fare=F[w.named][0]; return w.named if fare<=statistics.median(v[0] for v in F.values()) else ''
def fixed(w):
    b,n,old,F=facts(w); return w.named if F[w.named][0]-old['price']<175 else ''
def fallback(w):  # like mean, with seats, then the second flight by the same test
    b,n,old,F=facts(w); m=statistics.mean(v[0] for v in F.values())
    for f in w.branches:
        if f and F[f][0]<m and F[f][1]>=n: return f
    return ''
def gap(w):
    b,n,old,F=facts(w); v=sorted(x[0] for x in F.values())
    g=[(y-x,(x+y)/2) for x,y in zip(v,v[1:])]; mid=max(g)[1]
    for f in w.branches:
        if f and F[f][0]<mid and F[f][1]>=n: return f
    return ''
rules={'first branch':lambda w:w.branches[0],'last branch':lambda w:w.branches[-1],'mean':mean,'notmax':notmax,'median':median,'fixed 175 over paid':fixed,'mean+fallback':fallback,'largest gap+fallback':gap}
from trace_gym.types import Scenario
for lv in range(4):
    S=[registry.start_episode(Scenario(env=N,level=lv,seed=s)).world for s in range(100,500)]
    print('L',lv,{k:'%.2f'%(sum(f(w)==w.right for w in S)/len(S)) for k,f in rules.items()})
    I=[w for w in S if 'insured' in w.steps]
    print('   only insured conditions',len(I),{k:'%.2f'%(sum(f(w)==w.right for w in I)/max(1,len(I))) for k,f in rules.items()})
def play_rule(rule):
    def p(ep,w):
        r=rule(w)
        b=w.reservations[w.asked]; old=b['flights'][0]
        yield Call("get_reservation_details",{"reservation_id":w.asked})
        yield Call("search_direct_flight",{"origin":old['origin'],"destination":old['destination'],"date":w.day})
        am=w.owed[r]
        yield Say(f"{w.named} costs ${w.offered[w.named]} per person in business class. I will "+(f"move the trip to {r} and charge ${am}" if r else f"cancel the trip and refund ${am}")+". Shall I proceed?")
        yield Call("update_reservation_flights" if r else "cancel_reservation",w.deed(r)); yield Say("Done.")
    return p
for k in ('first branch','mean','mean+fallback','largest gap+fallback'): run(N,play_rule(rules[k]),n=100,label='RULE '+k,examples=0)
