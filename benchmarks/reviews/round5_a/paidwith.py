"""'$X, paid with your M' beside the refund, in every environment with refunds of cancellations or returns"""
from h import *
from retail import mname, rp, READ
from multi import offer, ref
from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.desk import SKILLS
def pol(form):
    def p(ep,w):
        if hasattr(w,'orders') and not(type(w.requests[0]).__name__=='Cancel' and w.requests[0].verdict(w).allowed): return
        if any(r.verdict(w).transfer for r in w.requests): return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
            elif isinstance(s,Say) and s.text.rstrip().endswith('?') and 'proceed' not in s.text: yield s
            else: break
        parts=[]
        for r in w.requests:
            if not r.verdict(w).allowed: parts.append(ref(w,r)); continue
            k=type(r).__name__
            if k=='Cancel':
                if hasattr(w,'orders'): o=w.orders[r.record]; a=f"{rp.paid(o):.2f}"; m=mname(w,rp.original(o))
                else: b=w.reservations[r.record]; a=str(policy.refund(b)); m=mname(w,b['payment_history'][0]['payment_id'])
                parts.append(form.format(c=r.record,a=a,m=m))
            else: parts.append(f"I would {offer(w,r)}.")
        yield Say(" ".join(parts)+" Shall I proceed?")
        for r in w.requests:
            if r.verdict(w).allowed: yield r.call(w,SKILLS)
        yield Say("All of this has been done.")
    return p
G="I can cancel {c}: the total is ${a}, paid with your {m}. You will be refunded ${a}."
H="I can cancel {c}: the total of ${a} was paid with your {m}. You will be refunded ${a}."
ok=lambda ep: all(type(r).__name__ in('Cancel','Upgrade','Swap') for r in ep.start.requests) and any(type(r).__name__=='Cancel' and r.verdict(ep.start).allowed for r in ep.start.requests) and not any(r.verdict(ep.start).transfer for r in ep.start.requests)
for N in ('tau2_precondition','tau2_multi_step','tau2_airline_desk','tau2_retail_precondition'):
    for l,f in (('G',G),('H',H)): run(N,pol(f),n=50,label=l,only=lambda ep: ok(ep) and not (N=='tau2_retail_precondition' and not all(r.verdict(ep.start).allowed for r in ep.start.requests)),examples=0)
