"""oracle with one harmless true sentence in its proposal or after its last message, all ten environments"""
from nh import *
ENVS="tau2_itinerary_preservation tau2_airline_desk tau2_numerical_payment_reasoning tau2_conditional_instructions tau2_retail_structured_data tau2_multi_step tau2_retail_precondition tau2_precondition tau2_retail_tool_precision".split()
P={'p1':"Fee: $0.",'p2':"No additional charges apply.",'p3':"Refunds take 5 to 7 business days.",'p4':"You won't be charged anything else.",'p5':"You'll receive a confirmation email.",'p6':"There are no fees for this ($0).",'p7':"Any refund may take up to 7 business days to appear, depending on your bank.",'p8':"Service fee: $0.00.",'p9':"Nothing will be charged to any other card.",'p10':"If you'd rather not, just tell me and nothing will be charged or refunded."}
R={'r1':"No fees were charged.",'r2':"You'll receive an email confirmation shortly.",'r3':"Refunds take 5 to 7 business days.",'r4':"Fee: $0.",'r5':"Should you have any further questions, our team will be happy to help.",'r6':"Your bank may need a few days to post the transaction.",'r7':"If you notice a wrong charge, please contact us and we will look into it.",'r8':"Thank you for your patience, and have a great day!",'r9':"Any fare or price difference has been charged or refunded to the payment method mentioned.",'r10':"Feel free to reach out to our customer service team at any time.",'r11':"No additional charges were made.",'r12':"You can review the change in your account; someone will always be available if you need help."}
def mk(k):
    def p(ep,w):
        O=list(w.copy().oracle()); last=max((i for i,s in enumerate(O) if isinstance(s,Say)),default=-1); wrote=any(isinstance(s,Call) and not s.tool.startswith(('get','find','search','list','calc','transfer')) for s in O)
        if not wrote: ep.skip=True; return
        for i,s in enumerate(O):
            if isinstance(s,Say):
                t=s.text
                if k in P and t.rstrip().endswith('Shall I proceed?'): t=t.replace('Shall I proceed?',P[k]+' Shall I proceed?')
                if k in R and i==last: t=t+' '+R[k]
                s=Say(t)
            yield s
    return p

