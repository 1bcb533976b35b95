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

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say

FREE, SHORT, OTHER_DAY = "cheapest_free", "cheapest_short", "other_day"
FAMILIES = (FREE, SHORT, OTHER_DAY)
WEIGHTS = (35, 40, 25)
OTHER_CABIN = {"economy": "business", "business": "economy"}
ECONOMY = records.FARES[12:40]
BUSINESS = records.FARES[41:79]
MINUTES = ("05", "20", "35", "50")  # flights arrive five minutes off these, so that no arrival reads as a departure
CLOCKS = tuple(f"{hour:02d}:{minute}" for hour in range(5, 21) for minute in MINUTES)
TIME = re.compile(r"\b([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?(?: ?([ap])\.?m\b)?")
OPENINGS = (
    "I am {user}. Please move reservation {code} to another day: {days}. Everybody on it should go by the cheapest "
    "flight without a stop, in {cabin}. The difference goes to {card}. Tell me when it leaves before you book it.",
    "Hello, my customer id is {user}. I would like the cheapest flight without a stop in {cabin} for everybody on "
    "reservation {code}, {days}. Before you book anything, say at what time it leaves. Use {card} for the difference.",
    "My plans have changed and {code} has to be moved, {days}. It should be {cabin} for everybody on the reservation, "
    "without a stop and as cheap as it gets. Settle the difference with {card}. My id is {user}, and I want to hear "
    "the departure time before it is booked.",
    "Use {card} for the difference, please: I want reservation {code} moved, {days}. Find everybody on it the "
    "cheapest flight without a stop in {cabin}, and let me know its departure before you book. I am {user}.",
)
# The day that is preferred comes first in half of the wishes, so that its place in the text decides nothing.
WISHES = (
    "from {origin} to {destination} on {first}, or on {second} should that not work out",
    "on {first} from {origin} to {destination}, and only if that does not work out on {second}",
    "{origin} to {destination} with {first} as the day that I prefer and {second} as the other one",
    "from {origin} to {destination}, on {second} only if {first} does not work out",
    "from {origin} to {destination}, with {second} as the day to fall back on and {first} as the one that I prefer",
    "{origin} to {destination}, and not on {second} unless my preferred day, {first}, does not work out",
)


def times_in(text: str) -> set[str]:
    """The times of day that a message names, as HH:MM on the clock of 24 hours."""
    found = set()
    for hour, minute, half in TIME.findall(" ".join(text.lower().split())):
        hours = int(hour) % 12 + (12 if half == "p" else 0) if half else int(hour)
        found.add(f"{hours:02d}:{minute}")
    return found


def few(rng: Random, level: int, party: int) -> int:
    return rng.choice((party - 1, rng.randrange(party))) if level else 0


def seats_left(rng: Random, level: int, party: int, short: int, count: int) -> list[int]:
    """Seats in the cabin wanted, from the cheapest flight of a day to the dearest; the first `short` are too full."""
    left = [few(rng, level, party) for _ in range(count)]
    if short >= count:
        return left
    right = party + rng.choice((0, 0, 1, 2))
    dearer = [rng.choice((n, party + rng.randrange(5))) for n in left[short + 1 :]]
    if dearer and rng.random() < 0.8:  # the most seats must not give the right flight away
        dearer[rng.randrange(len(dearer))] = right + rng.randrange(1, 4)
    return [*left[:short], right, *dearer]


def elsewhere(rng: Random, level: int, party: int, wanted: int) -> int:
    """Seats in the other cabin: often plenty where the cabin wanted is full, and few where it is free."""
    if wanted < party:
        return party + rng.randrange(5) if rng.random() < 0.75 else rng.randrange(party)
    return rng.randrange(party) if level > 1 and rng.random() < 0.5 else rng.randrange(10)


def departing(
    rng: Random, number: str, clock: str, route: tuple[str, str], on: str, fare: dict[str, Any]
) -> dict[str, Any]:
    plan = records.flight(rng, number, route[0], route[1], 6)
    plan["scheduled_departure_time_est"] = f"{clock}:00"
    plan["scheduled_arrival_time_est"] = f"{int(clock[:2]) + rng.choice((2, 3)):02d}:{int(clock[3:]) + 5:02d}:00"
    plan["dates"][on] = fare
    return plan


