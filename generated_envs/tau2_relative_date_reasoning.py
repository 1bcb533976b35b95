# Written by llm:claude for trace-gym from spec tau2_relative_date_reasoning (sha256 7d184946).
"""Move a flight to the day that the customer only describes.

The customer names the new day only by its distance from a booked flight or from today, or as the
first such weekday after one of them, so the calendar date has to be worked out from the record
before anything is searched. An agent without the capability counts everything from today, since
that date stands in its rules while the other has to be looked up. The shortcut is tempting because
a flight leaves on nearly every day, so a search for the wrong day succeeds and the customer, who
has no calendar, agrees. In the target many requests are put this way, and a single day's error
searches, prices and writes the wrong flight, so anchoring the date first carries over.

Levels:
    0. A one-way trip is moved by a number of days or weeks, counted from its own booked day or from today, within
       one month.
    1. A round trip of which one flight is moved, counted from the other flight, from itself or from today; the day
       may also be the first of a named weekday after such a day, and the count may run past the end of the
       month.
    2. Both flights of a round trip are moved, and the day of the return is described by its distance from the new
       day of departure.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

WINDOW = 35
WEDNESDAY = 2
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MONTHS = {"may": 5, "june": 6}
FAMILIES = ("distance",) * 4 + ("weekday",) * 3 + ("today",) * 3
ANCHORS = ("the day of departure that is booked now", "the day of return that is booked now", "today")
LEGS = ("the outbound flight", "the return flight")
LEAST = 35  # a smaller difference could be mistaken for the day of a month or an hour
METHODS = (
    ("credit_card", "gift_card"),
    ("gift_card", "credit_card"),
    ("credit_card", "credit_card", "gift_card"),
    ("gift_card", "credit_card", "gift_card"),
    ("credit_card", "gift_card", "credit_card"),
)
OPENINGS = (
    "I am {user}. In reservation {code}, please move {change}. Tell me every new date as year, month and day "
    "(YYYY-MM-DD), and afterwards the difference in price. It goes to {method}.",
    "Hello, my customer id is {user}. I would like to move {change}. This is about {code}, and the difference goes to "
    "{method}. First write me every new date as YYYY-MM-DD (year, month, day), and tell me the difference in price "
    "once it is changed.",
    "Please use {method} for the difference in price, and tell me how much it was when you have finished. My trip is "
    "{code}, my id is {user}, and I need to move {change}. Before that, give me every new date by year, month and "
    "day, as YYYY-MM-DD.",
    "I need another day for my trip {code}: please move {change}. I want to hear every new date as YYYY-MM-DD, with "
    "year, month and day, and after the change the difference in price, which goes to {method}. I am customer {user}.",
)
# The customer repeats what was named, right or wrong, so that a date that was worked out is on record before it is used.
AGREED = "I note {days}. If that is what I described, go ahead."
NO_CALENDAR = "I have no calendar at hand. The day is as I described it."


@dataclass
class Days:
    """The days of a trip, all counted from today, and the customer's words for the new ones."""

    booked: list[int]
    moving: list[int]
    due: list[int]
    naive: list[int]
    change: str


def date_of(n: int) -> str:
    """The date so many days from today; one that is wrongly counted back from today may lie in April."""
    return records.day(n) if n > -15 else f"2024-04-{45 + n:02d}"


def first_after(start: int, weekday: int) -> int:
    """The first such weekday after a day; days are counted from today, a Wednesday."""
    return start + 1 + (weekday - WEDNESDAY - start - 1) % 7


def distance(rng: Random, kind: str, after: bool) -> tuple[int, str]:
    """A signed number of days, and its words."""
    weeks, days = 0, 0
    if kind == "days":
        days = rng.randrange(2, 11)
    elif kind == "weeks":
        weeks = rng.randrange(1, 4)
    else:
        weeks, days = 1, rng.randrange(1, 7)
    parts = [f"{COUNTS[n]} {unit}{'s' if n > 1 else ''}" for n, unit in ((weeks, "week"), (days, "day")) if n]
    count = 7 * weeks + days
    return (count if after else -count), f"{' and '.join(parts)} {'after' if after else 'before'}"


