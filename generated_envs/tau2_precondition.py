"""Cancel a reservation only when the rules allow it.

The tools of the airline desk carry out whatever they are told; whether a reservation may be
cancelled has to be derived from its record, the reason and the clock. Every problem is one of a
near-miss pair that differs in a single fact, half of them allowed and half not, so neither always
cancelling nor always refusing pays. A refusal counts only when it names the day of booking, which
only a look at the record reveals. The tools, the record shapes and the rules are those of the
target, so checking before writing carries over to every request it gates.

Levels:
    0. The cabin decides: business may be cancelled, economy may not.
    1. Insurance with its reasons, and a booking made today, decide as well.
    2. Bookings just inside or outside 24 hours, flights that the airline did or did not cancel, a reason that decides
       and has to be asked for.
    3. Trips flown already, several travellers, and customers who insist.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.tau2.airline import REASONS, SKILLS, AirlineDesk, Cancel, records
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "I am {user}. Please cancel reservation {code}. {reason}",
    "Hello, my customer id is {user}. I want to cancel {code}. {reason}",
    "{reason} Please cancel my trip {code}. My id is {user}.",
)
OLD, NEW, LATE, EARLY = "old", "new", "less than a day ago", "just over a day ago"
REFUSED = (  # per level: (cabin, booked, insured, reason, status of the flight)
    (
        ("economy", "old", False, "change of plans", "available"),
        ("basic_economy", "old", False, "change of plans", "available"),
    ),
    (
        ("economy", "old", True, "change of plans", "available"),
        ("economy", "old", False, "health", "available"),
        ("basic_economy", "old", False, "weather", "available"),
    ),
    (
        ("economy", "just over a day ago", False, "change of plans", "available"),
        ("basic_economy", "just over a day ago", True, "change of plans", "available"),
        ("economy", "old", False, "airline", "available"),
        ("economy", "old", True, "airline", "available"),
        ("basic_economy", "old", True, "change of plans", "available"),
    ),
    (
        ("economy", "old", True, "health", "landed"),
        ("business", "old", False, "change of plans", "landed"),
        ("economy", "old", True, "airline", "available"),
        ("basic_economy", "old", True, "change of plans", "available"),
    ),
)
ALLOWED = (  # each differs from a refused case in one fact
    (("business", "old", False, "change of plans", "available"),),
    (
        ("economy", "new", False, "change of plans", "available"),
        ("economy", "old", True, "health", "available"),
        ("basic_economy", "old", True, "weather", "available"),
    ),
    (
        ("economy", "less than a day ago", False, "change of plans", "available"),
        ("basic_economy", "less than a day ago", True, "change of plans", "available"),
        ("economy", "old", False, "airline", "cancelled"),
        ("economy", "old", True, "health", "available"),
        ("basic_economy", "old", True, "weather", "available"),
    ),
    (
        ("economy", "new", False, "change of plans", "available"),
        ("business", "old", False, "change of plans", "available"),
        ("economy", "old", True, "airline", "cancelled"),
        ("economy", "old", True, "weather", "available"),
        ("basic_economy", "old", True, "health", "available"),
    ),
)
ASKED = {True: 0.9, False: 0.2}
"""How often the reason has to be asked for, by whether it decides."""


@dataclass(kw_only=True)
class Tau2Precondition(AirlineDesk):
    """Cancel a reservation only when the rules allow it."""

    id = "tau2_precondition"
    capability = "precondition_verification"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        cases = rng.choice((REFUSED, ALLOWED))
        cabin, booked, insured, reason, status = rng.choice(cases[rng.randint(max(0, level - 1), level)])
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        plan = records.flight(rng, rng.choice(records.FLIGHT_NUMBERS), origin, destination, rng.randrange(6, 19))
        on = records.day(-1 if status == "landed" else rng.randrange(2, 14))
        plan["dates"][on] = records.available(rng) if status == "available" else {"status": status}
        code = rng.choice(records.CODES)
        booking = records.reservation(
            rng,
            code,
            owner,
            [(plan, on)],
            cabin=cabin,
            created=booked_at(rng, booked),
            insured=insured,
            travellers=1 + (level > 2 and rng.random() < 0.5),
        )
        world = cls(
            users={owner["user_id"]: owner},
            reservations={code: booking},
            flights={plan["flight_number"]: plan},
            requests=[Cancel(code, reason=reason)],
            customer=owner["user_id"],
        )
        decides = len({Cancel(code, reason=other).verdict(world).allowed for other in REASONS}) > 1
        asked = level > 1 and rng.random() < ASKED[decides]
        words = "" if asked else REASONS[reason]
        world.withheld = ("reason",) if asked else ()
        world.wording = rng.choice(OPENINGS).format(user="{user}", code=code, reason=words).strip()
        world.pushes = rng.randrange(3) if level > 2 else 0
        return world

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})


def booked_at(rng: Random, booked: str) -> str:
    """A time of booking; a day counts as 24 hours before now, 15:00."""
    before = [t for t in records.CLOCK if t < "15:00:00"]
    after = [t for t in records.CLOCK if t > "15:00:00"]
    if booked == OLD:
        return f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}"
    if booked == NEW:
        return f"{records.TODAY}T{rng.choice(before)}"
    return f"{records.day(-1)}T{rng.choice(after if booked == LATE else before)}"