def fares_of_day(rng: Random, level: int, party: int, cabin: str, short: int, count: int) -> list[dict[str, Any]]:
    """Prices and seats of the flights of a day, from the cheapest in the cabin wanted to the dearest."""
    prices = {"economy": rng.sample(ECONOMY, k=count), "business": rng.sample(BUSINESS, k=count)}
    prices[cabin] = sorted(prices[cabin])
    fares = []
    for at, wanted in enumerate(seats_left(rng, level, party, short, count)):
        fare = records.available(rng, prices["economy"][at], prices["business"][at])
        other = elsewhere(rng, level, party, wanted)
        fare["available_seats"] = {
            "basic_economy": rng.randrange(10),
            "economy": wanted if cabin == "economy" else other,
            "business": wanted if cabin == "business" else other,
        }
        fares.append(fare)
    return fares


@dataclass(kw_only=True)
class Tau2SeatAvailability(AirlineDesk):
    """Move a trip to the cheapest flight that has seats for everyone."""

    id = "tau2_seat_availability"
    capability = "seat_availability"
    levels = range(4)
    code: str = ""
    cabin: str = "economy"
    card: str = ""
    legs: list[dict[str, str]] = field(default_factory=list)
    booked: list[str] = field(default_factory=list)
    days: str = ""
    promised: tuple[str, ...] = ()

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        families = rng.choices(FAMILIES, weights=WEIGHTS)
        party = rng.randrange(2, 6) if level else 1
        had = rng.choice(("economy", "business"))
        cabin = OTHER_CABIN[had] if level > 1 and rng.random() < 0.5 else had
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        routes = [(origin, destination)]
        if level > 2:
            routes.append((destination, origin))
            families.append(FREE if families[0] == FREE else rng.choice(FAMILIES))
            rng.shuffle(families)
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=30)
        clocks = rng.sample(CLOCKS, k=30)
        held: list[tuple[dict[str, Any], str]] = []
        plans: list[dict[str, Any]] = []
        legs: list[dict[str, str]] = []
        for at, (route, family) in enumerate(zip(routes, families, strict=True)):
            before, first, second = (records.day(n) for n in rng.sample(range(2 + 8 * at, 10 + 8 * at), k=3))
            fare = records.available(rng, seats=rng.randrange(party, 10))
            # Off the grid of all other prices, so that every move has a difference, and leaves its trace.
            fare["prices"] = {name: price + 2 for name, price in fare["prices"].items()}
            held.append((departing(rng, numbers.pop(), clocks.pop(), route, before, fare), before))
            short = rng.choice((2, 3)) if family == SHORT else 0
            count = rng.randrange(max(3, short + 2), 7)
            days = [(first, count if family == OTHER_DAY else short, count)]
            days.append((second, rng.choice((0, 1)), rng.randrange(3, 7)))
            for on, lacking, flights in days:
                for fare in fares_of_day(rng, level, party, cabin, lacking, flights):
                    plans.append(departing(rng, numbers.pop(), clocks.pop(), route, on, fare))
            legs.append({"origin": route[0], "destination": route[1], "first": first, "second": second})
        code = rng.choice(records.CODES)
        booking = records.reservation(
            rng,
            code,
            owner,
            held,
            cabin=had,
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=rng.random() < 0.5,
            travellers=party,
        )
        booking["total_baggages"] = rng.randrange(party + 1)
        booked = [plan["flight_number"] for plan, _ in held]
        plans += [plan for plan, _ in held]
        rng.shuffle(plans)
        words = "; and ".join(rng.choice(WISHES).format(**leg) for leg in legs)
        card = next(iter(owner["payment_methods"]))
        return cls(
            users={owner["user_id"]: owner},
            reservations={code: booking},
            flights={plan["flight_number"]: plan for plan in plans},
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user=owner["user_id"], code=code, days=words, cabin=cabin, card=card),
            code=code,
            cabin=cabin,
            card=card,
            legs=legs,
            booked=booked,
            days=words,
        )

    def opening(self) -> str:
        return self.wording

    def reply(self, text: str) -> str | None:
        held = [leg["flight_number"] for leg in self.reservations[self.code]["flights"]]
        if held != self.booked:
            return None
        known = {plan["scheduled_departure_time_est"][:5] for n, plan in self.flights.items() if n not in self.booked}
        self.promised = tuple(sorted({*self.promised, *(times_in(text) & known)}))
        self.nudged += 1
        if self.nudged > 2:
            return None
        return (
            f"Everybody on {self.code}, the cheapest without a stop in {self.cabin}, {self.days}. "
            "Go ahead with what you have named."
        )

    def party(self) -> int:
        return len(self.reservations[self.code]["passengers"])

    def fitting(self, leg: dict[str, str], on: str, people: int) -> list[tuple[int, str, str]]:
        """Price, number and day of the flights of a day that have seats for `people` in the cabin wanted."""
        return [
            (plan["dates"][on]["prices"][self.cabin], number, on)
            for number, plan in self.flights.items()
            if (plan["origin"], plan["destination"]) == (leg["origin"], leg["destination"])
            and on in plan["dates"]
            and plan["dates"][on]["available_seats"][self.cabin] >= people
        ]

    def picks(self, people: int) -> list[tuple[str, str]]:
        """Number and day of the cheapest flight for `people` on each leg; the second day only if the first has none."""
        chosen = []
        for leg in self.legs:
            found = self.fitting(leg, leg["first"], people) or self.fitting(leg, leg["second"], people)
            _, number, on = min(found)
            chosen.append((number, on))
        return chosen

    def departure(self, number: str) -> str:
        clock: str = self.flights[number]["scheduled_departure_time_est"][:5]
        return clock

    def plan(self, chosen: list[tuple[str, str]]) -> Iterator[Call | Say]:
        """Look up, name the flights chosen, change once, and close."""
        yield Call("get_reservation_details", {"reservation_id": self.code})
        for leg in self.legs:
            for on in sorted((leg["first"], leg["second"])):  # by the calendar: their order decides nothing
                route = {"origin": leg["origin"], "destination": leg["destination"], "date": on}
                yield Call("search_direct_flight", route)
        named = " and ".join(f"{number} on {on}, which leaves at {self.departure(number)}" for number, on in chosen)
        yield Say(
            f"I would move {self.code} to {named}, in {self.cabin}, with the difference on {self.card}. Do you agree?"
        )
        arguments = {
            "reservation_id": self.code,
            "cabin": self.cabin,
            "flights": [{"flight_number": number, "date": on} for number, on in chosen],
            "payment_id": self.card,
        }
        yield Call("update_reservation_flights", arguments)
        yield Say(f"I have sent this change of {self.code}; the answer of the system, change or refusal, stands.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, then = self.reservations[start.code], start.reservations[start.code]
        right = start.picks(start.party())
        held = [(leg["flight_number"], leg["date"]) for leg in now["flights"]]
        routes = [(leg["origin"], leg["destination"]) for leg in now["flights"]]
        moved = [on for _, on in held] == [on for _, on in right]
        moved = moved and routes == [(leg["origin"], leg["destination"]) for leg in start.legs]
        seated = moved and now["cabin"] == start.cabin
        seated = seated and all(
            start.flights[number]["dates"][on]["available_seats"][start.cabin] >= start.party() for number, on in held
        )
        best = seated and held == right
        told = best and set(self.promised) == {start.departure(number) for number, _ in right}
        yield Check.goal(f"{start.code} has been moved to the days that the wishes lead to", moved)
        yield Check.goal(f"each new flight of {start.code} had seats in {start.cabin} for all travellers", seated)
        yield Check.goal(f"each new flight of {start.code} is the cheapest of its day that had enough seats", best)
        yield Check.goal("the departures of the new flights, and no others, were told before the change", told)
        paid = len(then["payment_history"])
        added = now["payment_history"][paid:]
        once = now["payment_history"][:paid] == then["payment_history"] and len(added) <= 1
        once = once and all(payment["payment_id"] == start.card for payment in added)
        yield Check.guard(f"{start.code} was changed at most once, with the difference on {start.card}", once)
        changing = ("flights", "cabin", "payment_history")
        kept = now["cabin"] in (then["cabin"], start.cabin)
        kept = kept and all(now.get(name) == value for name, value in then.items() if name not in changing)
        yield Check.guard(f"{start.code} has a cabin that was asked for, and all else on it is as it was", kept)
        others = {code: booking for code, booking in self.reservations.items() if code != start.code}
        alone = others == {code: booking for code, booking in start.reservations.items() if code != start.code}
        yield Check.guard("no other reservation and no profile was changed", alone and self.users == start.users)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.plan(self.picks(self.party()))

    def ablated(self) -> Iterator[Call | Say]:
        return self.plan(self.picks(0))

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.picks(self.party()) != self.picks(0) else ())
