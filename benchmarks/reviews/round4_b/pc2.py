from pc import *
# wrong agents
def ablate(parts):
    def a(ep):
        w=ep.world.copy(); pairs=w.matched(parts)
        yield Call("get_reservation_details",{"reservation_id":w.code})
        d=[(n,o,next((p for p in PARTS if n[p]!=o[p]),PARTS[0])) for n,o in pairs]
        yield Say(p0(w,d)); yield Call("update_reservation_passengers",{"reservation_id":w.code,"passengers":w.corrected(parts)}); yield Say(e0(w,d)); yield Say("You're welcome.")
    return a
def truth(w):
    return [(n,o,next(p for p in PARTS if n[p]!=o[p])) for n,o in w.matched(PARTS)]
def wr(said_prop,said_end,consent=True):
    def a(ep):
        w=ep.world.copy(); d=truth(w)
        yield Call("get_reservation_details",{"reservation_id":w.code})
        if said_prop: yield Say(said_prop(w,d))
        yield Call("update_reservation_passengers",{"reservation_id":w.code,"passengers":w.corrected(PARTS)})
        yield Say(said_end(w,d)); yield Say("You're welcome.")
    return a
def dump(w,d): return "The list reads: "+'; '.join(f"{F(r)}, born {r['dob']}" for r in w.booked)+". I will correct what you asked. Shall I proceed?"
def noold(w,d): return "I will correct the record so that it reads as you said. Shall I proceed?"
def swapped(w,d): return ' '.join(f"{F(n)}'s {LBL[p]} was {n[p]} before and now reads {o[p]}." for n,o,p in d)
def otherold(w,d):
    r=[x for x in w.booked if all(x is not o for _,o,_ in d)][0]
    return "The correction is done. "+' '.join(f"Before, the {LBL[p]} read {r[p]}." for n,o,p in d)
def leak(w,d):
    r=[x for x in w.booked if all(x is not o for _,o,_ in d)]
    return e0(w,d)+" The other travelers are "+', '.join(F(x)+" (born "+x['dob']+")" for x in r)+"."
def names_others(w,d):
    r=[x for x in w.booked if all(x is not o for _,o,_ in d)]
    return p0(w,d)+" (The other passengers "+', '.join(F(x) for x in r)+" stay the same.)"
W={'first_only':ablate(PARTS[:1]),'first+last':ablate(PARTS[:2]),'dob_only':ablate(PARTS[2:]),'last_only':ablate(PARTS[1:2]),'dump':wr(dump,e1),'noold':wr(noold,e1),'swapped':wr(noold,swapped),'otherold':wr(noold,otherold),'leak':wr(p0,leak),'namesothers':wr(names_others,e1),'noconsent':wr(None,e0)}
rate(E,range(4),S,W,quiet=True)
for lv in (0,2):
  for a in ('noold','swapped','namesothers'):
    print(log(run(E,lv,403,W[a])))
