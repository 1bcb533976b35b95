from lib import *
import datetime
E="tau2_passenger_correction"
PN={"first_name":"first name","last_name":"last name","dob":"date of birth"}
def nat(d):
    try: return datetime.date.fromisoformat(d).strftime("%B %-d, %Y")
    except Exception: return d
def ctx(w):
    ps=[]
    for new,old in w.matched(("first_name","last_name","dob")):
        for part in PN:
            if new[part]!=old[part]:
                ps.append(dict(part=PN[part],old=old[part],new=new[part],nn=f"{new['first_name']} {new['last_name']}",ndob=new["dob"],on=f"{old['first_name']} {old['last_name']}",odob=old["dob"],nold=nat(old[part]),nnew=nat(new[part])))
    return ps
def mk(head,item,tail,sep=" "):
    def f(w):
        ps=ctx(w); c=dict(code=w.code,s="s" if len(ps)>1 else "",n=len(ps))
        return (head+sep.join(item.format(**p,**c) for p in ps)+tail).format(**c)
    return f
V={"prop":[
 mk("The list has ","{part} {old} where it should be {new}",". I will correct this and carry everyone else over. Shall I proceed?","; "),
 mk("On reservation {code}, I found the following:\n","- For {nn}, the {part} on file is **{old}**; I will change it to **{new}**.","\nAll other travelers stay as they are, in the same order. Shall I go ahead?","\n"),
 mk("I will update reservation {code}: ","the {part} of {nn} will be changed from {old} to {new}",". All other passengers remain unchanged and in the same order. Do you confirm (yes/no)?"," and "),
 mk("Here is what I found on reservation {code}:\n\n","**{nn}**\n- Wrong entry: {part} is currently {old}\n- Correction: {new}\n","\nNobody else will be changed. Would you like me to proceed?","\n"),
 mk("I've looked at {code}. ","The {part} currently reads \"{old}\" instead of \"{new}\" for {nn}."," I'd correct that and leave everyone else as booked. Is that okay?"),
 mk("On {code}, ","the record for {nn}, born {ndob} currently shows the {part} as {old}",". I will correct it so that it reads as you told me. The rest of the list stays as it is. May I proceed?",", and "),
 mk("","The traveler currently listed as {on}, born {odob}, will be corrected to {nn}, born {ndob} (wrong {part}: {old})."," Everyone else stays. Shall I proceed?"),
],
"done":[
 mk("The correction is done. Before, the list had ","{part} {old} where it should be {new}",".","; "),
 mk("Reservation {code} has been updated. ","The {part} of {nn} was {old} and now reads {new}."," All other travelers are unchanged."),
 mk("Done! Here's a summary of the correction{s}:\n","- {part}: {old} → {new} ({nn})","\nThe other passengers remain as booked, in the same order.","\n"),
 mk("All set. I changed ","the {part} of {nn} from {old} to {new}",". Everyone else stays as they were."," and "),
 mk("The record{s} on {code} {n} updated. ","{nn}: the {part} said \"{old}\" before; it has been corrected to \"{new}\".",""),
 mk("The correction has been made. The wrong entr{s} on file: ","{part} of {nn}: \"{old}\"",". The other travelers and their order are unchanged.","; "),
 mk("Your reservation now shows the right details. ","Previously, the {part} of {nn} was listed as {old}; it now shows {new}.",""),
 mk("The passenger list has been corrected:\n","| Traveler | Entry | Before | Now |\n|---|---|---|---|\n| {nn} | {part} | {old} | {new} |","\nNobody else was changed.","\n"),
 mk("Done. ","The {part} for {nn} was recorded as {old}, and I've corrected it to {new}.",""),
 mk("Done. ","The entry for {nn} previously had {old} as {part}.",""),
 mk("The update is complete: ","{nn}, born {ndob}, previously had the {part} {old} on file",".","; "),
]}
def agent(t,pick):
    w=t.w.copy()
    t.call("get_user_details",user_id=w.customer); t.call("get_reservation_details",reservation_id=w.code)
    a=t.say(pick("prop")(w))
    t.call("update_reservation_passengers",reservation_id=w.code,passengers=w.corrected(("first_name","last_name","dob")))
    a=t.say(pick("done")(w))
    if a: t.say("Before, "+"; ".join(f"the {p['part']} was {p['old']}" for p in ctx(w))+".")
if __name__=="__main__": sweep(E,range(4),range(30),V,agent)
