from h import *
import sys
ENVS="tau2_itinerary_preservation tau2_airline_desk tau2_numerical_payment_reasoning tau2_conditional_instructions tau2_retail_structured_data tau2_multi_step toolsandbox_state_dependency tau2_retail_precondition tau2_precondition tau2_retail_tool_precision".split()
def orc(pre=(),post=(),prefix='',suffix='',sep=False):
    def p(ep,w):
        for t in pre:
            yield Say(t)
        for s in w.copy().oracle():
            if isinstance(s,Say): s=Say(prefix+s.text+suffix)
            yield s
        for t in post: yield Say(t)
    return p
P={'oracle':orc(),
 'hold':orc(pre=["Let me look that up for you, one moment please."]),
 'thanks':orc(pre=["Thank you for reaching out! I'd be happy to help you with that. Let me first pull up your details."]),
 'askid':orc(pre=["I'd be happy to help. Could you please confirm your customer id so that I can look you up?"]),
 'closing':orc(post=["Is there anything else I can help you with today?"]),
 'suffix':orc(suffix=" Please let me know if you have any questions."),
 'prefix':orc(prefix="Thank you for your patience. "),
}
if __name__=='__main__':
    which=sys.argv[1:] or list(P)
    for e in ENVS:
        for k in which:
            try: run(e,P[k],n=50,label=k)
            except Exception as x: print(e,k,'CRASH',type(x),x)
