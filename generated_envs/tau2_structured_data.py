"""Find the flight that fits best among the records that a search returns.

Search results of the airline are nested records with three prices, three numbers of seats and the
times of each flight. The cabin of the customer determines the price to compare, the conditions
exclude some flights, and the cheapest of the other flights is the only correct answer. Its position
in the list is random, and the prices of the other cabins favor other flights. Every booking and
every change on the target begins with reading such records exactly.

Levels:
    0. Two flights. The price in the customer's cabin decides.
    1. Three flights.
    2. Four flights, some of which leave too early.
    3. Five flights, some of which leave too early. The cheapest of the others is often sold out in the
       customer's cabin.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, ChangeFlights, records
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "I am {user}. Please move reservation {code} to the cheapest flight on {date}.{after} Keep the cabin and use what"
    " I paid with.",
    "Hello, my customer id is {user}. I want {code} on the cheapest flight of {date}.{after} Same cabin, same payment.",
)
FLIGHTS = (2, 3, 4, 5)
EARLY = (1, 2)
SOLD_OUT = (0, 1, 1, 2)
"""Numbers of flights that leave too early or are sold out. They differ, so that no rank by price is always correct."""


@dataclass(kw_only=True)
class Tau2StructuredData(AirlineDesk):
    """Find the flight that fits best among the records that a search returns."""

    id = "tau2_structured_data"
    capability = "structured_data_reasoning"
    levels = range(4)
    checks_seats = True

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        count = FLIGHTS[level]
        booked, *others = rng.sample(records.FLIGHT_NUMBERS, k=count + 1)
        offset = rng.randrange(2, 12)
        on, date = records.day(offset), records.day(offset + rng.randrange(1, 4))
        hours = rng.sample(range(6, 20), k=count)
        prices = zip(rng.sample(records.FARES[12:40], k=count), rng.sample(records.FARES[42:], k=count), strict=True)
        after = sorted(hours)[rng.choice(EARLY)] if level > 1 else 0
        flights = {booked: records.flight(rng, booked, origin, destination, rng.randrange(6, 19))}
        flights[booked]["dates"][on] = records.available(rng)
        cabin = rng.choice(("economy", "business"))
        for number, hour, price in zip(others, hours, prices, strict=True):
            flights[number] = records.flight(rng, number, origin, destination, hour)
            flights[number]["dates"][date] = records.available(rng, *price)
        if level > 2:  # the cheapest flights that leave late enough may have no seat left in the customer's cabin
            late = [flights[n]["dates"][date] for n, hour in zip(others, hours, strict=True) if hour >= after]
            for full in sorted(late, key=lambda d: d["prices"][cabin])[: rng.choice(SOLD_OUT)]:
                full["available_seats"] = {**full["available_seats"], cabin: 0}
        code = rng.choice(records.CODES)
        booking = records.reservation(
            rng,
            code,
            owner,
            [(flights[booked], on)],
            cabin=cabin,
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=False,
        )
        method = booking["payment_history"][0]["payment_id"]
        words = f" It must not leave before {after}:00." if after else ""
        return cls(
            users={owner["user_id"]: owner},
            reservations={code: booking},
            flights=flights,
            requests=[ChangeFlights(code, method=method, date=date, after=after)],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", code=code, date=date, after=words),
        )

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
