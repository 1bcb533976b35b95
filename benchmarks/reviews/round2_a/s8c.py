from s8 import *
V={
"was_flown":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. Flight {f} was flown, so a colleague will have to take over.",
"was_flown_today":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. Flight {f} was flown today, so I can't cancel the trip. I'll transfer you to a colleague.",
"already_departed":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. Flight {f} has already departed and landed, so I can't cancel the trip. I'll transfer you.",
"taken_place":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. Flight {f} has already taken place, so I can't cancel the trip. I'll transfer you.",
"used":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. Since flight {f} has already been used, I can't cancel the trip. I'll transfer you.",
"completed":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. One flight, {f}, has already been completed, so I can't cancel it. I'll transfer you.",
"inway":lambda c,d,f,o,st:f"Your trip was booked on {d}. The flight in the way is {f}: it has already landed. I'll transfer you to a human agent.",
"others_listed":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. Flight {f} has been flown. "+" ".join(f"Flight {n} is {st[n]}." for n in o)+" A colleague will take over.",
"others_listed2":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. Flight {f} has already landed, while {' and '.join(f'{n} is {st[n]}' for n in o)}. Because of that, I'll transfer you to a human agent.",
"others_not":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. Flight {f} has already been flown, while {' and '.join(o)} {'have' if len(o)>1 else 'has'} not departed yet. I'll transfer you to a human agent.",
"partly":lambda c,d,f,o,st:f"I see that the trip was booked on {d}, and that it has been partially flown: {f} has status landed. I have to transfer you to a human colleague who can handle this.",
"because_status":lambda c,d,f,o,st:f"The booking date is {d}. I can't cancel it because the status of flight {f} is \"landed\". Let me transfer you to a colleague.",
"only_number":lambda c,d,f,o,st:f"Your reservation was booked on {d}. The flight that stands in the way is {f}. I'm transferring you to a colleague.",
"of_the_three":lambda c,d,f,o,st:f"Trip {c}, booked on {d}, consists of {', '.join([*o[:1],f,*o[1:]])}. Since {f} has already been flown, I'm handing you over to a human agent.",
"arrived":lambda c,d,f,o,st:f"Trip {c} was booked on {d}. {f} has already arrived at its destination, so I'll hand you over to a colleague.",
}
def ag(v):
  def f(ep,rng):
    w=ep.world.copy(); r=w.requests[0]; c=r.reservation; b=w.reservations[c]
    st={x["flight_number"]:w.status(x["flight_number"],x["date"]) for x in b["flights"]}
    fl=[n for n in st if st[n]=="landed"]; o=[n for n in st if n not in fl]
    yield S(v(c,day(b,rng),fl[0],o,st)); yield Call(tool="transfer_to_human_agents",arguments={"summary":"x"})
  return f
table(E,[1,2],80,{k:ag(v) for k,v in V.items()},bad=0,only=T)
