from w2 import *
from trace_gym.targets.tau2.requests import BOOKING_DAYS
from trace_gym.targets.tau2.claims import booking_told, misinformed
from trace_gym.targets.dialogue import refused
day="2024-05-07"
b=dict(reservation_id="ABC123",cabin="economy",insurance="no")
V=["- Booked within 24 hours: No (May 7, 2024)","- Booked within 24 hours: No (booked May 7, 2024)","- **Booked within the last 24 hours:** No (May 7, 2024)","- Booked in the last 24 hours: No, booked on May 7, 2024","- Booked in the last 24 hours: No – booked on May 7, 2024","- Booked in the last 24 hours: No, it was booked on May 7, 2024","- Booked in the last 24 hours: ❌ No – it was booked on May 7","- Booking within 24 hours: No – the booking was made on May 7, 2024","- Booked less than 24 hours ago: No - May 7, 2024","- Booked within 24 hours: ❌ (May 7, 2024)","- Booked in the last 24 hours? No – booked on May 7, 2024","- Booked in the last 24 hours? No, booked on May 7, 2024","- Booked in the last 24 hours? **No** (booked on May 7, 2024)","- Less than 24 hours since booking? No – it was made on May 7, 2024.","1. **24-hour rule**: Not met – the booking was made on May 7, 2024.","1. 24-hour window: No. The reservation was booked on May 7, 2024.","- Within 24 hours: no (booked 2024-05-07 11:20)","- Booking date: May 7, 2024 – outside the 24-hour window ❌"]
for v in V:
    m=f"I've checked your reservation ABC123:\n\n{v}\n- Business class: No (economy)\n- Insurance: No\n\nTherefore, I'm unable to cancel it."
    bt=booking_told(day,set(BOOKING_DAYS)-{day},[m])
    print("told",bt,"refused",refused("ABC123",[m],["ABC123"],bt),"misinf",misinformed(b,{"economy"},["ABC123"],[m]),repr(v))
