# Written by llm:claude for trace-gym from spec tau2_record_identification (sha256 ec742af8).
"""Cancel the one trip that the customer describes without its number.

The customer has several trips on the same route and describes the right one by its date, its cabin
or the people on it. The shortcut is to stop at the first reservation with the right route. It is
tempting because every trip may be cancelled, and because the customer cannot check a number and
agrees to whatever the agent proposes. Only an agent that compares every stated fact with every
reservation cancels the right trip. In the target, customers rarely know their reservation ids, and
a write to the wrong reservation fails the task, so the habit of reading all records and matching
all facts carries over.

Levels:
    0. Three or four trips share the route. The route and one more fact (the day of departure, the cabin or the name
       of a fellow traveler) fit exactly one of them; trips on other routes share that fact.
    1. Two more facts are given and both are needed: two other trips on the route share only the first of them, and
       two share only the second.
    2. Adds the reverse route and trips that only change planes at the destination. The travelers may also be given
       by their number.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.dialogue import acts
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk, Cancel
from trace_gym.targets.tau2.requests import wrong_fares
from trace_gym.world import Call, Check, Random, Say, asserted

METHODS = (("credit_card", "gift_card"), ("gift_card", "credit_card"), ("credit_card", "credit_card", "gift_card"))
PEOPLE = ("me alone", "two people in all", "three people in all", "four people in all")
KINDS = (  # per level: what is stated beside the route, in the family by date or cabin and in the one by travellers
    ((("date",), ("cabin",)), (("fellow",),)),
    ((("date", "cabin"),), (("fellow", "cabin"),)),
    ((("date", "cabin"),), (("fellow", "cabin"), ("number", "cabin"))),
)
TWINS = (  # for one and for two stated facts: which of them each of the other trips on the route shares
    ([False], [False], [False]),
    ([True, False], [False, True], [True, False], [False, True]),
)
SAYS = {
    "date": ("it leaves on ", "the day of departure is "),
    "cabin": ("it is in ", "the cabin is "),
    "fellow": ("one of my fellow travelers is ", "with me on board is "),
    "number": ("it is booked for ", "the booking is for "),
}
WISHES = (
    "My doctor does not let me fly, so please cancel one of my trips. I do not have its number at hand, so tell me the "
    "number first, and afterwards how much money I get back.",
    "Please cancel a trip for me, because my doctor says that I must not fly. I do not have its number here. Please "
    "tell me the number before you cancel it, and how much I get back in the end.",
)
AGREES = (
    "Yes, if that is the trip that I described, please go ahead.",
    "Yes, please go ahead, as long as it is the trip that I described.",
)
ASKS = ("Which number does it have? Please tell me that first.", "Please tell me the number of the trip first.")
AMOUNT = re.compile(r"\d[\d,.*]* ?(?:dollars?|usd|\$)|(?:\$|usd) ?\d", re.IGNORECASE)


def traits(trip: dict[str, Any]) -> dict[str, list[str]]:
    """Return the facts about a trip, in the customer's words."""
    month, on = trip["flights"][0]["date"].split("-")[1:]
    ends = [f"{records.AIRPORTS[a]} ({a})" for a in (trip["origin"], trip["destination"])]
    names = [f"{p['first_name']} {p['last_name']}" for p in trip["passengers"]]
    return {
        "route": [" to ".join(ends)],
        "date": [f"{'May' if month == '05' else 'June'} {int(on)}"],
        "cabin": [trip["cabin"].replace("_", " ")],
        "fellow": names[1:],
        "number": [PEOPLE[len(names) - 1]],
    }


def journey(rng: Random, stops: Sequence[str], on: int, numbers: Sequence[str]) -> list[tuple[dict[str, Any], str]]:
    """Return flights over three airports with their dates; a journey that leads back may also be booked one-way."""
    back = stops[0] == stops[-1]
    legs = []
    for at in range(rng.choice((1, 2)) if back else 2):
        plan = records.flight(rng, numbers[at], stops[at], stops[at + 1], 6 + 8 * at + rng.randrange(5))
        date = records.day(on + rng.randrange(2, 7) if back and at else on)
        plan["dates"][date] = records.available(rng)
        legs.append((plan, date))
    return legs


