"""Move a trip to the cheapest flight that has enough seats for everyone.

A customer asks for the cheapest nonstop flight on another day and does not say how many people
travel. The number of passengers is in the reservation, and the search result lists the seats left
in each cabin. An agent without the capability takes the flight with the lowest price. If that
flight has too few seats, the agent has promised a flight that cannot be booked. An agent that skips
all flights with few seats fails too, because a flight with exactly enough seats is often the right
one. In the target, every booking and every change of flights or cabin requires the same comparison
of passengers, cabin and seats before the agent makes an offer.

The party has one to five travelers on every level, and a flight that is too small often lacks
exactly one seat, so no fixed number of seats separates the flights.

Levels:
    0. One way, same cabin, one day, three or four flights.
    1. Adds a second day, which the customer accepts only if the first one has no flight with enough seats, and more
       flights per day.
    2. Adds the cabin: the customer may ask for a change between economy and business together with the day, and
       flights are full in one cabin and have seats in the other.
    3. Adds the way back: both flights of a round trip move, each with separate days, prices and seats.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.statements import find_values, mentions
from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

# Family -> how many of the cheapest flights of the preferred day have too few seats; 9 stands for all.
FIRST = {"cheapest_free": (0,), "cheapest_short": (1, 2, 3), "other_day": (9,)}
PARTIES = range(1, 6)
BOTH = ("economy", "business")
CHANGED = ("cabin", "flights", "payment_history")  # the fields of a reservation that a change of flights may touch
OPENINGS = (
    "I'm {user}. Please move everyone on reservation {code} to the cheapest nonstop flight in {cabin}, {days}."
    " Put the difference on {card}. Before you book it, tell me when it leaves.",
    "Hello, my customer id is {user} and my reservation is {code}. We want to fly {days}. Please find the cheapest"
    " nonstop flight in {cabin} for all of us, tell me when it leaves, and then book it with {card}.",
    "I need to change {code}. Everyone on it should be on the cheapest nonstop flight in {cabin}, {days}. Let me know"
    " its departure time before you book it. Please use {card}. My customer id is {user}.",
)
ONE_DAY = ("on {first}",)
DAYS = (  # some of them name the second choice first, so that the place does not show the right day
    "on {first}, or on {second} if there is no room for us that day",
    "on {first} if there is room for us, otherwise on {second}",
    "on {second} only if there is no room for us on {first}, which suits us better",
    "either on {second} or, which we would much prefer, on {first}",
)
DEARER = re.compile(r"\b(?:more expensive|pricier|dearer|costs? (?:\S+ )?more|higher|next cheapest|otherwise|later)\b")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n+")
FULL = (  # words for a flight that has too few seats
    re.compile(r"\bfull\b|sold out|fully booked|not enough|n't (?:have |be )?(?:enough|fit)"),
    re.compile(
        r"\b(?:only|just|no|zero|too few|fewer|insufficient|lacks?|lacking|without)\b.{0,40}"
        r"\b(?:seats?|room|space|left)\b"
    ),
    re.compile(
        r"(?:can(?:not|'t)|could(?: not|n't)|(?:un|not )able to|won't|do(?:es)?(?: not|n't)) (?:all )?"
        r"(?:seat|fit|take|hold|carry|accommodate|have (?:enough|room|space|\w+ seats))"
    ),
)
CHOICE = (
    re.compile(
        r"\b(?:i(?:'ll|'d| will| would| can| am going to|'m going to| have (?:chosen|picked))|let me|shall i|may i)\b"
    ),
    re.compile(
        r"\b(?:like me to|want me to|going to|recommend\w*|suggest\w*|propos\w+|therefore|cheapest|best|new flight|"
        r"to confirm|so (?:the|your))\b"
    ),
)
"""Words that say which flight is taken."""


def finds(patterns: Sequence[re.Pattern[str]], text: str) -> bool:
    """Return whether one of the patterns occurs in a text."""
    return any(pattern.search(text.lower()) for pattern in patterns)


def names(text: str, flight: dict[str, Any]) -> bool:
    """Return whether a message names a flight by its number or its time."""
    return asserted(flight["scheduled_departure_time_est"][:5], [], [text]) or asserted(
        flight["flight_number"], [], [text]
    )


def offers(text: str, flight: dict[str, Any], seats: int, party: int, right: list[dict[str, Any]]) -> bool:
    """Return whether a message names a flight without the reason against it: too few seats, or a higher price.

    A list of the flights that were found offers none of them if another sentence says which one is taken.
    """
    parts = SENTENCE.split(text)
    chosen = any(finds(CHOICE, part) and any(names(part, f) for f in right) for part in parts)
    for part, behind in zip(parts, [*parts[1:], ""]):
        if names(part, flight) and (finds(CHOICE, part) or not chosen):
            few = any(v.unit == "count" and "seat" in part and v.value == seats for v in find_values(part.lower()))
            full = (few and chosen) or finds(FULL, f"{part} {behind}")
            if not (full if seats < party else DEARER.search(part.lower())):
                return True
    return False


def lists(text: str, flights: Sequence[dict[str, Any]]) -> bool:
    """Return whether a message lists several flights of one route and does not say which one is taken."""
    named = [f for f in flights if mentions(f["flight_number"], [text]) or names(text, f)]
    routes = [(f["origin"], f["destination"]) for f in named]
    parts = [part for part in SENTENCE.split(text) if finds(CHOICE, part)]
    return len(routes) > len(set(routes)) and not any(names(part, f) for part in parts for f in named)


@dataclass(kw_only=True)
class Tau2SeatAvailability(AirlineDesk):
    """Move a trip to the cheapest flight that has seats for everyone."""

    questions = {
        **AirlineDesk.questions,
        "date": re.compile(r"\b(?:dates?|days?|when)\b"),
        "party": re.compile(
            r"\b(?:how many|number of (?:people|passengers|travell?ers)|who (?:is|will be|are) (?:trav|fly))"
        ),
        "cabin": re.compile(r"\b(?:cabin|class|economy or business|business or economy)\b"),
    }
    id = "tau2_seat_availability"
    capability = "seat_availability"
    levels = range(4)
    code: str = ""
    cabin: str = ""
    card: str = ""
    days: list[list[str]] = field(default_factory=list)
    wish: str = ""
    waits: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        card, code = next(iter(owner["payment_methods"])), rng.choice(records.CODES)
        booked = rng.choice(BOTH)
        cabin = rng.choice(BOTH) if level > 1 else booked
        family, second = rng.choices(list(FIRST), weights=(35, 40, 25 if level else 0), k=2)
        # Larger parties are more frequent where seats decide: a fixed number of seats then solves few scenarios.
        party = rng.choices(PARTIES, weights=(1, 1, 1, 1, 1) if family == "cheapest_free" else (14, 17, 20, 23, 26))[0]
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
            way = ("there ", "back ")[back] if level > 2 else ""
            wishes.append(way + rng.choice(DAYS if level else ONE_DAY).format(first=dates[0], second=dates[1]))
            dates = dates[: 2 if level else 1]
            days.append(dates)
            pool = rng.sample(records.FARES[12:40] if cabin == "economy" else records.FARES[44:78], k=12)
            firsts = (rng.choice(FIRST[kind]), rng.choice((0, 0, 1, 2)))
            for later, first in enumerate(firsts[: len(dates)]):
                most = rng.randint(5 - later, 6) if level else rng.randint(3, 4)
                fares = sorted(pool[6 * later :][:most])
                first = min(first, most - 1) if first < 9 else first
                near = rng.randrange(max(1, min(first, most)))  # this one lacks exactly one seat
                for place, fare in enumerate(fares):
                    short = party - 1 if place == near else rng.randrange(party)
                    plenty = rng.randint(party + 1, 9)
                    # The dearest has room to spare, so that most seats seldom mark the right one.
                    spare = (plenty,) if fare == fares[-1] else (short, party, plenty)
                    seats = short if place < first else rng.choice((party, party, plenty) if place == first else spare)
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
        wish = " and ".join(wishes)
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
        if not self.changed():
            self.nudged += 1  # counts the messages before the change, for `verify`
        return super().reply(text)

    def changed(self) -> bool:
        return len(self.reservations[self.code]["payment_history"]) > 1

    def tells(self, topic: str) -> str:
        match topic:
            case "reservation":
                return f"It is {self.code}."
            case "payment":
                return f"Please put the difference on {self.card}."
            case "date":
                return f"We want to fly {self.wish}."
            case "party":
                return f"Everyone on reservation {self.code}."
            case "cabin":
                return f"In {self.cabin}, please."
        return super().tells(topic)

    def restated(self) -> str:
        return f"The cheapest nonstop flight in {self.cabin} for all of us, {self.wish}."

    def objects(self, text: str) -> str:
        """Insist once; the agent may have told only that one of the flights is full."""
        if self.changed() or self.pushed:
            return ""
        self.pushed = 1
        return "Then please take the cheapest one that works for all of us."

    def picks(self, careful: bool) -> list[dict[str, Any]]:
        """The new flight of each way; without care the seats are not compared with the number of travellers."""
        booking, taken = self.reservations[self.code], []
        party = len(booking["passengers"]) if careful else 0
        for leg, dates in zip(booking["flights"], self.days, strict=True):
            found = [(on, f) for on in dates for f in self.search_direct_flight(leg["origin"], leg["destination"], on)]
            fits = [{**f, "date": on} for on, f in found if f["available_seats"][self.cabin] >= party]
            taken.append(min(fits, key=lambda f: (f["date"] != dates[0], f["prices"][self.cabin])))
        return taken

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Wait while nothing has changed; a description of the booked flights is not a report."""
        self.waits += not refusal and not self.changed()
        return not refusal and not self.changed() and self.waits < 3

    def bookable(self, new: list[dict[str, Any]]) -> bool:
        party = len(self.reservations[self.code]["passengers"])
        return all(f["available_seats"][self.cabin] >= party for f in new)

    def expert(self, careful: bool) -> Iterator[Call | Say]:
        new, code, cabin, card = self.picks(careful), self.code, self.cabin, self.card
        yield Call("get_reservation_details", {"reservation_id": code})
        for leg, dates in zip(self.reservations[code]["flights"], self.days, strict=True):
            for on in dates:
                route = {"origin": leg["origin"], "destination": leg["destination"], "date": on}
                yield Call("search_direct_flight", route)
        named = [
            f"{f['flight_number']} on {f['date']}, which leaves at {f['scheduled_departure_time_est'][:5]}" for f in new
        ]
        offer = f"{' and '.join(named)}, in {cabin}. The difference goes to {card}"
        yield Say(f"To confirm, I would move {code} to {offer}. Shall I proceed?")
        flights = [{"flight_number": f["flight_number"], "date": f["date"]} for f in new]
        arguments = {"reservation_id": code, "cabin": cabin, "flights": flights, "payment_id": card}
        yield Call("update_reservation_flights", arguments)
        yield Say(
            f"All done: {code} is changed." if self.bookable(new) else f"I am sorry, I cannot change {code} to that."
        )

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, then, gold = self.reservations[start.code], start.reservations[start.code], start.picks(True)
        code, cabin, card, party = start.code, start.cabin, start.card, len(then["passengers"])
        legs, want = ([(f["flight_number"], f["date"]) for f in way] for way in (now["flights"], gold))
        moved = [on for _, on in legs] == [on for _, on in want]
        room = moved and all(start.flights[n]["dates"][on]["available_seats"][cabin] >= party for n, on in legs)
        fits = room and now["cabin"] == cabin
        best = fits and legs == want
        told = all(start.told(f, said[: self.nudged], gold) for f in gold)
        yield Check.goal(f"{code} flies on {' and '.join(on for _, on in want)}", moved)
        yield Check.goal(f"the new flights of {code} had seats in {cabin} for all its travellers", fits)
        yield Check.goal(f"the new flights of {code} are the cheapest of their days that had enough seats", best)
        yield Check.goal(
            "before the change the customer was told when these flights leave, and was offered no others", best and told
        )
        paid, had = ([p["payment_id"] for p in booking["payment_history"]] for booking in (now, then))
        yield Check.guard(f"the difference for {code} is on {card}", paid == had + [card] * (len(paid) - len(had)))
        kept = all(now.get(k) == v for k, v in then.items() if k not in CHANGED)
        kept = kept and now["cabin"] in (then["cabin"], cabin)
        yield Check.guard(f"nothing of {code} but what was asked for was changed", kept)
        yield from self.untouched(start, code)

    def told(self, flight: dict[str, Any], said: list[str], right: list[dict[str, Any]]) -> bool:
        """Return whether messages tell when a flight leaves and offer no other flight.

        The customer may be told that another flight is full, or that one with enough seats costs more. A list of
        flights offers none of them if a later message names the right ones.
        """
        if not asserted(flight["scheduled_departure_time_est"][:5], [], said, "departure"):
            return False
        party = len(self.reservations[self.code]["passengers"])
        taken = {f["flight_number"] for f in right}
        texts = [text.replace("\u2019", "'") for text in said]
        last = max((n for n, text in enumerate(texts) if all(names(text, f) for f in right)), default=0)
        for days in self.days:
            for on, number in ((on, n) for on in days for n, f in self.flights.items() if on in f["dates"]):
                other = self.flights[number]
                time = other["scheduled_departure_time_est"][:5]
                if number in taken or not (mentions(time, texts) or mentions(number, texts)):
                    continue
                seats = other["dates"][on]["available_seats"][self.cabin]
                found = (n for n, text in enumerate(texts) if offers(text, other, seats, party, right))
                if any(n >= last or not lists(texts[n], [*self.flights.values()]) for n in found):
                    return False
        return True

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(True)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(False)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.picks(True) != self.picks(False) else ())
