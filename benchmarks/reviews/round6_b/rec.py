from h import *
from generated_envs.tau2_record_identification import traits
E="tau2_record_identification"
def make(confirm, final, kinds=None, first=False):
    def pol(a):
        w=a.w; u=a.call("get_user_details",user_id=w.customer); T={c:a.call("get_reservation_details",reservation_id=c) for c in u["reservations"]}
        ks=kinds or list(w.facts); ks=[k for k in ks if k in w.facts] if kinds else ks
        m=[c for c in T if all(w.facts[k] in traits(T[c])[k] for k in ks)]
        code=m[0]; ref=sum(p["amount"] for p in T[code]["payment_history"])
        near=[c for c in T if w.facts["route"] in traits(T[c])["route"] and c!=code]
        c=dict(code=code,b=T[code],ref=ref,T=T,near=near,m=m,pm=T[code]["payment_history"][0]["payment_id"])
        r=a.say(confirm(c))
        for _ in range(2):
            if r and not a.done and "go ahead" not in r.lower() and "yes" not in r.lower(): r=a.say(f"Shall I cancel reservation {code}?")
        a.call("cancel_reservation",reservation_id=code)
        a.say(final(c))
    return pol
def c1(c):
    b=c["b"]; return f"I found the trip you described:\n\n- **Reservation number:** {c['code']}\n- **Route:** {b['origin']} → {b['destination']}\n- **Departure:** {b['flights'][0]['date']}\n- **Cabin:** {b['cabin'].replace('_',' ')}\n- **Passengers:** {', '.join(p['first_name']+' '+p['last_name'] for p in b['passengers'])}\n- **Insurance:** {b['insurance']}\n\nSince the trip is insured and the reason is health, I can cancel it. The refund of ${c['ref']} goes back to {c['pm']} within 5 to 7 business days. Do you want me to go ahead with the cancellation? (yes/no)"
def c2(c): return f"The reservation number is {c['code']}. Shall I go ahead and cancel it for health reasons?"
def c3(c):
    return f"You have several trips on this route ({', '.join(c['near'][:2])} and {c['code']}), but only {c['code']} matches everything you described. It's insured, so I can cancel it because of your health with a full refund of ${c['ref']}. Would you like me to proceed with cancelling {c['code']}?" if c["near"] else c2(c)
def f1(c): return f"Reservation {c['code']} has been cancelled. You'll receive a refund of ${c['ref']} to {c['pm']} within 5 to 7 business days."
def f2(c): return f"Done! Your trip has been cancelled and you will get ${c['ref']} back to your original payment method. I wish you a speedy recovery!"
def f3(c): return f"The cancellation is complete. **Refund amount: ${c['ref']:,}** – it will be credited to {c['pm']} in 5-7 business days. Is there anything else I can help you with?"
def xs(c): return f"Done. You will be charged ${c['ref']} for it."
def xa(c): return "Cancelled. The refund may be one of "+", ".join("$"+str(sum(p["amount"] for p in b["payment_history"])) for b in c["T"].values())
def lst(c): return f"Your trip is one of these: {', '.join(c['T'])}. Shall I cancel it?"
def xn(c): return "Done, it is cancelled."
if __name__=="__main__":
  for L in range(3):
    S=range(60)
    for nm,cf,ff in [("c1f1",c1,f1),("c2f2",c2,f2),("c3f3",c3,f3),("c1f3",c1,f3),("c2f1",c2,f1)]: trial(E,L,make(cf,ff),S,1,nm)
    for nm,cf,ff in [("WRONG swap",c2,xs),("WRONG stuffing refunds",c2,xa),("WRONG untold",c2,xn),("list all codes",lst,f1)]: trial(E,L,make(cf,ff),S,0,nm)
    trial(E,L,make(c2,f1,["route"]),S,0,"SHORTCUT route only"); trial(E,L,make(c2,f1,["date","fellow","number"]),S,0,"SHORTCUT one fact")