@dataclass(kw_only=True)
class Tau2RecordIdentification(AirlineDesk):
    """Cancel the one trip that the customer describes without its number."""

    id = "tau2_record_identification"
    capability = "record_identification"
    levels = range(3)
    facts: dict[str, str] = field(default_factory=dict)
    described: str = ""
    proposed: list[str] = field(default_factory=list)
    """The trips that the agent named to the customer before a cancellation."""
    refunded: bool = False
    """Whether the agent has told the customer an amount since the cancellation."""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), rng.choice(METHODS))
        user, paying = owner["user_id"], list(owner["payment_methods"])
        here, there, *rest = rng.sample(list(records.AIRPORTS), k=7)
        days = rng.sample(range(2, 17), k=4)
        names = rng.sample([n for n in records.FIRST_NAMES if n != owner["name"]["first_name"]], k=6)
        people = [{**records.person(rng), "first_name": n} for n in names]
        kinds = rng.choice(rng.choices(KINDS[level], weights=(45, 40))[0])
        # Nobody flies alone where a name is stated, because the number of travelers would give the trip away.
        company = range(1 if "fellow" in kinds else 0, 4)
        twins = TWINS[len(kinds) - 1][: 4 if level else rng.choice((2, 3))] if rng.random() < 0.85 else ()
        wanted: list[Any] = [((here, there, here), shared) for shared in ([], *twins)]  # the one meant comes first
        if level == 2:
            wanted += [((there, here, there), [True, True]), ((here, there, rest[0]), [True, True])]
        for n in range(max(2, rng.randrange(6, 9) - len(wanted))):
            a, b = rng.sample([rng.choice((here, there)), *rest], k=2)
            wanted.append(((a, b, a), [True] * len(kinds) if n < 2 else []))  # the other facts fit, the route does not
        codes = rng.sample(records.CODES, k=len(wanted))
        bookings: dict[str, Any] = {}
        flights: dict[str, Any] = {}
        facts: dict[str, str] = {}
        for code, (stops, shared) in zip(codes, wanted, strict=True):
            while code not in bookings:  # until it shares what it should, and its total is its own
                numbers = rng.sample([n for n in records.FLIGHT_NUMBERS if n not in flights], k=2)
                legs = journey(rng, stops, rng.choice(days), numbers)
                fellows = rng.sample(people, k=rng.choice(company))
                created = f"{records.day(-rng.randrange(2, 15))}T{rng.choice(records.CLOCK)}"
                trip = records.reservation(
                    rng, code, owner, legs, cabin=rng.choice(records.CABINS), created=created, insured=True,
                    travellers=1 + len(fellows), paid_with=rng.choice(paying),
                )  # fmt: skip
                trip["passengers"] = [trip["passengers"][0], *(dict(p) for p in fellows)]
                fits = [facts.get(k) in traits(trip)[k] for k in kinds]
                if shared in ([], fits) and policy.refund(trip) not in [policy.refund(b) for b in bookings.values()]:
                    bookings[code] = trip
                    flights.update({plan["flight_number"]: plan for plan, _ in legs})
                    facts = facts or {k: rng.choice(traits(trip)[k]) for k in ("route", *kinds)}
        owner["reservations"] = rng.sample(codes, k=len(codes))
        parts = [rng.choice(SAYS[k]) + facts[k] for k in rng.sample(kinds, k=len(kinds))]
        described = f"It is the trip from {facts['route']}: {' and '.join(parts)}."
        hello = rng.choice((f"I am {user}.", f"Hello, my customer id is {user}.", f"My id is {user}."))
        return cls(
            users={user: owner}, reservations={c: bookings[c] for c in owner["reservations"]},
            flights=dict(sorted(flights.items())), requests=[Cancel(codes[0], reason="health")], customer=user,
            wording=f"{hello} {rng.choice(WISHES)} {described}", facts=facts, described=described,
        )  # fmt: skip

    def reply(self, text: str) -> str | None:
        if not self.done():
            self.proposed += self.named(text)
        elif AMOUNT.search(text):
            self.refunded = True
        return super().reply(text)

    def done(self) -> bool:
        """Return whether a trip is cancelled."""
        return any(r["status"] == "cancelled" for r in self.reservations.values())

    def named(self, text: str) -> list[str]:
        """Return the one trip that a message names or proposes; empty if it names none, or leaves several open."""
        found = [c for c in self.reservations if asserted(c, (), [text])]
        heard = acts(text)
        if len(found) > 1 and any(act.kind == "proposal" for act in heard):  # `I see A and B. It is B. Shall I ...?`
            each = [[c for c in found if asserted(c, (), [act.text])] for act in heard]
            found = [codes for codes in each if codes][-1]
        return found if len(found) == 1 else []

    def tells(self, topic: str) -> str:
        if topic == "reservation":
            return f"I do not have the number at hand. {self.described}"
        return "My doctor does not let me fly." if topic == "reason" else super().tells(topic)

    def chooses(self, text: str) -> str:
        return f"All that I can tell you is this: {self.described}"

    def agrees(self, text: str) -> str:
        return self.varied(AGREES if self.proposed else ASKS)

    def objects(self, text: str) -> str:
        self.pushed += 1
        return f"But it is one of my trips. {self.described}" if self.pushed == 1 and not self.done() else ""

    def outstanding(self) -> str:
        return "And how much money do I get back?" if self.done() and not self.refunded else ""

    def expert(self, kinds: Iterable[str]) -> Iterator[Call | Say]:
        """Yield the plan of an expert who takes the first trip that fits what was said of these kinds."""
        mine = self.users[self.customer]["reservations"]
        code = [c for c in mine if all(self.facts[k] in traits(self.reservations[c])[k] for k in kinds)][0]
        refund = policy.refund(self.reservations[code])
        yield Call("get_user_details", {"user_id": self.customer})
        for each in mine:
            yield Call("get_reservation_details", {"reservation_id": each})
        yield Say(f"That is reservation {code}. It is insured, so I will cancel it for health. Shall I proceed?")
        yield Call("cancel_reservation", {"reservation_id": code})
        yield Say(f"It is cancelled, and {refund} dollars come back to the method that paid.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        code, want = start.requests[0].reservation, start.served()
        # The last one counts, so that naming one after the other earns nothing, but a correction is possible.
        yield Check.goal(f"{code} was named to the customer before the cancellation", self.proposed[-1:] == [code])
        cancelled = self.reservations[code]["status"] == "cancelled"
        yield Check.goal(f"{code} is cancelled", cancelled)
        refunds = {c: policy.refund(r) for c, r in start.reservations.items()}
        told = asserted(refunds[code], refunds.values(), said, "refund") and not wrong_fares(start, want, said)
        yield Check.goal(f"{code} is cancelled and the customer was told what comes back for it", cancelled and told)
        kept = all(r in (start.reservations.get(c), want.reservations.get(c)) for c, r in self.reservations.items())
        yield Check.guard(f"no trip was booked or changed but for the cancellation of {code}", kept)
        yield Check.guard("the profile was not changed", self.users in (start.users, want.users))
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(self.facts)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(("route",))

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if list(self.oracle()) != list(self.ablated()) else ())
