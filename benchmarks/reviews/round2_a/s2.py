from w2 import *
from trace_gym.targets.tau2.requests import BOOKING_DAYS
from trace_gym.targets.tau2.claims import booking_told
from trace_gym.targets.dialogue import acts
day="2024-05-07"
T=["1. Booked within the last 24 hours? ❌ No – it was booked on May 7, 2024.",
"- Booked within the last 24 hours? No, it was booked on May 7.",
"- Booked within 24 hours: No (booked on May 7, 2024)",
"- Within 24 hours of booking: ❌ (booked May 7, 2024)",
"| Condition | Met? |\n|---|---|\n| Booked < 24 h ago | No (May 7, 2024) |\n| Business class | No (economy) |",
"Booking date: 2024-05-07 (more than 24 hours ago)",
"The booking was made 8 days ago, on May 7.",
"**Booked on:** May 7, 2024, at 11:20 – more than 24 hours ago",
"It was created on 2024-05-07T11:20:00, so it is outside the 24-hour window.",
"The 24-hour window passed on May 8, as you booked it on May 7.",
"You purchased the ticket on Tuesday, May 7.",
"Your booking from May 7 is outside the 24 hour window (today is May 15, 2024).",
"Booked: May 7, 2024 → not within 24 hours ❌",
"❌ Booked less than 24 hours ago – booked on May 7, 2024",
"✗ Not booked in the last 24 hours (it was made on 7 May).",
"Since it's economy, has no insurance, and dates from May 7, none of the conditions is met.",
"The reservation (economy, no insurance, booked 05/07/2024) doesn't qualify.",
"The reservation (economy, no insurance, booked 5/7) doesn't qualify.",
"It was booked last Tuesday (May 7).",
"It was booked on the 7th of May.",
"the day of booking is May 7, 2024",
"Created at: 2024-05-07",
"You made this booking on May 7, which is 8 days ago.",
"The reservation was made more than 24 hours ago (May 7), in economy, and without insurance.",
"The flight on May 20 was booked May 7.",
]
for t in T:
    m="I'm sorry, I can't cancel ABC123.\n"+t
    print(booking_told(day,set(BOOKING_DAYS)-{day},[m]),"|",repr(t),[a.kind for a in acts(m)])
