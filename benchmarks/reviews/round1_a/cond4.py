from cond import *
def ag(q):
    def f(w,ep):
        x=F(w); yield from look(w)
        plan=(f"move {x['c']} to {w.right} and charge {x['card']} ${x['amt']} in total" if w.right else f"cancel {x['c']} and refund ${x['amt']} to your original payment method")
        yield S(f"{x['first']}: business fare ${x['fare']} per person. I will {plan}. {q}"); yield wr(w); yield S("All done. Is there anything else I can help you with?")
    return f
study(E,[0,2],range(50),{q:ag(q) for q in ["Confirm?","Do you confirm?","Shall I proceed?","Is that okay?","OK?","Confirm (yes/no)?"]})
