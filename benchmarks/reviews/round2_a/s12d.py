from w2 import *
import itertools,collections
from trace_gym.targets.tau2.requests import BOOKING_DAYS
from trace_gym.targets.tau2.claims import booking_told
day="2024-05-07"; days=set(BOOKING_DAYS)-{day}
labels=["Booked within the last 24 hours","Booked within 24 hours","Booked less than 24 hours ago","Booking made within 24 hours","24-hour rule","Within 24 hours of booking"]
ends=[": ","? ",":** "," – "," → "]
verd=["No","❌ No","❌","Not met","no"]
date=[" – booked on May 7, 2024"," (booked on May 7, 2024)"," (May 7, 2024)",", booked on May 7, 2024"," — it was booked on May 7, 2024"," - the booking was made on May 7",". It was booked on May 7, 2024"," (booked 2024-05-07)"," (your booking was made on May 7, 2024)"]
F=collections.Counter();T=collections.Counter();ex={}
tot=bad=0
for l,e,v,d in itertools.product(labels,ends,verd,date):
    m=f"I've checked your reservation ABC123:\n\n- {'**' if '**' in e else ''}{l}{e}{v}{d}\n- Business class: No (economy)\n- Insurance: No\n\nTherefore, I'm unable to cancel it."
    ok=booking_told(day,days,[m]); tot+=1; bad+=not ok
    for key in (l,e,v,d): T[key]+=1; F[key]+=not ok
    if not ok: ex.setdefault(d,m.split("\n")[2])
print(f"not told {bad}/{tot}")
for k in T: print(f"{F[k]/T[k]:.2f} {k!r} {ex.get(k,'')}")
