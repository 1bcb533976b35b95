"""wordings that tell the refund of a cancellation"""
from h import *
from trace_gym.targets.tau2 import policy, retail_policy as rp
from trace_gym.targets.tau2.desk import SKILLS
F=["The ${a} goes back to your {m}.","${a} goes back to your {m}.","The ${a} will go back to your {m}.","The full amount of ${a} goes back to your {m}.","The amount of ${a} will be returned to your {m}.",
"You'll get the ${a} back on your {m}.","You get ${a} back.","Your {m} will be credited with ${a}.","The ${a} you paid will be refunded to your {m}.","The ${a} you paid goes back to your {m}.","You paid ${a}, and this amount will be refunded to your {m}.",
"You paid ${a} for it, which will be refunded in full.","You paid ${a} for it; the full amount will be refunded to your {m}.","The total of ${a} paid with your {m} will be refunded in full.","A full refund of ${a} will be issued to your {m}.","Refund: ${a} ({m})","- Total paid: ${a}\n- Refund: full amount to your {m}","- Total: ${a}\n- Refund to: {m}","The order total is ${a}, which will be refunded to your {m}.","Total refund: **${a}** to your {m}.","We'll return ${a} to your {m}.","This will refund ${a} to the {m}.","It was paid with your {m} (${a}), and the full amount will be refunded there.","Amount to be refunded: ${a}","{c} (${a}, paid with your {m}) can be cancelled. The ${a} goes back to the {m}.","{c} (${a}, paid with your {m}) can be cancelled, and you will be refunded ${a}."]
def pol(t,domain):
    def p(ep,w):
        r=w.requests[0]
        if type(r).__name__!='Cancel' or not r.verdict(w).allowed: return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(('get','find')): yield s
            elif isinstance(s,Say) and s.text.rstrip().endswith('?') and 'proceed' not in s.text: yield s
            else: break
        if domain=='r':
            o=w.orders[r.record]; a=f"{rp.paid(o):.2f}"; m={'paypal':'PayPal account','gift_card':'gift card','credit_card':'credit card'}[rp.original(o).rsplit('_',1)[0]]
        else: b=w.reservations[r.record]; a=str(policy.refund(b)); m={'gift_card':'gift card','credit_card':'credit card'}[b['payment_history'][0]['payment_id'].rsplit('_',1)[0]]
        yield Say(f"I can cancel {r.record}. "+t.format(a=a,m=m,c=r.record)+" Shall I proceed?")
        yield r.call(w,SKILLS); yield Say("It has been cancelled.")
    return p
def rate(N,t,d,levels):
    ok=n=0
    for lv in levels:
        for s in range(100,150):
            ep=None
            e0=registry.start_episode(Scenario(env=N,level=lv,seed=s)); r=e0.start.requests[0]
            if type(r).__name__!='Cancel' or not r.verdict(e0.start).allowed: continue
            _,sc=play(N,lv,s,pol(t,d)); n+=1; ok+=sc.success
    return f"{ok}/{n}"
if __name__=="__main__":
  for t in F: print(rate('tau2_precondition',t,'a',[0,1]), rate('tau2_retail_precondition',t,'r',[0,1,2]), '|',t.replace('\n','\\n'))