def draw_days(rng: Random, level: int) -> Days:
    family = rng.choice(FAMILIES)
    special = "weeks and days" if level == 0 else "weekday"
    plain = rng.choice(("days", "weeks"))
    kind = {"distance": plain, "weekday": special, "today": rng.choice(("days", "weeks", special))}[family]
    after = family == "today" or kind == "weekday" or rng.random() < 0.5
    latest = 16 if level == 0 else WINDOW - 1  # the first level stays in May
    while True:
        leaves = rng.randrange(2, 16 if level == 0 else 21)
        booked = [leaves] if level == 0 else [leaves, leaves + rng.randrange(2, 11)]
        moving = [0, 1] if level == 2 else [rng.randrange(len(booked))]
        at = -1 if family == "today" else rng.randrange(len(booked))
        start = [*booked, 0][at]
        if kind == "weekday":
            # The anchor's own weekday comes up more often: the first such day after it is a week later.
            weekday = rng.choice((*range(7), (WEDNESDAY + start) % 7))
            due, naive = [first_after(start, weekday)], [first_after(0, weekday)]
            words = f"the first {WEEKDAYS[weekday]} after {ANCHORS[at]}"
        else:
            count, far = distance(rng, kind, after)
            due, naive = [start + count], [count]
            words = f"the day that is {far} {ANCHORS[at]}"
        change = f"{'the flight' if level == 0 else LEGS[moving[0]]} to {words}"
        if level == 2:
            count, far = distance(rng, rng.choice(("days", "weeks")), True)
            due, naive = [due[0], due[0] + count], [naive[0], naive[0] + count]
            change += f", and {LEGS[1]} to the day that is {far} the new day of departure"
        trip = {**dict(enumerate(booked)), **dict(zip(moving, due))}
        fits = all(0 < n <= latest for n in due) and (level == 0 or trip[0] < trip[1])
        fits = fits and all(trip[i] != booked[i] for i in moving)
        if fits and (family == "today" or not {*naive} & {*due, *booked}):
            return Days(booked, moving, due, naive, change)


def timetable(
    rng: Random, numbers: Sequence[str], origin: str, destination: str, span: Sequence[int]
) -> list[dict[str, Any]]:
    """Flights of one route, of which exactly one can be booked on each day of the span.

    No fare of a route comes twice, in any of the cabins that are flown here, so that a figure tells the day.
    """
    plans = [records.flight(rng, number, origin, destination, rng.randrange(6, 19)) for number in numbers]
    economy = rng.sample(records.FARES[8:43], k=len(span))
    business = rng.sample(records.FARES[43:78], k=len(span))
    for n, low, high in zip(span, economy, business):
        rng.choice(plans)["dates"][records.day(n)] = {
            "status": "available",
            "available_seats": {cabin: rng.randrange(4, 10) for cabin in records.CABINS},
            "prices": {"basic_economy": rng.choice(records.FARES[:8]), "economy": low, "business": high},
        }
    return plans


def named_days(said: Iterable[str]) -> set[str]:
    """The dates that stand in the texts, as the records write them."""
    text = " ".join(" ; ".join(said).lower().split())
    found = [(int(m), int(d)) for m, d in re.findall(r"\b2024[-/](\d{1,2})[-/](\d{1,2})\b", text)]
    found += [(MONTHS[m], int(d)) for m, d in re.findall(r"\b(may|june) (\d{1,2})(?:st|nd|rd|th)?\b", text)]
    found += [(MONTHS[m], int(d)) for d, m in re.findall(r"\b(\d{1,2})(?:st|nd|rd|th)? (?:of )?(may|june)\b", text)]
    return {f"2024-{m:02d}-{d:02d}" for m, d in found}


