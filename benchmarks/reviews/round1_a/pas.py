from h import *
E='tau2_passenger_correction'
PARTS=("first_name","last_name","dob"); NM={"first_name":"first name","last_name":"last name","dob":"date of birth"}
def diffs(w):
    return [(o,n,p) for n,o in w.matched(PARTS) for p in PARTS if n[p]!=o[p]]
def base(w, before, after, rows=None):
    yield C('get_user_details', user_id=w.customer)
    yield C('get_reservation_details', reservation_id=w.code)
    yield S(before)
    yield C('update_reservation_passengers', reservation_id=w.code, passengers=rows or w.corrected(PARTS))
    if after: yield S(after)
full=lambda r:f"{r['first_name']} {r['last_name']}"
def long_date(d):
    import datetime; x=datetime.date.fromisoformat(d); return x.strftime('%B ')+str(x.day)+x.strftime(', %Y')
B={
'b1':lambda w:"I found the wrong entries on reservation "+w.code+":\n"+'\n'.join(f"- {full(n)} (born {n['dob']}): the {NM[p]} is currently listed as \"{o[p]}\" and should be \"{n[p]}\"." for o,n,p in diffs(w))+"\n\nI will correct this and leave everyone else unchanged. Shall I proceed?",
'b2':lambda w:"On file, "+' and '.join(f"the {NM[p]} reads {o[p]} instead of {n[p]}" for o,n,p in diffs(w))+". I'll update the passenger list so that it reads as you stated. Do you confirm?",
'b3':lambda w:"Here's what I found:\n\n"+'\n\n'.join(f"**{full(n)}**\n- Currently on file: {full(o)}, born {o['dob']}\n- Corrected: {full(n)}, born {n['dob']}\n- Wrong entry: {NM[p]} ({o[p]})" for o,n,p in diffs(w))+"\n\nWould you like me to go ahead with these corrections?",
'b4':lambda w:"I will make the following change(s): "+'; '.join(f"{full(o)} (DOB {o['dob']}) → {full(n)} (DOB {n['dob']})" for o,n,p in diffs(w))+". All other travelers stay as booked. May I proceed?",
'b5':lambda w:"The record for "+' and the record for '.join(f"{full(n)} currently shows {NM[p]} as {o[p] if p!='dob' else long_date(o[p])}" for o,n,p in diffs(w))+". I'll change it to match what you gave me. Is that okay?",
'b6':lambda w:"I'll change "+' and '.join(f"the {NM[p]} from {o[p]} to {n[p]}" for o,n,p in diffs(w))+". Everyone else stays the same. Shall I proceed?",
'b7':lambda w:"The reservation currently lists "+' and '.join(f"{full(o)}, born {o['dob']}" for o,n,p in diffs(w))+". I would correct this to "+' and '.join(f"{full(n)}, born {n['dob']}" for o,n,p in diffs(w))+". Do you agree?",
'b8':lambda w:"\n".join(f"{i+1}. Passenger on file as {full(o)} (born {o['dob']}): {NM[p]} \"{o[p]}\" → \"{n[p]}\"" for i,(o,n,p) in enumerate(diffs(w)))+"\n\nThe other passengers remain unchanged, in the same order. Please confirm (yes/no).",
'b0':lambda w:"I'm going to correct the passenger list on "+w.code+" so that it reads as you told me, with everybody else unchanged. Shall I proceed?",
}
A={
'a1':lambda w:"The passenger details have been updated. The wrong entries were: "+'; '.join(f"{NM[p]}: {o[p]} (now {n[p]})" for o,n,p in diffs(w))+". Is there anything else I can help with?",
'a2':lambda w:"Done! "+' '.join(f"The {NM[p]} for {full(n)} has been corrected from {o[p]} to {n[p]}." for o,n,p in diffs(w))+" All other travelers were left as booked.",
'a3':lambda w:"All set. The reservation now reads "+' and '.join(f"{full(n)}, born {n['dob']}" for o,n,p in diffs(w))+". Previously it said "+' and '.join(f"{NM[p]} {o[p]}" for o,n,p in diffs(w))+".",
'a4':lambda w:"The correction is complete. "+' '.join(f"{full(n)}'s {NM[p]} was previously recorded as \"{o[p]}\"." for o,n,p in diffs(w)),
'a5':lambda w:"I've updated the reservation:\n"+'\n'.join(f"- {full(n)}: {NM[p]} changed from \"{o[p]}\" to \"{n[p]}\"" for o,n,p in diffs(w)),
'a0':lambda w:"The passenger list has been updated as you asked.",
}
def mk(b,a): return lambda w,ep: base(w,B[b](w),A[a](w))
if __name__=='__main__':
    for l in range(4):
        for b in B:
            row=[]
            for a in A:
                k=0
                for s in range(50):
                    k+=play(E,l,s,mk(b,a))[0].score.success
                row.append(f'{a} {k}/50')
            print(l,b,row)
