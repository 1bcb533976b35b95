from h import *
E='tau2_passenger_correction'
PARTS=("first_name","last_name","dob")
LBL={'first_name':'first name','last_name':'last name','dob':'date of birth'}
def nice(d):
    import datetime as D; x=D.date.fromisoformat(d); return x.strftime('%B ')+str(x.day)+x.strftime(', %Y')
def agent(prop,end,readuser=True):
    def a(ep):
        w=ep.world.copy()
        pairs=w.matched(PARTS); diffs=[(new,old,next(p for p in PARTS if new[p]!=old[p])) for new,old in pairs]
        if readuser: yield Call("get_user_details",{"user_id":w.customer})
        yield Call("get_reservation_details",{"reservation_id":w.code})
        yield Say(prop(w,diffs))
        yield Call("update_reservation_passengers",{"reservation_id":w.code,"passengers":w.corrected(PARTS)})
        yield Say(end(w,diffs)); yield Say("You're welcome! Have a great trip.")
    return a
F=lambda r:f"{r['first_name']} {r['last_name']}"
def p0(w,d): return f"I found the record{'s' if len(d)>1 else ''} to correct on reservation {w.code}:\n\n"+'\n'.join(f"- **{F(n)}**: the {LBL[p]} is currently listed as \"{o[p]}\" and will be corrected to \"{n[p]}\"." for n,o,p in d)+"\n\nAll other travelers will stay as booked, in the same order. Do you confirm that I should make this change? (yes/no)"
def e0(w,d): return "The correction has been made. "+' '.join(f"The {LBL[p]} of {F(n)} was previously \"{o[p]}\" and is now \"{n[p]}\"." for n,o,p in d)+" All other passengers remain unchanged. Is there anything else I can help you with?"
def p1(w,d): return "On file:\n"+'\n'.join(f"{i}. {o['first_name']} {o['last_name']}, born {o['dob']} → {n['first_name']} {n['last_name']}, born {n['dob']} ({LBL[p]} changed)" for i,(n,o,p) in enumerate(d,1))+"\n\nShall I go ahead and update the passenger list?"
def e1(w,d): return f"Done! Reservation {w.code} has been updated as requested."
def p2(w,d): return "The current wrong entry is: "+'; '.join(f"{LBL[p]} \"{o[p]}\" (for {F(n)}, born {n['dob']})" for n,o,p in d)+". I will update it"+(" so that it reads as you stated" )+". Do you want me to proceed?"
def e2(w,d): return "I've updated the reservation. "+' '.join(f"I changed the {LBL[p]} from {o[p]} to {n[p]}." for n,o,p in d)
def p3(w,d): return ' '.join(f"The traveler you mean is listed as {F(o)}, born {nice(o['dob'])}. The {LBL[p]} is wrong: it says {nice(o[p]) if p=='dob' else o[p]} instead of {nice(n[p]) if p=='dob' else n[p]}." for n,o,p in d)+" I'll correct this and leave everyone else unchanged. Would you like me to proceed?"
def e3(w,d): return ' '.join(f"{F(n)}'s {LBL[p]} has been corrected (it previously read {nice(o[p]) if p=='dob' else o[p]})." for n,o,p in d)+" Everything else on the reservation stays as booked."
def p4(w,d): return "| Field | On file | Corrected |\n|---|---|---|\n"+'\n'.join(f"| {LBL[p].title()} ({F(n)}) | {o[p]} | {n[p]} |" for n,o,p in d)+"\n\nPlease confirm (yes) and I'll make the correction."
def e4(w,d): return "✅ The passenger details have been corrected:\n\n"+'\n'.join(f"- {LBL[p].title()}: ~~{o[p]}~~ → **{n[p]}**" for n,o,p in d)
S=range(400,460)
if __name__=='__main__':
    A={f'c{i}':agent(*x) for i,x in enumerate([(p0,e0),(p1,e1),(p2,e2),(p3,e3),(p4,e4)])}
    rate(E,range(4),S,A,show=3)
