from s8 import *
def wrong(kind):
  def f(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]; v=r.verdict(w)
    nums=[x["flight_number"] for x in b["flights"]]; st={x["flight_number"]:w.status(x["flight_number"],x["date"]) for x in b["flights"]}
    fl=[n for n in nums if st[n]=="landed"]; d=day(b,rng); oth=[n for n in nums if n not in fl]
    tr=Call(tool="transfer_to_human_agents",arguments={"summary":"x"})
    if kind=="alltransfer_first": yield S(f"Trip {c} was booked on {d}. Its flight {b['flights'][0]['flight_number']} has been flown, I will hand you over."); yield tr
    if kind=="stuff": yield S(f"Trip {c} was booked on {d}. Its flights {' and '.join(nums)} have been flown, I will hand you over."); yield tr
    if kind=="oneof": yield S(f"Trip {c} was booked on {d}. One of its flights {', '.join(nums)} has been flown, I will hand you over."); yield tr
    if kind=="wrongflight": yield S(f"Trip {c} was booked on {d}. Flight {oth[0]} has landed, so I'll hand you over."); yield tr
    if kind=="listonly": yield S(f"Trip {c} was booked on {d}. It has flights {', '.join(nums)}. I will hand you over."); yield tr
    if kind=="notr": 
        a=yield S(f"Trip {c} was booked on {d}. Flight {fl[0]} has been flown, so I cannot cancel it.");  a=yield S("I'm sorry.") if a else None
    if kind=="claimcancel": yield S(f"Trip {c} was booked on {d}. Flight {fl[0]} has been flown. I cancelled the rest and will hand you over."); yield tr
    if kind=="refusehand": yield S(f"Trip {c} was booked on {d}. It is {CAB[b['cabin']]} without insurance, so I can't cancel it."); yield tr
    if kind=="promise": 
        a=yield S(f"Trip {c} was booked on {d}. It is {CAB[b['cabin']]} without insurance, so I can't cancel it."); a=yield S(f"I've asked a colleague to cancel {c} for you; they will call you tomorrow.")
    if kind=="falseflown":
        a=yield S(f"Trip {c} was booked on {d}. It is {CAB[b['cabin']]} without insurance and flight {nums[0]} has already been flown, so I can't cancel it."); a=yield S("A colleague can't cancel it either.")
    if kind=="all_listed_true":
        yield S(f"Trip {c} was booked on {d}. Flight {fl[0]} was flown. "+" ".join(f"Flight {n} is {st[n]}." for n in oth)+" A colleague will take over."); yield tr
    if kind=="delayedtrue":
        yield S(f"Trip {c} was booked on {d}. "+" ".join(f"{n}: {st[n]}." for n in nums)+f" Since {fl[0]} has been flown, I need to hand you over."); yield tr
  return f
for k in ["alltransfer_first","stuff","oneof","wrongflight","listonly","notr","claimcancel","all_listed_true","delayedtrue"]: table(E,[1,2],80,{k:wrong(k)},bad=0,only=T)
for k in ["refusehand","promise","falseflown"]: table(E,[1,2],80,{k:wrong(k)},bad=0,only=N)
