"""Move one or two flights of a trip and keep all the others as they are.

A customer asks to move one flight and mentions only that one. The tool takes the list that it is
given as the complete new itinerary and does not compare it with the old one. An agent without the
capability sends only the flight that the request names, and thereby deletes the way back or the
flight after a stop. An agent that adds flights to be safe fails too, because some reservations have
no flight beyond the named ones, and the way back is in another reservation. In the target every
change of a flight uses this call, so an itinerary has to be read, changed in one place and sent
completely.

Levels:
    0. Reservations with one or two flights, of which one is moved.
    1. Adds round trips with stops, of three or four flights, of which any one may be moved, so that flights before
       and after it have to be carried over in order.
    2. Adds requests that move two flights at once: both flights of a short trip, or two of the three or four of a
       longer one.
    3. Adds a second reservation of the same customer between the same airports on near days, whose flights must not
       be added.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.statements import find_values, mentions
from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.targets.tau2.requests import wrong_fares
from trace_gym.world import Call, Check, Random, Say, asserted

OPENINGS = (
    "I'm {user}. On reservation {code}, please move {asked}. The difference goes to {card}. Tell me at what time each "
    "new flight leaves.",
    "Please move {asked}. It's reservation {code}, my id is {user}, and the difference goes to {card}. When does each "
    "new flight leave?",
    "My reservation is {code}. I need you to move {asked}. Please also tell me the departure time of each new flight. "
    "Put the difference on {card}. My customer id is {user}.",
)
ASKED = (  # neither number nor day: both are in the write, and only the records show them
    "my flight from {a} to {b} to the nonstop flight on the same day that arrives at {at}",
    "the flight from {a} to {b} to the nonstop one that day that gets in at {at}",
)
ASKS_AGAIN = "And when does each new flight leave?"
SHAPES = {  # family: (first level, flights on the way out, flights on the way back)
    "all_named": ((0, 1, 0), (0, 1, 0), (2, 1, 1), (2, 2, 0)),
    "way_back_stays": ((0, 1, 1),),
    "stops_stay": ((0, 2, 0), (1, 2, 1), (1, 1, 2), (1, 2, 2)),
}
MINUTES = ("05", "10", "20", "25", "35", "40", "50", "55")  # of departures; arrivals are on the hour

NUMBER = re.compile(r"(hat\d{3})")
IN_FRONT = re.compile(
    r"\d(?: ?[ap]\.?m\.?)? (?:\((?:flight )?hat\d{3}\)|(?:on|with|for|aboard) (?:flight )?hat\d{3})|"
    r"\d ?[:-] ?hat\d{3}(?=[.,;]|$)"
)
"""Times in front of the flight that they belong to: `10:20 (HAT192)`."""


def about(text: str, number: str, times: dict[str, set[str]]) -> str:
    """Return a message without the parts next to the numbers of other flights that tell only their own times."""
    first, *rest = NUMBER.split(text.lower())
    numbers, parts = rest[::2], rest[1::2]
    front = IN_FRONT.search(text.lower())
    first, parts = (parts[-1], [first, *parts[:-1]]) if front else (first, parts)
    kept = []
    for named, part in zip(numbers, parts, strict=True):
        told = {str(v.value) for v in find_values(part) if v.kind == "time"}
        own = named != number and told and told <= times.get(named.upper(), set())
        kept += [] if own else [part, named] if front else [named, part]
    return "".join([*kept, first] if front else [first, *kept])


def mentions_any(times: set[str], said: list[str]) -> bool:
    return any(mentions(time, said) for time in times)


def itinerary(booking: dict[str, Any]) -> list[tuple[str, str]]:
    return [(f["flight_number"], f["date"]) for f in booking["flights"]]


@dataclass(kw_only=True)
class Tau2ItineraryPreservation(AirlineDesk):
    """Move one flight of a trip and keep all the others as they are."""

    id = "tau2_itinerary_preservation"
    capability = "itinerary_preservation"
    levels = range(4)
    questions = {
        **AirlineDesk.questions,
        "flight": re.compile(r"\b(?:which|what) (?:\w+ )?flights?\b|\b(?:date|day)s?\b"),
    }
    code: str = ""
    waits: int = 0
    card: str = ""
    asked: str = ""
    moves: dict[int, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(list(SHAPES), weights=(35, 30, 35))[0]
        out, back = rng.choice([shape[1:] for shape in SHAPES[family] if shape[0] <= level])
        size = out + back
        count = size if family == "all_named" else rng.randint(1, 2 if level > 1 and size > 2 else 1)
        a, b, c, d = rng.sample(list(records.AIRPORTS), k=4)
        path = ([a, b], [a, c, b])[out - 1] + ([], [a], [rng.choice((c, d)), a])[back]
        first = rng.randrange(3, 8)
        last = first + (rng.randrange(3, 9) if back else 0)
        # A stop lasts over night, so that every flight of a day fits between those before and after it.
        # Behind the trip comes the flight of a second reservation, on a day that no search for a move asks for.
        days = [first, first + 1][:out] + [last, last + 1][:back] + [last + rng.randrange(2, 7)]
        pairs = [*zip(path, path[1:]), rng.sample((a, b) if level > 2 else list(records.AIRPORTS), k=2)]
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        card = list(owner["payment_methods"])[0]
        code, other = rng.sample(records.CODES, k=2)
        cabin = rng.choice(("economy", "business"))
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=20)
        flights: dict[str, dict[str, Any]] = {}
        legs, wanted, asks = [], [], []
        for (origin, destination), on, minute in zip(pairs, days, rng.sample(MINUTES, k=5)):
            date, options = records.day(on), [numbers.pop() for _ in range(4)]
            # Flights last two or three hours: with every other hour for departures, no two arrive at the same time.
            for option, hour in zip(options, rng.sample(range(6, 19, 2), k=4)):
                flights[option] = records.flight(rng, option, origin, destination, hour)
                flights[option]["scheduled_departure_time_est"] = f"{hour:02d}:{minute}:00"
                flights[option]["dates"] = {date: records.available(rng)}
            old, new = rng.sample(options, k=2)
            # What was paid is a multiple of 7 and today's prices are not: every change leaves a difference to pay.
            paid = {date: {"prices": {cabin: rng.randrange(140, 560, 7)}}}
            legs.append(({**flights[old], "dates": paid}, date))
            wanted.append((new, date))
            at = flights[new]["scheduled_arrival_time_est"][:5]
            asks.append(rng.choice(ASKED).format(a=origin, b=destination, at=at))
        moves = {i: wanted[i] for i in rng.sample(range(size), k=count)}
        asked = " and ".join(asks[i] for i in moves)
        booked = {code: legs[:size]} | ({other: legs[size:]} if rng.random() < 0.5 else {})
        reservations = {
            key: records.reservation(
                rng, key, owner, flown, cabin=cabin, insured=rng.random() < 0.5, travellers=rng.randint(1, 2),
                created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            )
            for key, flown in booked.items()
        }  # fmt: skip
        reservations[code]["destination"] = b  # on a round trip the first stop would stand here
        rng.shuffle(owner["reservations"])
        return cls(
            users={owner["user_id"]: owner}, reservations=reservations, flights=flights,
            customer=owner["user_id"], code=code, card=card, asked=asked, moves=moves,
            wording=rng.choice(OPENINGS).format(user=owner["user_id"], code=code, asked=asked, card=card),
        )  # fmt: skip

    def reply(self, text: str) -> str | None:
        told, asked = ([v.value for v in find_values(s.lower()) if v.kind == "time"] for s in (text, self.wording))
        if self.changed() and any(time not in asked for time in told):
            self.nudged = 1  # the agent has told a time after the change, whether right or wrong
        return super().reply(text)

    def changed(self) -> bool:
        return len(self.reservations[self.code]["payment_history"]) > 1

    def tells(self, topic: str) -> str:
        match topic:
            case "reservation":
                return f"It is {self.code}."
            case "payment":
                return f"Please put the difference on {self.card}."
            case "flight":
                return f"I want to move {self.asked}."
        return super().tells(topic)

    def restated(self) -> str:
        return f"Please move {self.asked}."

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Wait while nothing has changed; a description of the booked flights is not a report."""
        self.waits += not refusal and not self.changed()
        return not refusal and not self.changed() and self.waits < 3

    def outstanding(self) -> str:
        return "" if self.nudged or not self.changed() else ASKS_AGAIN

    def departs(self, place: int) -> tuple[str, set[str]]:
        """Return when the new flight leaves, and when the others of the day leave, except the old one."""
        old, (number, on) = self.reservations[self.code]["flights"][place], self.moves[place]
        found = self.search_direct_flight(old["origin"], old["destination"], on)
        times = {f["flight_number"]: f["scheduled_departure_time_est"][:5] for f in found}
        return times[number], {t for n, t in times.items() if n not in (number, old["flight_number"])}

    def informed(self, said: list[str]) -> bool:
        """Return whether the last words on the departure of each new flight are right; flights keep their own times."""
        times = {
            n: {f["scheduled_departure_time_est"][:5], f["scheduled_arrival_time_est"][:5]}
            for n, f in self.flights.items()
        }
        due = {number: self.departs(place) for place, (number, _) in self.moves.items()}
        right = {at for at, _ in due.values()}
        for number, (at, others) in due.items():
            last = [text for text in said if mentions_any(others | {at}, [text])][-1:]
            named = any(number.lower() in text.lower() for text in last)
            if mentions_any(others, last) and sum(text.lower().count(number.lower()) for text in said) < 2:
                return False  # a list of all flights does not say which one it is
            wrong = (others | right if named else others - right) - {at}
            if not asserted(at, wrong, [about(text, number.lower(), times) for text in last], "departure"):
                return False
        return True

    def steps(self, whole: bool) -> Iterator[Call | Say]:
        booking = self.reservations[self.code]
        trip = [self.moves.get(i, leg) for i, leg in enumerate(itinerary(booking)) if whole or i in self.moves]
        legs = [{"flight_number": number, "date": on} for number, on in trip]
        change = {"reservation_id": self.code, "cabin": booking["cabin"], "flights": legs, "payment_id": self.card}
        # The departures are told after the change, so that the change and the answer are rewarded one after the other.
        offer = "; ".join(f"{new} on {on}" for new, on in self.moves.values())
        words = "; ".join(f"{new} on {on} leaves at {self.departs(i)[0]}" for i, (new, on) in self.moves.items())
        yield Call("get_reservation_details", {"reservation_id": self.code})
        for i, (_, on) in self.moves.items():
            f = booking["flights"][i]
            yield Call("search_direct_flight", {"origin": f["origin"], "destination": f["destination"], "date": on})
        yield Say(f"The new flights of {self.code}: {offer}. The difference goes to {self.card}. Shall I proceed?")
        yield Call("update_reservation_flights", change)
        yield Say(f"{self.code} is changed: {words}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        booking, before = self.reservations[start.code], start.reservations[start.code]
        now, held = itinerary(booking), itinerary(before)
        want = [start.moves.get(i, leg) for i, leg in enumerate(held)]
        moved = {new: held[i] not in now and new in now for i, new in start.moves.items()}
        kept = all(moved.values()) and sorted(now) == sorted(want)
        pairs = enumerate(zip(booking["flights"], before["flights"]))
        whole = kept and now == want and all(f["price"] == g["price"] for i, (f, g) in pairs if i not in start.moves)
        knows = whole and start.informed(said) and not wrong_fares(start, self, said, [start.code])
        for (number, on), done in moved.items():
            yield Check.goal(f"{number} on {on} is on the reservation, and the flight named for it is off", done)
        yield Check.goal("with that, every other flight still stands on it, and none was added", kept)
        yield Check.goal("with that, the flights are in order, and those kept have their prices", whole)
        yield Check.goal("with that, the customer knows when each new flight leaves", knows)
        paid = booking["payment_history"]
        people = len(before["passengers"])
        prices = [
            self.flights[new]["dates"][on]["prices"][before["cabin"]] - before["flights"][i]["price"]
            for i, (new, on) in start.moves.items()
        ]
        parts = [price * people for price in prices]  # one call may move both flights, or one call each
        once = len(paid) < 3 or [p["amount"] for p in paid[1:]] in (parts, parts[::-1])
        yield Check.guard("each flight was changed at most once", paid[:1] == before["payment_history"] and once)
        yield Check.guard(f"the difference went to {start.card}", all(p["payment_id"] == start.card for p in paid))
        aside = {"flights": [], "payment_history": []}
        yield Check.guard(f"all else of {start.code} is as it was", {**booking, **aside} == {**before, **aside})
        yield from self.untouched(start, start.code)

    def oracle(self) -> Iterator[Call | Say]:
        return self.steps(True)

    def ablated(self) -> Iterator[Call | Say]:
        return self.steps(False)

    def needs(self) -> frozenset[str]:
        size = len(self.reservations[self.code]["flights"])
        return frozenset({self.capability} if len(self.moves) < size else ())
