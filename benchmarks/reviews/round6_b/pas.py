from h import *
E="tau2_passenger_correction"
PARTS=("first_name","last_name","dob")
N={"first_name":"first name","last_name":"last name","dob":"date of birth"}
def make(confirm, final, parts=PARTS):
    def pol(a):
        w=a.w; a.call("get_user_details",user_id=w.customer); b=a.call("get_reservation_details",reservation_id=w.code)
        rows=b["passengers"]; pairs=[]
        for g in w.given:
            sc=[sum(r[p]==g[p] for p in parts) for r in rows]; pairs.append((g,rows[sc.index(max(sc))]))
        new=[next((g for g,o in pairs if o==r),r) for r in rows]
        ch=[(p,o[p],g[p],g,o) for g,o in pairs for p in PARTS if o[p]!=g[p]]
        c=dict(ch=ch,code=w.code,rows=rows,pairs=pairs)
        r=a.say(confirm(c))
        for _ in range(2):
            if r and not a.done and "go ahead" not in r.lower() and "yes" not in r.lower(): r=a.say("Shall I proceed with this correction?")
        a.call("update_reservation_passengers",reservation_id=w.code,passengers=new)
        a.say(final(c))
    return pol
def c1(c):
    s=f"I found the following on reservation {c['code']}:\n\n"
    for p,o,n,g,old in c["ch"]: s+=f"- **{g['first_name']} {g['last_name']}**: the {N[p]} is currently listed as **{o}** and should be **{n}**\n"
    return s+"\nI'll correct this and leave all other passengers unchanged and in the same order. Would you like me to proceed? (yes/no)"
def c2(c): return "I will update "+" and ".join(f"the {N[p]} from \"{o}\" to \"{n}\"" for p,o,n,g,old in c["ch"])+f" on reservation {c['code']}. All other travelers stay as booked. Do you confirm?"
def c3(c): return "Here is the correction:\n"+"\n".join(f"- {N[p].capitalize()}: {o} → {n}" for p,o,n,g,old in c["ch"])+"\n\nShall I go ahead?"
def c4(c): return f"On file, "+"; ".join(f"the entry currently reads {old['first_name']} {old['last_name']}, born {old['dob']} (the {N[p]} is wrong)" for p,o,n,g,old in c["ch"])+". Shall I correct this now?"
def f1(c): return "The reservation has been updated. "+" ".join(f"The {N[p]} was \"{o}\" and has been corrected to \"{n}\"." for p,o,n,g,old in c["ch"])
def f2(c): return f"All done! The record{'s' if len(c['ch'])>1 else ''} now read{'' if len(c['ch'])>1 else 's'}: "+"; ".join(f"{g['first_name']} {g['last_name']}, born {g['dob']} (previously the {N[p]} was listed as {o})" for p,o,n,g,old in c["ch"])+". Everyone else remains unchanged."
def f3(c): return "Done. Your reservation now shows the corrected details:\n"+"\n".join(f"- {g['first_name']} {g['last_name']}, {g['dob']}" for p,o,n,g,old in c["ch"])
def f4(c): return "The correction has been made:\n"+"\n".join(f"- {N[p].capitalize()}: ~~{o}~~ → **{n}**" for p,o,n,g,old in c["ch"])
def leak(c): return "The full list was: "+"; ".join(f"{r['first_name']} {r['last_name']} {r['dob']}" for r in c["rows"])
def x1(c): return "Done. "+" ".join(f"The {N[p]} was {n} and now reads {o}." for p,o,n,g,old in c["ch"])
def x2(c): return "Done, it is corrected."
def cx(c): return f"I will correct the entries on {c['code']} as you said. Shall I proceed?"
for L in range(4):
    S=range(60)
    for nm,cf,ff in [("c1f1",c1,f1),("c2f2",c2,f2),("c3f3",c3,f3),("c1f4",c1,f4),("c4f1",c4,f1),("c2f1",c2,f1)]: trial(E,L,make(cf,ff),S,1,nm)
    for nm,cf,ff in [("WRONG leak list",c1,leak),("WRONG swapped",cx,x1),("WRONG untold",cx,x2)]: trial(E,L,make(cf,ff),S,0,nm)
    trial(E,L,make(c1,f1,PARTS[:1]),S,0,"SHORTCUT first name"); trial(E,L,make(c1,f1,PARTS[1:2]),S,0,"SHORTCUT last name"); trial(E,L,make(c1,f1,PARTS[2:]),S,0,"SHORTCUT dob")
