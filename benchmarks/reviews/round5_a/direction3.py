"""more natural proposals around charge/refund and cabin words, numerical / conditional / multi_step / retail Return,Cancel,Repay"""
from retail import *
from multi import offer, ref
from trace_gym.targets.tau2 import policy
R1={
'Return':["I can return the {names} from order {code}. You paid ${amt} for it and will get ${amt} back on your {m}. Shall I proceed?",
  "Returning the {names} means a refund of ${amt} (no return fees) to your {m}; it won't cost you anything. Should I go ahead?",
  "Items to return from {code}: {names}. Refund amount: ${amt}. Refund method: {m} ({pm}). Please confirm with yes.",
  "I'll set up the return of the {names} ({code}). The ${amt} you were charged will be returned to your {m}. Is that OK?",
  "Return request for {code}:\n- {names}\n- Refund: ${amt} → {m}\nThe remaining items in the order stay as they are. Confirm?"],
'Repay':["The total of ${amt} will be charged to your {m} instead of your {om}. Shall I proceed?",
  "I'll switch the payment for {code} (${amt}) from your {om} to your {m}. Your {om} will be refunded. OK?",
  "Order {code}: payment method changes from {om} to {m}. Amount: ${amt}. Please confirm.",
  "I can charge ${amt} to your {m} for order {code}, and the original payment on your {om} will be refunded within 5 to 7 business days. Would you like that?",
  "Your {m} has a balance that covers the ${amt}. Should I use it for {code}?"],
'Cancel':["Order {code} (${amt}, paid with your {om}) can be cancelled. The ${amt} goes back to the {om}. Do you want me to cancel it?",
  "I can cancel {code}. Refund: ${amt} to {opm}, within 5 to 7 business days. Do you confirm (yes/no)?",
  "Just to confirm, you want to cancel {code} because it's {reason}. You will receive ${amt} back. Correct?",
  "You paid ${amt} for order {code}; once cancelled, you'd get all of it back. Go ahead?"],
'Readdress':["I'll change the shipping address of {code} to {ad}. This won't cost anything. Is that right?","New address for {code}: {ad}. Shall I update it?","I will update order {code} so that it ships to {ad} rather than {oad}. Confirm?","Please confirm: {code} should be delivered to {ad}, correct?"],
}
def pol(k):
    def p(ep,w):
        r=w.requests[0]; n=type(r).__name__; 
        if n not in R1 or not r.verdict(w).allowed or k>=len(R1[n]): return
        for s in w.copy().oracle():
            if isinstance(s,Call) and s.tool.startswith(READ): yield s
            elif isinstance(s,Say) and s.text.rstrip().endswith('?') and 'proceed' not in s.text: yield s
            else: break
        o=w.orders[r.record]; c=r.call(w,SKILLS); pm=c.arguments.get('payment_method_id',''); its=[i for i in o['items'] if i['item_id'] in getattr(r,'items',[])]
        amt=sum(i['price'] for i in its) if n=='Return' else rp.paid(o); om=rp.original(o); a=getattr(r,'address',{}) or o['address']; f=lambda a:f"{a['address1']}, {a['city']}, {a['state']} {a['zip']}"
        if k==4 and n=='Repay' and 'gift' not in pm: return
        yield Say(R1[n][k].format(code=r.record,names=' and the '.join(i['name'] for i in its),amt=f"{amt:.2f}",m=mname(w,pm),pm=pm,om=mname(w,om),opm=om,reason=getattr(r,'reason',''),ad=f(a),oad=f(o['address'])))
        yield c; yield Say("Done, this has been taken care of. Is there anything else?")
    return p
for N in ('tau2_retail_tool_precision','tau2_retail_precondition'):
    for n in R1:
        for k in range(len(R1[n])):
            run(N,pol(k),n=80,levels=[0,2],label=f'{n} {k}',only=lambda ep: type(ep.start.requests[0]).__name__==n and ep.start.requests[0].verdict(ep.start).allowed and not(n=='Repay' and k==4 and 'gift' not in ep.start.requests[0].method))
