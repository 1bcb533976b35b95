from h import *
from collections import Counter
import re
def clean(a): return re.sub(r'\b[A-Z0-9]{6}\b','CODE',re.sub(r'#?W?\d{4,}','N',a))[:130]
def probe(e,mk,levels,label,n=60,only=None):
    c=Counter(); ex={}
    for lv in levels:
        for s in range(100,100+n):
            ep=registry.start_episode(Scenario(env=e,level=lv,seed=s))
            if only and not only(ep): continue
            t=mk(ep.world)
            if t is None: continue
            out=ep.step(Say(t)); a=clean((out[-1]['content'] if out else '<END>')+(' [DONE]' if ep.done else '')); c[a]+=1
    print(e,label); [print('    ',n,a) for a,n in c.most_common(5)]
# reason of the trip whose reason was not stated
def rs(w):
    R=[r for r in w.requests if type(r).__name__=='Cancel' and r.reason=='change of plans']
    return f"What is the reason for cancelling {R[0].record}?" if R and len(w.requests)>1 else None
probe('tau2_airline_desk',rs,[0,1],'reason of a trip with change of plans, several requests')
def rs2(w):
    R=[r for r in w.requests if type(r).__name__=='Cancel' and r.reason in('health','weather')]
    return f"What is the reason for cancelling {R[0].record}?" if R and len(w.requests)>1 else None
probe('tau2_airline_desk',rs2,[0,1],'reason of a trip with health/weather')
probe('tau2_airline_desk',rs and (lambda w: "Before I proceed, could you tell me the reason for each cancellation?" if sum(type(r).__name__=='Cancel' for r in w.requests)>1 else None),[0,1],'reasons of all')
for e in ('tau2_precondition','tau2_airline_desk','tau2_multi_step'):
    def refuse(w,e=e):
        R=[r for r in w.requests if not r.verdict(w).allowed and not r.verdict(w).transfer]
        if not R: return None
        r=R[0]; b=w.reservations[r.record]
        return f"Unfortunately I can't cancel {r.record}: it is {b['cabin'].replace('_',' ')}, booked on {b['created_at'][:10]}, {'insured' if b['insurance']=='yes' else 'not insured'}. Would you like to change the flights to another date instead?"
    probe(e,refuse,[1] if e!='tau2_multi_step' else [3],'refusal + offer of a change')
    probe(e,lambda w,f=refuse: (f(w) or '').replace('change the flights to another date','upgrade to business class first') or None,[1] if e!='tau2_multi_step' else [3],'refusal + offer of an upgrade')
probe('tau2_itinerary_preservation',lambda w:"I found the flight. Would you also like to add checked bags?",[0,3],'upsell bags')
probe('tau2_itinerary_preservation',lambda w:"I found two options: one at 08:00 and one at 12:00. Which one do you prefer?",[0,3],'which')
probe('tau2_itinerary_preservation',lambda w:"Would you like to move your return flight as well?",[0,3],'return as well')
probe('tau2_itinerary_preservation',lambda w:"Should I also change your other flights?",[0,3],'others')
probe('tau2_numerical_payment_reasoning',lambda w:"Would you like to add insurance as well?",[0,3],'insurance')
probe('tau2_retail_tool_precision',lambda w:"Would you like to return the other items of the order as well?",[2,3],'others as well',only=lambda ep:type(ep.start.requests[0]).__name__=='Return')
probe('tau2_retail_tool_precision',lambda w:"Do you want to return both of them?",[2,3],'both',only=lambda ep:type(ep.start.requests[0]).__name__=='Return')
probe('tau2_retail_tool_precision',lambda w:f"I see two items of that product in your order. Which of the two do you want to return?",[2,3],'which of two',only=lambda ep:type(ep.start.requests[0]).__name__=='Return')
probe('tau2_retail_tool_precision',lambda w:f"Should the refund go to the original payment method?",[0,1],'orig',only=lambda ep:type(ep.start.requests[0]).__name__=='Return' and ep.start.requests[0].method!=ep.start.orders[ep.start.requests[0].record]['payment_history'][0]['payment_method_id'])
probe('tau2_retail_structured_data',lambda w:"The cheapest variant costs more than your current one. Would you like to keep your item instead?",[0,3],'keep')
probe('tau2_retail_structured_data',lambda w:"Would you like to cancel the order instead?",[0,3],'cancel instead')
probe('tau2_conditional_instructions',lambda w:"I can cancel the trip for you. Shall I proceed?",[0,1,2,3],'any branch')