@dataclass(kw_only=True)
class Tau2RelativeDateReasoning(AirlineDesk):
    """Move a flight to the day that the customer only describes."""

    id = "tau2_relative_date_reasoning"
    capability = "relative_date_reasoning"
    levels = range(3)
    alike: ClassVar[tuple[int, ...]] = (0, 2)  # one flight, or both, are moved by the same sequence of tools
    trip_code: str = ""
    pays_with: str = ""
    moving: list[int] = field(default_factory=list)
    booked_on: list[str] = field(default_factory=list)
    due_on: list[str] = field(default_factory=list)
    naive_on: list[str] = field(default_factory=list)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        while True:
            world = cls.drawn(rng, level)
            if world.tells_apart():
                return world

    def reply(self, text: str) -> str | None:
        if self.changed():
            return None
        if named := sorted(named_days([text])):
            return AGREED.format(days=", ".join(named[:WINDOW]))
        self.nudged += 1
        return NO_CALENDAR if self.nudged < 3 else None

    @classmethod
    def drawn(cls, rng: Random, level: int) -> Self:
        days = draw_days(rng, level)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), rng.choice(METHODS))
        methods = list(owner["payment_methods"])
        pays_with = rng.choice(methods)
        codes = rng.sample(records.CODES, k=rng.randrange(2, 5))
        trip_code = rng.choice(codes)
        airports = rng.sample(list(records.AIRPORTS), k=2 * len(codes))
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=6 * len(codes))
        flights: dict[str, Any] = {}
        reservations: dict[str, Any] = {}
        for n, code in enumerate(codes):
            named = code == trip_code
            leaves = rng.randrange(2, 21)
            others = [leaves, leaves + rng.randrange(2, 11)][: rng.randrange(1, 3)]
            ends = airports[2 * n : 2 * n + 2]
            legs = []
            for i, at in enumerate(days.booked if named else others):
                first = 6 * n + 3 * i
                count = rng.randrange(2, 4) if named else 1
                span = range(WINDOW) if named else range(at, at + 1)
                plans = timetable(rng, numbers[first : first + count], ends[i], ends[1 - i], span)
                flights.update({p["flight_number"]: p for p in plans})
                on = records.day(at)
                legs.append((next(p for p in plans if on in p["dates"]), on))
            reservations[code] = records.reservation(
                rng,
                code,
                owner,
                legs,
                cabin=rng.choice(("economy", "business")),
                created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
                insured=rng.random() < 0.4,
                travellers=rng.randrange(1, 4),
                paid_with=rng.choice(methods),
            )
            reservations[code]["total_baggages"] = rng.randrange(2)
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            flights=flights,
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", code=trip_code, change=days.change, method=pays_with),
            trip_code=trip_code,
            pays_with=pays_with,
            moving=days.moving,
            booked_on=[records.day(n) for n in days.booked],
            due_on=[records.day(n) for n in days.due],
            naive_on=[date_of(n) for n in days.naive],
        )

    def tells_apart(self) -> bool:
        """Whether the difference is one that cannot be mistaken, nor found by counting from today."""
        new = self.moves(self.due_on)
        if abs(self.difference(new)) < LEAST:
            return False
        if self.naive_on == self.due_on or not self.can_fly(self.naive_on):
            return True
        return abs(self.difference(self.moves(self.naive_on))) in self.rival_amounts(new)

    def can_fly(self, days: list[str]) -> bool:
        """Whether all these days are still to come."""
        return all(on > records.TODAY for on in days)

    def moves(self, days: list[str]) -> dict[int, str]:
        """Place of a flight in the trip -> its new day."""
        return dict(zip(self.moving, days))

    def flight_on(self, leg: int, on: str) -> dict[str, Any]:
        """The one flight that can be booked on a day on the route of a flight of the trip."""
        route = self.reservations[self.trip_code]["flights"][leg]
        ends = (route["origin"], route["destination"])
        return next(f for f in self.flights.values() if (f["origin"], f["destination"]) == ends and on in f["dates"])

    def per_head(self, new: dict[int, str]) -> list[int]:
        """What each move adds to the price of one passenger."""
        booking = self.reservations[self.trip_code]
        return [
            self.flight_on(leg, on)["dates"][on]["prices"][booking["cabin"]] - booking["flights"][leg]["price"]
            for leg, on in new.items()
        ]

    def difference(self, new: dict[int, str]) -> int:
        return sum(self.per_head(new)) * len(self.reservations[self.trip_code]["passengers"])

    def rebooking(self, new: dict[int, str]) -> dict[str, Any]:
        """The arguments of the change."""
        booking = self.reservations[self.trip_code]
        legs = {i: (f["flight_number"], f["date"]) for i, f in enumerate(booking["flights"])}
        for leg, on in new.items():
            legs[leg] = (self.flight_on(leg, on)["flight_number"], on)
        return {
            "reservation_id": self.trip_code,
            "cabin": booking["cabin"],
            "flights": [{"flight_number": number, "date": on} for number, on in legs.values()],
            "payment_id": self.pays_with,
        }

    def changed(self) -> bool:
        """Whether all flights that were to be moved have left their booked days, for whatever other day."""
        flights = self.reservations[self.trip_code]["flights"]
        return all(i >= len(flights) or flights[i]["date"] != self.booked_on[i] for i in self.moving)

    def outcomes(self, new: dict[int, str]) -> list[Self]:
        """The start, the wanted state, and those on the way to it when two flights are moved one by one."""
        ways: list[list[dict[int, str]]] = [[], [new]]
        if len(new) > 1:
            for leg, on in new.items():
                ways += [[{leg: on}], [{leg: on}, new]]
        states = []
        for way in ways:
            state = self.copy()
            for step in way:
                state.update_reservation_flights(**self.rebooking(step))
            states.append(state)
        return states

    def rival_amounts(self, new: dict[int, str]) -> list[int]:
        """Differences that other days would have made, less those that an honest account may hold."""
        people = len(self.reservations[self.trip_code]["passengers"])
        each = self.per_head(new)
        honest = {abs(n) * k for n in [*each, sum(each)] for k in (1, people)}
        others = {abs(self.difference({leg: records.day(n)})) for leg in new for n in range(1, WINDOW)}
        if self.can_fly(self.naive_on):
            others.add(abs(self.difference(self.moves(self.naive_on))))
        return sorted(n for n in others - honest if n >= LEAST)

    def steps_for(self, days: list[str]) -> list[Call | Say]:
        """The plan of an expert who has counted to these days; on a day in the past, no flight is found."""
        named = " and ".join(days)
        steps: list[Call | Say] = [
            Call("get_user_details", {"user_id": self.customer}),
            Call("get_reservation_details", {"reservation_id": self.trip_code}),
        ]
        if not self.can_fly(days):
            return [*steps, Say(f"I am sorry, you describe {named}, and I found no flight then.")]
        # A date that was worked out stands in no record: the customer hears it before it is searched.
        steps.append(Say(f"By my count you describe {named}. I will look for a flight, and ask before the change."))
        new = self.moves(days)
        offers = []
        for leg, on in new.items():
            flight = self.flight_on(leg, on)
            route = {"origin": flight["origin"], "destination": flight["destination"]}
            steps.append(Call("search_direct_flight", {**route, "date": on}))
            offers.append(f"{flight['flight_number']} from {route['origin']} to {route['destination']} on {on}")
        owed = self.difference(new)
        settled = "charged to" if owed > 0 else "given back to"
        return [
            *steps,
            Say(f"I am about to change {self.trip_code} to {' and '.join(offers)}. Shall I go ahead?"),
            Call("update_reservation_flights", self.rebooking(new)),
            Say(f"The trip has been changed. The difference of {abs(owed)} dollars was {settled} {self.pays_with}."),
        ]

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        new = start.moves(start.due_on)
        outcomes = start.outcomes(new)
        was, now = start.reservations[start.trip_code], self.reservations[start.trip_code]
        want = outcomes[1].reservations[start.trip_code]
        whole = len(now["flights"]) == len(was["flights"])

        named = named_days(said)
        rivals = {*start.naive_on, *(records.day(n) for n in range(1, WINDOW))}
        rivals -= {*start.due_on, *start.booked_on, records.TODAY}  # anchors may be named when counting
        told = {*start.due_on} <= named and not named & rivals
        # Counted only with a deed: a day that is counted from today can be told without a look at the records.
        yield Check.goal(f"the customer was told the new date: {', '.join(start.due_on)}", told and self.changed())

        moved = {
            leg: whole and now["cabin"] == was["cabin"] and now["flights"][leg] == want["flights"][leg] for leg in new
        }
        for leg, on in new.items():
            yield Check.goal(f"flight {leg + 1} of {start.trip_code} is booked on {on} in the same cabin", moved[leg])

        done = all(moved.values())
        owed = start.difference(new)
        added = now["payment_history"][len(was["payment_history"]) :]
        paid = all(p["payment_id"] == start.pays_with for p in added) and sum(p["amount"] for p in added) == owed
        yield Check.goal(f"the difference for {start.trip_code} is on {start.pays_with}", done and paid)
        figures = [re.sub(r"\.0{1,2}\b", "", text) for text in said]
        heard = done and asserted(abs(owed), start.rival_amounts(new), figures)
        yield Check.goal(f"{start.trip_code} is moved and the customer was told the difference of {abs(owed)}", heard)

        kept = [i for i in range(len(was["flights"])) if i not in new]
        stays = whole and all(now["flights"][i] == was["flights"][i] for i in kept)
        yield Check.guard("a flight that was not to be moved stays as it was booked", stays)
        same = all(
            self.reservations[code].get(name) == value
            for code, record in start.reservations.items()
            for name, value in record.items()
            if code != start.trip_code or name not in ("flights", "payment_history")
        )
        yield Check.guard("cabin, passengers and bags stay, and so does every other reservation", same)
        methods = all(
            self.users[name]["payment_methods"].keys() == user["payment_methods"].keys()
            for name, user in start.users.items()
        )
        nothing = self.reservations.keys() == start.reservations.keys() and methods and not self.transferred
        yield Check.guard("nothing was booked, no certificate was sent and nobody was handed over", nothing)
        asked = any(self.reservations == s.reservations and self.users == s.users for s in outcomes)
        yield Check.guard("nothing was changed or paid beyond the move that was asked for", asked)

    def oracle(self) -> Iterator[Call | Say]:
        yield from self.steps_for(self.due_on)

    def ablated(self) -> Iterator[Call | Say]:
        yield from self.steps_for(self.naive_on)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.naive_on != self.due_on else ())
