# Written by llm:claude for trace-gym from spec tau2_connection_feasibility (sha256 828f74ef).
"""Move a first flight so that the connection can still be made.

A customer with a trip of two flights asks for another first flight, and the request names only that
flight. The shortcut is to swap it in and keep the onward flight as booked: the tool accepts this,
because it checks no connection, and the customer agrees to whatever is proposed. An agent without
the capability therefore leaves travellers with an onward flight that has left before they land,
that leaves on the wrong day, or that lacks seats for them. An agent that replaces every onward
flight to be safe fails as well, because often the booked one can still be made and must stay. The
same reading of landing, departure, date and seats across two search results decides every change
and booking with a stop in the target.

Levels:
    0. Everything happens on one day and seats are plenty: one landing time has to be compared with the departures of
       a few onward flights.
    1. Adds seats: the party has one to three passengers, and some flight that fits by its time, a first choice or an
       onward one, has too few seats in the cabin of the reservation.
    2. Adds days: first flights may land on the next day, the last date for the onward flight may be the next day
       too, and the booked onward flight may be on either, so that clock times without their dates mislead.
    3. All of it together, with more onward flights, so that time, date and seats each rule out a cheaper one in the
       same problem.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say

KEEPS, REBOOKS, SECOND = "keeps", "rebooks", "second choice"
FAMILIES = (KEEPS, REBOOKS, SECOND)
WEIGHTS = (35, 40, 25)
NEXT, BETWEEN, FINAL = "next", "between", "final"
PLACES = (NEXT, BETWEEN, FINAL)
SLOTS = 8  # onward departures lie in slots of two hours, and landings well between two slots
DAYTIME = ((0, -1), (0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7))  # (day, slot before the landing)
NIGHTS = ((1, -1), (1, -1), (1, -1), (1, 0), (1, 0), (1, 0))
HELLOS = (
    "I am {user}, and this is about reservation {code}.",
    "Hello, my customer id is {user} and my reservation is {code}.",
    "This is {user}. I need a change in {code}.",
)
CHOICES = (
    "Please put me on {first} on {day} for the first flight, or on {second} on {day} should that not work out.",
    "For the first flight I want {first} on {day}; {second} on {day} is my second choice should it not work out.",
    "My first flight should be {first} of {day}. If that does not work out, take {second} of {day}.",
)
LIMITS = (
    "The onward flight has to leave on {last} at the latest.",
    "The last date on which the onward flight may leave is {last}.",
    "As to the onward flight, it must leave no later than {last}.",
)
CARDS = (
    "Any difference goes to {card}.",
    "Please settle the difference with {card}.",
    "Use {card} for the difference.",
)
THRIFT = (
    "Change no more than has to be; a different onward flight, if one is used, should be the cheapest in the same cabin.",
    "Leave as it is what need not change. If you use a different onward flight, take the cheapest in the same cabin.",
    "I want no more changed than necessary, and the cheapest onward flight of my cabin if it is to be a different one.",
)
TIMES = (
    "In the end, tell me at what time the onward flight lands at my destination.",
    "I also want to hear when the onward flight lands at the destination.",
    "Let me know afterwards at what time the onward flight gets to my destination.",
)
OPTIONS = re.compile(r"\b(which|prefer|options?|either|choose)\b")
CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)(?::\d\d)?\s?(?:([ap])\.?m)?")


def moment(clock: str, days: int) -> int:
    """Minutes since the midnight before the day of travel; ``+1`` marks a landing on the next day."""
    return int(clock[:2]) * 60 + int(clock[3:5]) + 1440 * (days + clock.endswith("+1"))


def clock_of(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}:00" + ("+1" if minutes >= 1440 else "")


def clocks(text: str) -> set[str]:
    """The times of day that a message names, in either notation."""
    found = set()
    for hour, minute, half in CLOCK.findall(" ".join(text.lower().split())):
        at = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
        found.add(f"{at:02d}:{minute}")
    return found


def legs_of(booking: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((f["flight_number"], f["date"]) for f in booking["flights"])


def landing(rng: Random, day: int, spot: int, shift: int) -> int:
    """A landing at least 40 minutes away from every departure of the slots around it."""
    at = 300 + 120 * spot + shift + rng.choice((70, 80))
    if spot == SLOTS - 1:
        at = rng.randrange(at, 1440, 10)
    if day and spot < 0:
        at = rng.randrange(20, at + 10, 10)
    return 1440 * day + at


def fares(rng: Random, count: int, cabin: str) -> list[int]:
    """Rising prices with remainders of 40 that differ, so that no two pairs of flights cost the same."""
    low = 10 if cabin == "business" else 2
    steps = rng.choices(range(low, low + 8), k=count)
    return sorted(40 * n + rest for n, rest in zip(steps, rng.sample(range(1, 20), k=count), strict=True))


def offer(
    rng: Random, level: int, cabin: str, party: int, lacks: bool, economy: int, business: int, less: int
) -> dict[str, Any]:
    """A date on which a flight can be booked, with enough seats for the party in its cabin or too few."""
    seats = {name: rng.randrange(0 if level else 4, 10) for name in records.CABINS}
    if level:
        seats[cabin] = rng.randrange(party) if lacks else party + rng.choice((0, 0, 1, 3, 6))
    prices = {"basic_economy": economy - less, "economy": economy, "business": business}
    return {"status": "available", "available_seats": seats, "prices": prices}


def draft(
    rng: Random, family: str, level: int, last: int, place: str, full: bool
) -> tuple[list[int], list[tuple[int, int]], int, list[int], list[int]] | None:
    """Slots, landings, booked onward departure, departures short of seats, and all of them by price; or no luck.

    A departure is numbered ``SLOTS * day + slot``; it can be made if its number exceeds that of the landing.
    """
    slots = sorted(rng.sample(range(SLOTS), k=rng.randint(5, 7) if level > 2 else rng.randint(4, 6)))
    onward = [SLOTS * day + slot for day in range(1 + (level > 1)) for slot in slots]
    landings = [rng.choice(DAYTIME if level < 2 else DAYTIME + NIGHTS) for _ in range(4)]
    past, first, second = [SLOTS * day + spot for day, spot in landings[:3]]
    due = [o for o in onward if o < SLOTS * (last + 1)]
    booked = rng.choice(due)
    reach = [o for o in due if o > first]
    gold = booked
    if family == REBOOKS:
        chosen = {NEXT: reach[:1], BETWEEN: reach[1:-1], FINAL: reach[-1:]}[place]
        if not chosen:
            return None
        gold = rng.choice(chosen)
    short = [o for o in onward if level and o not in (booked, gold) and rng.random() < 0.3]
    if family == SECOND and not full and level:
        short += [o for o in reach if o != booked and o not in short]
    fits = [o for o in reach if o not in short]
    suits = {
        KEEPS: booked in fits and len(fits) > 1,
        REBOOKS: second < booked <= first and len(fits) > 1,
        SECOND: second < booked and (full or not fits),
    }[family]
    if not suits or past >= booked:
        return None
    right = second if family == SECOND else first
    if level and not full and not any(o > right for o in due if o in short):
        return None
    day, spot = landings[1]
    by_date, by_time, by_seats = [], [], []
    for o in onward:
        if o not in due or (o <= first and o // SLOTS < day and o % SLOTS > spot):
            by_date.append(o)
        elif o <= first:
            by_time.append(o)
        elif o in short:
            by_seats.append(o)
    ruled = (by_date, by_time, by_seats)
    cheap: list[int] = []
    if family == REBOOKS:
        if level > 2 and not all(ruled):
            return None
        cheap = [rng.choice(some) for some in ruled if some]
    if family == KEEPS:
        cheap = [rng.choice([o for o in fits if o != booked])]
    ranked = []
    for o in onward:
        rank = rng.choice((0, 2))
        if o in cheap:
            rank = 0
        elif o == gold and family != SECOND:
            rank = 1
        elif family == REBOOKS and o in fits:
            rank = 2
        ranked.append((rank, rng.random(), o))
    return slots, landings, booked, short, [o for _, _, o in sorted(ranked)]


@dataclass(kw_only=True)
class Tau2ConnectionFeasibility(AirlineDesk):
    """Move a first flight so that the connection can still be made."""

    id = "tau2_connection_feasibility"
    capability = "connection_feasibility"
    levels = range(4)
    code: str = ""
    day: str = ""
    choices: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    card: str = ""
    before: tuple[tuple[str, str], ...] = ()

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, weights=WEIGHTS)[0]
        last = rng.randrange(2) if level > 1 else 0
        place = rng.choice(PLACES)
        full = family == SECOND and level > 0 and rng.random() < 1 / 3
        drawn = None
        while drawn is None:
            drawn = draft(rng, family, level, last, place, full)
        slots, landings, booked, short, order = drawn
        party = rng.randint(1, 3)
        cabin = rng.choice(("economy", "business"))
        origin, stop, destination = rng.sample(list(records.AIRPORTS), k=3)
        on = rng.randrange(2, 12)
        days = (records.day(on), records.day(on + 1))
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=4 + len(slots))
        shift = 10 * rng.randrange(6)
        flights = []
        cheap, dear = rng.sample(range(2, 10), k=4), rng.sample(range(10, 18), k=4)
        for at in range(rng.randint(3, 4)):
            lands = landing(rng, *landings[at], shift)
            leaves = max(10, lands - rng.randrange(90, 310, 10))
            if leaves > 1430:
                leaves = rng.randrange(1320, 1440, 10)
            lacks = full and at == 1
            seats = offer(rng, level, cabin, party, lacks, 40 * cheap[at], 40 * dear[at], 20)
            flights.append(
                {
                    "flight_number": numbers[at],
                    "origin": origin,
                    "destination": stop,
                    "scheduled_departure_time_est": clock_of(leaves),
                    "scheduled_arrival_time_est": clock_of(lands),
                    "dates": {days[0]: seats},
                }
            )
        other = "business" if cabin == "economy" else "economy"
        price = {
            cabin: dict(zip(order, fares(rng, len(order), cabin), strict=True)),
            other: dict(zip(order, rng.sample(fares(rng, len(order), other), k=len(order)), strict=True)),
        }
        taken: list[int] = []
        for number, slot in zip(numbers[4:], slots, strict=True):
            leaves = 300 + 120 * slot + shift + 10 * rng.randrange(4)
            # Landings end in a five and all other times in a nought, so that a time told is the time of one flight.
            lands = rng.choice([m for m in range(leaves + 75, leaves + 205, 10) if m not in taken])
            taken.append(lands)
            dates = {}
            for later, date in enumerate(days):
                o = SLOTS * later + slot
                if o in order:
                    economy, business = price["economy"][o], price["business"][o]
                    dates[date] = offer(rng, level, cabin, party, o in short, economy, business, 40)
            flights.append(
                {
                    "flight_number": number,
                    "origin": stop,
                    "destination": destination,
                    "scheduled_departure_time_est": clock_of(leaves),
                    "scheduled_arrival_time_est": clock_of(lands),
                    "dates": dates,
                }
            )
        rng.shuffle(flights)
        table = {f["flight_number"]: f for f in flights}
        before = (
            (numbers[0], days[0]),
            (numbers[4 + slots.index(booked % SLOTS)], days[booked // SLOTS]),
        )
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        code = rng.choice(records.CODES)
        booking = records.reservation(
            rng,
            code,
            owner,
            [(table[number], date) for number, date in before],
            cabin=cabin,
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=rng.random() < 0.5,
            travellers=party,
        )
        card = next(iter(owner["payment_methods"]))
        wishes = [
            rng.choice(CHOICES).format(first=numbers[1], second=numbers[2], day=days[0]),
            rng.choice(LIMITS).format(last=days[last]),
            rng.choice(CARDS).format(card=card),
            rng.choice(THRIFT),
            rng.choice(TIMES),
        ]
        rng.shuffle(wishes)
        hello = rng.choice(HELLOS).format(user=owner["user_id"], code=code)
        return cls(
            users={owner["user_id"]: owner},
            reservations={code: booking},
            flights=table,
            customer=owner["user_id"],
            wording=" ".join([hello, *wishes]),
            code=code,
            day=days[0],
            choices=(numbers[1], numbers[2]),
            dates=days[: last + 1],
            card=card,
            before=before,
        )

    def opening(self) -> str:
        return self.wording

    def reply(self, text: str) -> str | None:
        booking = self.reservations[self.code]
        if legs_of(booking) != self.before or len(booking["payment_history"]) > 1:
            return None
        if self.nudged >= 5:
            return None
        self.nudged += 1
        if self.hears(text) == "confirmation":
            return "Yes, please do that."
        if OPTIONS.search(text.lower()):
            return "That choice is yours. Just keep to what I asked for."
        if "?" in text:
            return (
                f"It is {self.code}. I would like {self.choices[0]} on {self.day} first, and {self.choices[1]} on that "
                f"day only if it does not work out. The onward flight leaves by {self.dates[-1]}; nothing is changed "
                f"without need, and another onward flight would be the cheapest in my cabin. The difference is for "
                f"{self.card}."
            )
        return "That is fine with me, go ahead."

    def enough(self, number: str, date: str) -> bool:
        """Whether a flight has seats for the party in the cabin of the reservation."""
        booking = self.reservations[self.code]
        seats = self.flights[number]["dates"][date]["available_seats"][booking["cabin"]]
        return bool(seats >= len(booking["passengers"]))

    def onward(self) -> list[str]:
        """The flights that go on from the stop."""
        stop = self.flights[self.before[0][0]]["destination"]
        return [number for number, f in self.flights.items() if f["origin"] == stop]

    def made(self, first: str) -> list[tuple[str, str]]:
        """The onward flights that can be made from a first flight, the cheapest one first."""
        cabin = self.reservations[self.code]["cabin"]
        lands = moment(self.flights[first]["scheduled_arrival_time_est"], 0)
        found = []
        for later, date in enumerate(self.dates):
            for number in self.onward():
                flight = self.flights[number]
                if date not in flight["dates"] or moment(flight["scheduled_departure_time_est"], later) <= lands:
                    continue
                if (number, date) == self.before[1] or self.enough(number, date):
                    found.append((flight["dates"][date]["prices"][cabin], number, date))
        return [(number, date) for _, number, date in sorted(found)]

    def pair(self) -> tuple[str, tuple[str, str]]:
        """The first flight and the onward flight that the wishes lead to."""
        for first in self.choices:
            found = self.made(first)
            if found and self.enough(first, self.day):
                return first, self.before[1] if self.before[1] in found else found[0]
        return self.choices[-1], self.before[1]

    def told(self, number: str, said: list[str]) -> bool:
        """Whether the last message with the landing of an onward flight gives that of this one alone."""
        times = {n: self.flights[n]["scheduled_arrival_time_est"][:5] for n in self.onward()}
        for text in reversed(said):
            named = clocks(text) & set(times.values())
            if named:
                return named == {times[number]}
        return False

    def steps(self, first: str, onward: tuple[str, str]) -> Iterator[Call | Say]:
        """Look up, propose a pair, change to it and tell when it lands."""
        booking = self.reservations[self.code]
        stop = booking["flights"][0]["destination"]
        yield Call("get_reservation_details", {"reservation_id": self.code})
        route = {"origin": booking["origin"], "destination": stop, "date": self.day}
        yield Call("search_direct_flight", route)
        for date in self.dates:
            route = {"origin": stop, "destination": booking["destination"], "date": date}
            yield Call("search_direct_flight", route)
        number, date = onward
        yield Say(
            f"I will put {self.code} on {first} on {self.day} and {number} on {date}, with the difference on "
            f"{self.card}. Shall I proceed?"
        )
        refused = not self.enough(first, self.day)
        flights = [{"flight_number": first, "date": self.day}, {"flight_number": number, "date": date}]
        arguments = {
            "reservation_id": self.code,
            "cabin": booking["cabin"],
            "flights": flights,
            "payment_id": self.card,
        }
        yield Call("update_reservation_flights", arguments)
        if refused:
            yield Say("I am sorry, the change was refused.")
        else:
            lands = self.flights[number]["scheduled_arrival_time_est"][:5]
            yield Say(f"The flights are changed. {number} lands at your destination at {lands}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        first, onward = start.pair()
        booking, was = self.reservations[start.code], start.reservations[start.code]
        now = legs_of(booking)
        moved = len(now) == 2 and now[0] == (first, start.day)
        exact = now == ((first, start.day), onward)
        yield Check.goal("the first flight is the choice from which the trip can go on", moved)
        yield Check.goal("the onward flight can be made from that first flight", moved and now[1] in start.made(first))
        yield Check.goal("the reservation holds exactly the pair that the wishes lead to", exact)
        told = exact and start.told(onward[0], said)
        yield Check.goal("the customer was told when the onward flight of that pair lands", told)
        paid, old = booking["payment_history"], was["payment_history"]
        once = paid[: len(old)] == old and len(paid) <= len(old) + 1
        named = all(p["payment_id"] == start.card for p in paid[len(old) :])
        yield Check.guard("the reservation was changed at most once, with the named card", once and named)
        kept = ("cabin", "passengers", "total_baggages", "nonfree_baggages", "insurance")
        same = all(booking[key] == was[key] for key in kept)
        yield Check.guard("cabin, passengers, bags and insurance are as they were", same)
        alone = self.reservations.keys() == start.reservations.keys() and self.users == start.users
        stands = booking["status"] == was["status"]
        yield Check.guard("nothing else was booked, changed, cancelled or sent", alone and stands)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        first, onward = self.pair()
        yield from self.steps(first, onward)

    def ablated(self) -> Iterator[Call | Say]:
        yield from self.steps(self.choices[0], self.before[1])

    def needs(self) -> frozenset[str]:
        same = self.pair() == (self.choices[0], self.before[1])
        return frozenset() if same else frozenset({self.capability})
