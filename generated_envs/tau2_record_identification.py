# Written by llm:claude for trace-gym from spec tau2_record_identification (sha256 ec742af8).
"""Cancel the one trip that the customer describes without its number.

The customer has several trips on the same route and describes the one meant by its date, its cabin
or the people on it, so an agent that stops at the first record with the right route cancels
somebody's other trip. The shortcut is tempting because that record looks right at a glance, every
trip may be cancelled, and the customer cannot check a number and agrees to whatever is proposed.
Only comparing every stated fact with every record tells the trips apart. In the target customers
rarely know their reservation ids and a write to the wrong reservation loses the whole task, so the
habit of reading all records and matching all facts carries over.

Levels:
    0. Three or four trips share the route, and the route together with one further fact (the day of departure, the
       cabin or the name of a fellow traveller) fits exactly one of them.
    1. Two further facts are given and both are needed, because one trip on the route shares the first of them and
       another trip on the route shares the second.
    2. The reverse route and trips that only change planes at the destination are added, and the travellers may be
       given by their number or as travelling alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk, Cancel
from trace_gym.world import Call, Check, Random, Say, asserted

AGREED = "If that is the trip that I described, go ahead."
MISSING = "I do not have its number at hand."
THANKS = "Thank you."
OPENINGS = (
    "I am {user}. My doctor forbids me to fly, so please cancel one of my trips. {trip} I do not have its number at "
    "hand: tell me the number, and afterwards the amount that comes back.",
    "Hello, my customer id is {user} and I am writing about one trip of mine. {trip} My doctor forbids this flight, so "
    "the trip is to be cancelled. What is its number, as I do not have it at hand? And afterwards, how much comes back?",
    "There is a trip that my doctor does not let me take. {trip} Please cancel it. The number is not at hand, so let me "
    "know it, and once that is done, the amount that I get back. My id is {user}.",
    "For the sake of my health my doctor has forbidden a flight of mine. {trip} Please tell me the number of that trip, "
    "which I do not have here, cancel it, and tell me then what amount comes back. I am customer {user}.",
)
METHODS = (
    ("credit_card", "gift_card"),
    ("gift_card", "credit_card"),
    ("credit_card", "credit_card"),
    ("credit_card", "gift_card", "credit_card"),
)
SIZES = (5, 6, 6, 7, 7, 8, 8)
COUNTS = ("nobody", "one", "two", "three", "four")
STATED = {  # per level: the further facts that an opening gives
    "by_date_or_cabin": ((("date",), ("cabin",)), (("date", "cabin"),), (("date", "cabin"),)),
    "by_travellers": ((("fellow",),), (("fellow", "cabin"),), (("fellow", "cabin"), ("number", "cabin"))),
}


def full_name(person: dict[str, Any]) -> str:
    return f"{person['first_name']} {person['last_name']}"


def paid(booking: dict[str, Any]) -> int:
    return sum(p["amount"] for p in booking["payment_history"])


def shows(booking: dict[str, Any], fact: str, value: Any) -> bool:
    """Whether a reservation, or the draft of one, fits a stated fact."""
    if fact == "date":
        return bool(booking["flights"][0]["date"] == value)
    if fact == "cabin":
        return bool(booking["cabin"] == value)
    if fact == "number":
        return len(booking["passengers"]) == value
    return value in [full_name(p) for p in booking["passengers"][1:]]


def stated_value(rng: Random, booking: dict[str, Any], fact: str) -> Any:
    """What the customer says of a trip."""
    if fact == "date":
        return booking["flights"][0]["date"]
    if fact == "cabin":
        return booking["cabin"]
    if fact == "number":
        return len(booking["passengers"])
    return full_name(rng.choice(booking["passengers"][1:]))


def clause(rng: Random, fact: str, value: Any) -> str:
    if fact == "date":
        return rng.choice((f"it leaves on {value}", f"its day of departure is {value}"))
    if fact == "cabin":
        cabin = str(value).replace("_", " ")
        return rng.choice((f"it is booked in {cabin}", f"its cabin is {cabin}"))
    if fact == "fellow":
        return rng.choice((f"{value} is on it with me", f"{value} was to come along"))
    if value == 1:
        return rng.choice(("I am alone on it", "nobody but me is on it"))
    return rng.choice(
        (f"there are {COUNTS[value]} of us on it, me included", f"it is for {COUNTS[value]} people in all")
    )


def describe(rng: Random, between: list[str], facts: dict[str, Any]) -> str:
    here, there = [f"{records.AIRPORTS[code]} ({code})" for code in between]
    clauses = [f"it goes from {here} to {there}"] + [clause(rng, fact, value) for fact, value in facts.items()]
    rng.shuffle(clauses)
    text = f"{', '.join(clauses[:-1])} and {clauses[-1]}."
    return text[0].upper() + text[1:]


def draft(rng: Random, pool: dict[str, Any]) -> dict[str, Any]:
    """A trip without its route; all trips of a customer draw from one pool, so that they share values."""
    leaves = rng.choice(pool["days"])
    fellows = rng.sample(pool["friends"], k=rng.randint(pool["least"], 3))
    return {
        "leaves": leaves,
        "flights": [{"date": records.day(leaves)}],
        "cabin": rng.choice(records.CABINS),
        "passengers": [pool["me"], *fellows],
    }


def sharing(rng: Random, pool: dict[str, Any], facts: dict[str, Any], share: Sequence[str]) -> dict[str, Any]:
    """A trip that fits those of the stated facts that are in `share` and misses all others."""
    while True:
        trip = draft(rng, pool)
        if all(shows(trip, fact, value) == (fact in share) for fact, value in facts.items()):
            return trip


def one_or_both_ways(rng: Random, here: str, there: str) -> list[str]:
    return [here, there, here] if rng.random() < 0.5 else [here, there]


def legs_of(rng: Random, trip: dict[str, Any], numbers: Sequence[str]) -> list[tuple[dict[str, Any], str]]:
    """The flights of a trip with their days: the way back is some days later, a change of planes the same day."""
    stops = trip["stops"]
    back = stops[0] == stops[-1]
    legs: list[tuple[dict[str, Any], str]] = []
    for i in range(len(stops) - 1):
        plan = records.flight(rng, numbers[i], stops[i], stops[i + 1], rng.randrange(6, 10) + 8 * i)
        later = rng.randrange(2, 7) if back and i else 0
        on = records.day(trip["leaves"] + later)
        plan["dates"][on] = records.available(rng)
        legs.append((plan, on))
    return legs


def book(
    rng: Random, code: str, owner: dict[str, Any], trip: dict[str, Any], numbers: Sequence[str], seen: str
) -> tuple[dict[str, Any], list[tuple[dict[str, Any], str]]]:
    """The reservation of a trip and its legs; its total stands nowhere in `seen`."""
    while True:
        legs = legs_of(rng, trip, numbers)
        booking = records.reservation(
            rng,
            code,
            owner,
            legs,
            cabin=trip["cabin"],
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=True,
            travellers=len(trip["passengers"]),
            paid_with=rng.choice(list(owner["payment_methods"])),
        )
        if str(paid(booking)) not in seen:
            booking["passengers"] = [{**person} for person in trip["passengers"]]
            return booking, legs
        owner["reservations"].pop()  # the next try enters the code again


@dataclass(kw_only=True)
class Tau2RecordIdentification(AirlineDesk):
    """Cancel the one trip that the customer describes without its number."""

    id = "tau2_record_identification"
    capability = "record_identification"
    levels = range(3)
    meant: str = ""
    described: str = ""
    between: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    repeated: int = 0
    thanked: bool = False

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        kind = rng.choices(list(STATED), weights=(45, 40))[0]
        single = rng.random() < 0.15  # the family one_on_route, which sounds like either of the others
        stated = rng.choice(STATED[kind][level])
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), rng.choice(METHODS))
        places = rng.sample(list(records.AIRPORTS), k=6)
        here, there, beyond = places[:3]
        firsts = [name for name in records.FIRST_NAMES if name != owner["name"]["first_name"]]
        pool: dict[str, Any] = {
            "me": {**owner["name"], "dob": owner["dob"]},
            "friends": [{**records.person(rng), "first_name": first} for first in rng.sample(firsts, k=5)],
            "days": rng.sample(range(2, 15), k=4),
            "least": 1 if "fellow" in stated else 0,
        }
        target = draft(rng, pool)
        facts = {fact: stated_value(rng, target, fact) for fact in stated}
        trips = [{**target, "stops": one_or_both_ways(rng, here, there)}]
        shares: list[tuple[str, ...]] = []
        if not single:
            shares = [stated[:1], stated[1:]] if level else [(), ()]
            if rng.random() < 0.5:
                shares.append(())
        for share in shares:
            trips.append({**sharing(rng, pool, facts, share), "stops": one_or_both_ways(rng, here, there)})
        if level == 2:
            partly = rng.choice((stated, stated[:1], stated[1:]))
            trips.append({**sharing(rng, pool, facts, stated), "stops": [there, here]})
            trips.append({**sharing(rng, pool, facts, partly), "stops": [here, there, beyond]})
        elsewhere = [(a, b) for a in places for b in places if a != b and {a, b} != {here, there}]
        for _ in range(max(1, rng.choice(SIZES) - len(trips))):
            a, b = rng.choice(elsewhere)
            trips.append({**draft(rng, pool), "stops": one_or_both_ways(rng, a, b)})

        codes = rng.sample(records.CODES, k=len(trips))
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=2 * len(trips))
        fours = [m["last_four"] for m in owner["payment_methods"].values() if "last_four" in m]
        seen = " ".join(["2024", "1500", owner["user_id"], *fours])  # numbers that are no one's refund
        reservations: dict[str, dict[str, Any]] = {}
        flights: dict[str, dict[str, Any]] = {}
        for i in rng.sample(range(len(trips)), k=len(trips)):
            booking, legs = book(rng, codes[i], owner, trips[i], numbers[2 * i : 2 * i + 2], seen)
            seen = f"{seen} {paid(booking)}"
            reservations[codes[i]] = booking
            for plan, _on in legs:
                flights[plan["flight_number"]] = plan
        described = describe(rng, [here, there], facts)
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            flights=flights,
            requests=[Cancel(codes[0], reason="health")],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", trip=described),
            meant=codes[0],
            described=described,
            between=[here, there],
            facts=facts,
        )

    def reply(self, text: str) -> str | None:
        if any(booking["status"] == "cancelled" for booking in self.reservations.values()):
            # Told an amount, right or wrong, the customer has nothing left to wait for.
            if self.thanked or re.search(r"(?<![\w-])\d{3,}(?![\w-])", text):
                return None
            self.thanked = True
            return THANKS
        if len(self.mentioned(text)) == 1:
            return AGREED
        if self.repeated >= 2:
            return None
        self.repeated += 1
        return f"{self.described} {MISSING}"

    def mentioned(self, text: str) -> list[str]:
        """The reservations that a message names."""
        words = set(re.findall(r"[a-z0-9]+", text.lower()))
        return [code for code in self.reservations if code.lower() in words]

    def on_route(self) -> list[str]:
        """The reservations on the stated route, in the order of the profile."""
        found: list[str] = []
        for code in self.users[self.customer]["reservations"]:
            booking = self.reservations[code]
            if [booking["origin"], booking["destination"]] == self.between:
                found.append(code)
        return found

    def call_off(self, trip: str) -> Iterator[Call | Say]:
        """Look everything up, name the trip, wait, cancel it, and tell the amount."""
        amount = paid(self.reservations[trip])
        yield Call("get_user_details", {"user_id": self.customer})
        for code in list(self.users[self.customer]["reservations"]):
            yield Call("get_reservation_details", {"reservation_id": code})
        yield Say(f"The trip is {trip}. I will cancel it for health under its insurance. Do you agree?")
        yield Call("cancel_reservation", {"reservation_id": trip})
        yield Say(f"The trip is cancelled, and {amount} dollars come back to the method that paid.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        meant, want = start.meant, start.served()
        # Naming the trips one after the other is a guess: only the first that is named alone counts.
        alone = [codes for codes in [start.mentioned(text) for text in said] if len(codes) == 1]
        yield Check.goal(
            f"the customer was told that the trip described is {meant}, and no other", alone[:1] == [[meant]]
        )
        cancelled = self.reservations[meant]["status"] == "cancelled"
        yield Check.goal(f"{meant} is cancelled", cancelled)
        others = [paid(booking) for code, booking in start.reservations.items() if code != meant]
        whole = [re.sub(r"\.00\b", "", text) for text in said]
        told = asserted(paid(start.reservations[meant]), others, whole)
        yield Check.goal(f"the customer was told what comes back for the cancelled {meant}", cancelled and told)

        kept = all(self.reservations.get(code) == b for code, b in start.reservations.items() if code != meant)
        yield Check.guard(f"no trip other than {meant} was cancelled or changed", kept)
        proper = self.reservations[meant] in (start.reservations[meant], want.reservations[meant])
        yield Check.guard(f"nothing but a cancellation happened to {meant}", proper)
        same = len(self.reservations) == len(start.reservations)
        same = same and self.users in (start.users, want.users) and self.flights in (start.flights, want.flights)
        yield Check.guard("nothing was booked and no certificate was sent", same)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        fitting = [
            code
            for code in self.on_route()
            if all(shows(self.reservations[code], fact, value) for fact, value in self.facts.items())
        ]
        return self.call_off(fitting[0])

    def ablated(self) -> Iterator[Call | Say]:
        return self.call_off(self.on_route()[0])

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.on_route()[0] != self.meant else ())
