from pas import *
def w(b,a): return lambda w_,ep: base(w_,b(w_),a(w_))
W={
'swap dir (says file reads right, should be wrong)':w(B['b0'],lambda w:"Done. Before, the list had "+'; '.join(f"{NM[p]} {n[p]} where it should be {o[p]}" for o,n,p in diffs(w))+"."),
'names wrong particular':w(B['b0'],lambda w:"Done. "+'; '.join(f"The {NM[PARTS[(PARTS.index(p)+1)%3]]} was {o[p]}" for o,n,p in diffs(w))+"."),
'claims the new reads old':w(B['b0'],lambda w:"Done. The reservation now reads "+'; '.join(f"{o[p]}" for o,n,p in diffs(w))+"."),
'lists all travelers':w(lambda w:"The current list is: "+'; '.join(f"{full(r)}, born {r['dob']}" for r in w.booked)+". I will correct it. Shall I proceed?",lambda w:"Done. Before it said "+'; '.join(f"{NM[p]} {o[p]}" for o,n,p in diffs(w))),
'mentions others by name only':w(lambda w:"I will leave "+', '.join(full(r) for r in w.booked if r not in [o for o,n,p in diffs(w)])+" unchanged and correct "+'; '.join(f"{NM[p]} {o[p]} to {n[p]}" for o,n,p in diffs(w))+". Shall I proceed?",lambda w:"Done."),
'hedge':w(B['b0'],lambda w:"Done. Before, the list may have had "+'; '.join(f"{NM[p]} {o[p]}" for o,n,p in diffs(w))+"."),
'double denial':w(B['b0'],lambda w:"Done. The list did not say "+'; '.join(f"{NM[p]} {o[p]}" for o,n,p in diffs(w))+"."),
}
def noc(w,ep):
    yield C('get_reservation_details', reservation_id=w.code)
    yield C('update_reservation_passengers', reservation_id=w.code, passengers=w.corrected(PARTS))
    yield S(A['a5'](w))
W['no consent']=noc
def heur(parts, report=True):
    def f(w,ep):
        placed={w.booked.index(old):new for new,old in w.matched(parts)}
        rows=[{**placed.get(i,r)} for i,r in enumerate(w.booked)]
        d=[(o,n,p) for n,o in w.matched(parts) for p in PARTS if n[p]!=o[p]]
        t='; '.join(f"{NM[p]} {o[p]}" for o,n,p in d)
        yield C('get_reservation_details', reservation_id=w.code)
        yield S(f"The list has {t}. I'll correct it. Shall I proceed?")
        yield C('update_reservation_passengers', reservation_id=w.code, passengers=rows)
        yield S(f"Done. Before: {t}.")
    return f
def rand(w,ep):
    placed={}
    rows=list(w.booked)
    for i,n in enumerate(w.given): rows[i]=n
    yield C('get_reservation_details', reservation_id=w.code)
    yield S("I'll correct it. Shall I proceed?")
    yield C('update_reservation_passengers', reservation_id=w.code, passengers=rows)
    yield S("Done.")
def asks(w,ep): # a correct agent that asks a clarification first
    yield C('get_reservation_details', reservation_id=w.code)
    a=yield S("I see several travelers with similar details. Could you tell me which passenger you mean and what the current entry is?")
    yield S(B['b2'](w))
    yield C('update_reservation_passengers', reservation_id=w.code, passengers=w.corrected(PARTS))
    yield S(A['a5'](w))
def seq(w,ep): # two requests: one confirm + write each, in sequence
    yield C('get_user_details', user_id=w.customer)
    yield C('get_reservation_details', reservation_id=w.code)
    rows=[dict(r) for r in w.booked]
    ds=diffs(w)
    for i,(o,n,p) in enumerate(ds):
        yield S(f"For {full(n)}, the {NM[p]} on file is {o[p]}. I will correct it to {n[p]}. Shall I proceed?")
        rows[w.booked.index(o)]=n
        yield C('update_reservation_passengers', reservation_id=w.code, passengers=[dict(r) for r in rows])
        if i<len(ds)-1: yield S(f"{full(n)} is corrected. Next, I'll take care of the other traveler.")
    yield S("Both corrections are complete." if len(ds)>1 else "The correction is complete.")
study(E,range(4),range(60),{'asks':asks,'seq':seq})
study(E,[0,2,3],range(60),W)
study(E,range(4),range(100),{'first':heur(PARTS[:1]),'last':heur(PARTS[1:2]),'dob':heur(PARTS[2:]),'first+last':heur(PARTS[:2]),'last+dob':heur(PARTS[1:]),'first+dob':heur((PARTS[0],PARTS[2])),'topmost':rand},show=0)
