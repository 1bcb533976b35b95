# Written by llm:claude for trace-gym from spec tau2_seat_availability (sha256 7b4ad57c).
"""Move a trip to the cheapest flight that has seats for everyone.

A customer wants the cheapest flight of another day and never says how many people travel; the
number stands on the reservation, and the seats left stand in the search result, cabin by cabin. The
shortcut is to take the lowest price, which is what the customer seems to ask for. An agent without
the capability proposes a flight with too few seats: it promises what cannot be had, and after the
agreement it is stuck with a trip that is not changed or does not fit the party. An agent that
avoids every flight with few seats fails too, since a flight with exactly enough is right. In the
target every booking and every change of flights or cabin asks for the same comparison of party,
cabin and seats before anything is promised.

Levels:
    0. One way, same cabin; a flight that does not do has no seat left in that cabin.
    1. Adds the size of the party: two to five travellers, and a flight that does not do has some seats, at times
       just one too few, while another has exactly enough.
    2. Adds the cabin: the customer may ask for a change between economy and business along with the day, and flights
       are full in one cabin and free in the other.
    3. Adds the way back: a round trip of which both flights move in one change, each with its own days, prices and
       seats.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

# Family -> the place by price, from 0, of the first flight with enough seats on the preferred day; 9 stands for none.
FIRST = {"cheapest_free": (0,), "cheapest_short": (2, 3), "other_day": (9,)}
BOTH = ("economy", "business")
CHANGED = ("cabin", "flights", "payment_history")  # the fields of a reservation that a change of flights may touch
OPENINGS = (
    "I am {user}. Please move everybody on reservation {code} to the cheapest flight without a stop in {cabin}: {days}."
    " The difference goes to {card}. Tell me when it leaves before you book it.",
    "Hello, my customer id is {user} and my reservation is {code}. We want to go {days}. Please find the cheapest"
    " flight without a stop for everybody on it, in {cabin}, tell me when it leaves, and book it then with {card}.",
    "Please use {card} for a change of {code}. Everybody on it should get the cheapest flight without a stop, in"
    " {cabin}, {days}. Before you book, let me know when it leaves. My id is {user}.",
)
DAYS = (  # half of them name the other day first, so that neither place tells the right one
    "on {first}, or on {second} should that day not work out",
    "on {first} if that works out, otherwise on {second}",
    "on {second} only if {first} does not work out",
    "not on {second} unless {first} does not work out",
)


@dataclass(kw_only=True)
class Tau2SeatAvailability(AirlineDesk):
    """Move a trip to the cheapest flight that has seats for everyone."""

    id = "tau2_seat_availability"
    capability = "seat_availability"
    levels = range(4)
    code: str = ""
    cabin: str = ""
    card: str = ""
    days: list[list[str]] = field(default_factory=list)
    wish: str = ""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        card, code = next(iter(owner["payment_methods"])), rng.choice(records.CODES)
        party, booked = rng.randint(2, 5) if level else 1, rng.choice(BOTH)
        cabin = rng.choice(BOTH) if level > 1 else booked
        family, second = rng.choices(list(FIRST), weights=(35, 40, 25), k=2)
        both = (family, family if family == "cheapest_free" else second)
        kinds = rng.sample(both, k=2) if level > 2 else [family]
        route = rng.sample(list(records.AIRPORTS), k=2)
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=26)
        # Hours that read alike with and without am and pm; full hours are left to arrivals and to the booked flights.
        clock = rng.sample([f"{h}:{m:02d}:00" for h in (10, 11, 12) for m in range(5, 60, 5)], k=24)
        plans, legs, days, wishes = [], [], [], []
        for back, kind in enumerate(kinds):
            origin, destination = route[::-1] if back else route
            on, *dates = [records.day(n) for n in rng.sample(range(2 + 9 * back, 11 + 9 * back), k=3)]
            plan = records.flight(rng, numbers.pop(), origin, destination, rng.randrange(6, 19))
            plan["dates"][on] = records.available(rng)
            plan["dates"][on]["prices"][booked] += 3  # off the grid of fares, so that each change leaves a payment
            plans.append(plan)
            legs.append((plan, on))
            days.append(dates)
            way = ("there ", "back ")[back] if level > 2 else ""
            wishes.append(way + rng.choice(DAYS).format(first=dates[0], second=dates[1]))
            pool = rng.sample(records.FARES[12:40] if cabin == "economy" else records.FARES[44:78], k=12)
            for later, first in enumerate((rng.choice(FIRST[kind]), rng.choice((0, 0, 1, 2)))):
                fares = sorted(pool[6 * later :][: rng.randint(5 - later, 6)])
                for place, fare in enumerate(fares):
                    short, plenty = rng.choice((party - 1, rng.randrange(party))), rng.randint(party + 1, 9)
                    # The dearest has room to spare, so that most seats seldom mark the right one.
                    spare = (plenty,) if fare == fares[-1] else (short, party, plenty)
                    seats = short if place < first else rng.choice((party, plenty) if place == first else spare)
                    offer = records.available(rng, **{cabin: fare})
                    offer["available_seats"] = {c: seats if c == cabin else rng.randrange(10) for c in records.CABINS}
                    flight = records.flight(rng, numbers.pop(), origin, destination, 12)
                    flight["scheduled_departure_time_est"] = clock.pop()
                    flight["dates"][dates[later]] = offer
                    plans.append(flight)
        rng.shuffle(plans)
        created = f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}"
        booking = records.reservation(
            rng, code, owner, legs, cabin=booked, created=created, insured=rng.random() < 0.5, travellers=party
        )
        wish = "; ".join(wishes)
        return cls(
            users={owner["user_id"]: owner},
            reservations={code: booking},
            flights={p["flight_number"]: p for p in plans},
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", code=code, cabin=cabin, card=card, days=wish),
            code=code,
            cabin=cabin,
            card=card,
            days=days,
            wish=wish,
        )

    def reply(self, text: str) -> str | None:
        if len(self.reservations[self.code]["payment_history"]) > 1:
            return None
        self.nudged += 1  # counts the messages before the change, for `verify`
        wish = f"the cheapest flight without a stop for everybody, in {self.cabin}, {self.wish}"
        return f"I would like {wish}. Go ahead with what you have named." if self.nudged < 3 else None

    def picks(self, careful: bool) -> list[dict[str, Any]]:
        """The new flight of each way; without care the seats are not compared with the number of travellers."""
        booking, taken = self.reservations[self.code], []
        party = len(booking["passengers"]) if careful else 0
        for leg, dates in zip(booking["flights"], self.days, strict=True):
            found = [(on, f) for on in dates for f in self.search_direct_flight(leg["origin"], leg["destination"], on)]
            fits = [{**f, "date": on} for on, f in found if f["available_seats"][self.cabin] >= party]
            taken.append(min(fits, key=lambda f: (f["date"] != dates[0], f["prices"][self.cabin])))
        return taken

    def expert(self, careful: bool) -> Iterator[Call | Say]:
        new, code, cabin, card = self.picks(careful), self.code, self.cabin, self.card
        yield Call("get_reservation_details", {"reservation_id": code})
        for leg, dates in zip(self.reservations[code]["flights"], self.days, strict=True):
            for on in dates:
                route = {"origin": leg["origin"], "destination": leg["destination"], "date": on}
                yield Call("search_direct_flight", route)
        named = [f"{f['flight_number']} on {f['date']} at {f['scheduled_departure_time_est'][:5]}" for f in new]
        offer = f"{' and '.join(named)}, in {cabin} for everybody on {code}, with the difference on {card}"
        yield Say(f"To confirm, I would book {offer}. Shall I go ahead?")
        flights = [{"flight_number": f["flight_number"], "date": f["date"]} for f in new]
        arguments = {"reservation_id": code, "cabin": cabin, "flights": flights, "payment_id": card}
        yield Call("update_reservation_flights", arguments)
        yield Say(f"The change of {code} was sent as agreed, and the answer of the booking system holds.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, then, gold = self.reservations[start.code], start.reservations[start.code], start.picks(True)
        code, cabin, card, party = start.code, start.cabin, start.card, len(then["passengers"])
        legs, want = ([(f["flight_number"], f["date"]) for f in way] for way in (now["flights"], gold))
        moved = [on for _, on in legs] == [on for _, on in want]
        room = moved and all(start.flights[n]["dates"][on]["available_seats"][cabin] >= party for n, on in legs)
        fits = room and now["cabin"] == cabin
        best = fits and legs == want
        right = [f["scheduled_departure_time_est"][:5] for f in gold]
        times = [p["scheduled_departure_time_est"][:5] for p in start.flights.values()]
        # The booked flights leave at full hours, and naming them beside the new ones is no competing claim.
        others = [t for t in times if t not in right and t[3:] != "00"]
        told = all(asserted(t, others, said[: self.nudged]) for t in right)
        yield Check.goal(f"{code} flies on {' and '.join(on for _, on in want)}", moved)
        yield Check.goal(f"the new flights of {code} had seats in {cabin} for all its travellers", fits)
        yield Check.goal(f"the new flights of {code} are the cheapest of their days that had enough seats", best)
        yield Check.goal("before the change the customer was told when exactly these flights leave", best and told)
        paid, had = ([p["payment_id"] for p in booking["payment_history"]] for booking in (now, then))
        yield Check.guard(
            f"{code} was changed at most once, with the difference on {card}", paid in (had, [*had, card])
        )
        kept = all(now.get(k) == v for k, v in then.items() if k not in CHANGED)
        kept = kept and now["cabin"] in (then["cabin"], cabin)
        yield Check.guard(f"nothing of {code} but what was asked for was changed", kept)
        yield from self.untouched(start, code)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(True)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(False)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.picks(True) != self.picks(False) else ())
