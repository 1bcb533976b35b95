from cond import *
Q=["Confirm?","Please confirm.","Confirm (yes/no)?","Do you confirm?","Please reply yes to proceed.","Do you want to proceed?","Would you like to proceed?","Would you like me to proceed with this change?","Is that correct?","Okay to proceed?","Please let me know if you'd like me to proceed.","Please confirm if you'd like me to go ahead with this.","Do I have your approval?","Can you confirm this?","Let me know if this is okay and I'll go ahead.","Does this look right to you?","Please confirm to proceed.","Ready to proceed?","May I have your confirmation to proceed?","Please confirm (yes) and I will make the change.","Just to confirm, would you like me to do this?","Are you okay with this?","Please type 'yes' to confirm."]
def ag(q):
    def f(w,ep):
        x=F(w); yield from look(w)
        plan=(f"move {x['c']} to {w.right} and charge {x['card']} ${x['amt']} in total" if w.right else f"cancel {x['c']} and refund ${x['amt']} to your original payment method")
        yield S(f"{x['first']} costs ${x['fare']} per person in business class. I will {plan}. {q}"); yield wr(w); yield S("All done. Is there anything else I can help you with?")
    return f
study(E,[0,2],range(50),{q:ag(q) for q in Q})
X=["{a}: economy ${e}, business ${b} per person.","{a} costs ${b} per person in business class (economy: ${e}).","The fares on {a} are: basic economy ${be}, economy ${e}, business ${b}.","{a} has {s} business seats at ${b} per person.","On {day}, {a} departs at 10:00 and costs ${b} in business class per person; {o} costs ${ob}."," {a} ({day}): ${b}/person in business. The other options are {lst}.","The business fare for {a} is ${b} per person. For comparison, the cheapest other flight that day, {o}, costs ${ob} in business."]
def ex(t):
    def f(w,ep):
        x=F(w); yield from look(w); p=w.flights[w.named]['dates'][w.day]['prices']; oth=[n for n in w.offered if n!=w.named]
        plan=(f"move {x['c']} to {w.right} and charge {x['card']} ${x['amt']} in total" if w.right else f"cancel {x['c']} and refund ${x['amt']} to your original payment method")
        yield S(t.format(a=w.named,b=p['business'],e=p['economy'],be=p['basic_economy'],s=w.flights[w.named]['dates'][w.day]['available_seats']['business'],day=w.day,o=oth[0],ob=w.offered[oth[0]],lst=', '.join(f"{n} (${w.offered[n]})" for n in oth))+f" I will {plan}. Shall I proceed?"); yield wr(w); yield S("All done.")
    return f
study(E,range(4),range(50),{t[:28]:ex(t) for t in X},show=0)
