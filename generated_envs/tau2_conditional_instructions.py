# Written by llm:claude for trace-gym from spec tau2_conditional_instructions (sha256 9d8585ca).
"""Follow the branch of the instruction whose condition holds.

The customer says once, in the opening, what to do in which case: move the trip if a fare is within
a limit and cancel it otherwise, or take a second flight where the first has no room. An agent
without the capability carries out the action that was named first, because it reads like the
request and the rest like an aside. The rules allow every branch, so nothing but the looked-up fact
tells which one is wanted, and the customer agrees to whatever is announced. The target's customers
give the same kind of instruction, with limits, fallbacks and exceptions, and only the final state
counts there, so testing each condition before the first write carries over.

Levels:
    0. One condition with two branches, on the fare a person of one flight or on whether the trip is insured, for one
       traveller and with few flights on the day.
    1. Adds a second choice of flight where the first has too few business seats for all travellers, and two or three
       travellers.
    2. Adds a limit on the fare to the second choice, so that each of the two flights can fail by seats or by fare
       and cancelling remains as the last resort.
    3. Adds limits on the difference for all travellers together, which must be worked out from what was paid, the
       fare and the number of travellers, and more flights on the day.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import REASONS, AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

LEVELS = (  # travellers, flights on the day, what a single condition is about, what decides on a choice of flights
    ((1,), (3, 4), ("fare", "insured"), ("seats",)),
    ((2, 3), (3, 4, 5), ("fare", "insured"), ("seats",)),
    ((2, 3), (3, 4, 5), ("fare", "insured"), ("seats", "fare")),
    ((2, 3), (5, 6), ("fare", "insured", "difference", "difference"), ("seats", "difference")),
)
NEAR = (2, 3, 4, 5, 6, 7, 8, 9, 13, 19, 28, 41, 58)
WHO = ("I am {user}, and this is about reservation {code}.", "My id is {user}, and the trip is reservation {code}.")
CLAUSES = ("{act} if {test}", "if {test}, {act}")
ASKED = ("Please do this: {steps}.", "Here is what I want: {steps}.", "This is my instruction: {steps}.")


def condition(kind: str, number: str, sense: bool, limit: int) -> str:
    side = "at most" if sense else "more than"
    return {
        "seats": f"{number} has business seats for all travellers",
        "fare": f"a business seat on {number} costs {side} {limit} dollars a person",
        "difference": f"the difference in price to {number} for all travellers together is {side} {limit} dollars",
        "insured": f"the trip is {'insured' if sense else 'not insured'}",
    }[kind]


@dataclass(kw_only=True)
class Tau2ConditionalInstructions(AirlineDesk):
    """Follow the branch of the instruction whose condition holds."""

    id = "tau2_conditional_instructions"
    capability = "conditional_instructions"
    levels = range(4)
    asked: str = ""
    named: str = ""
    day: str = ""
    card: str = ""
    limit: int = 0
    branches: list[str] = field(default_factory=list)  # the flight that each moves to; empty for cancelling
    right: str = ""
    offered: dict[str, int] = field(default_factory=dict)
    owed: dict[str, int] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        sizes, listed, kinds, limits = LEVELS[level]
        people = rng.choice(sizes)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
        desk = cls(users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"])
        trips = range(rng.randrange(1, 4))
        codes = [desk.book(rng, "business", insured=rng.random() < 0.5, travellers=people) for _ in trips]
        desk.asked, desk.card = rng.choice(codes), next(iter(owner["payment_methods"]))
        booking = desk.reservations[desk.asked]
        old = booking["flights"][0]
        days = [records.day(n) for n in range(2, 15)]
        desk.day = rng.choice([d for d in days if all(d not in f["dates"] for f in desk.flights.values())])
        numbers = rng.sample([n for n in records.FLIGHT_NUMBERS if n not in desk.flights], k=rng.choice(listed))
        first, second = rng.sample(numbers, k=2)
        desk.named, desk.lacks = first, {n: rng.choice(("", "", "seats", "fare")) for n in numbers}
        # every opening has a condition: the words of one without would tell that the action named first is right
        family = rng.choices(("either_or", "second_choice"), weights=(50, 35))[0]
        if family == "second_choice":
            choices, checked, sense = [first, second], limits, True
            desk.branches = [first, second, ""]
            desk.right = rng.choices(desk.branches, weights=(3, 3, 4))[0]  # else its words would speak for moving
            desk.lacks[first] = "" if desk.right == first else rng.choice(limits)
            desk.lacks[second] = "" if desk.right == second else rng.choice(("", *limits) if desk.right else limits)
        else:
            choices, checked, moves = [first], (rng.choice(kinds),), rng.random() < 0.5
            holds = rng.random() < 0.45  # so that over both families neither the first nor the last action pays
            desk.branches = [first, ""] if moves else ["", first]
            desk.right = desk.branches[0 if holds else 1]
            desk.lacks[first] = "" if desk.right else "fare"
            sense = (booking["insurance"] == "yes") == holds if checked == ("insured",) else moves
        edge = old["price"] + rng.randrange(110, 240)  # no difference is a refund, and economy stays below business
        desk.limit = (edge - old["price"]) * people if "difference" in checked else edge
        for number, delta in zip(numbers, rng.sample(NEAR, k=len(numbers)), strict=True):
            hour, fare = rng.randrange(6, 19), edge - delta if desk.lacks[number] in ("", "seats") else edge + delta
            flight = desk.flights[number] = records.flight(rng, number, old["origin"], old["destination"], hour)
            offer = flight["dates"][desk.day] = records.available(rng, business=fare, seats=rng.randrange(3, 10))
            spare = (-1, -1, -people) if desk.lacks[number] == "seats" else (0, 0, 1, 4)
            offer["available_seats"]["business"] = people + rng.choice(spare)
            desk.offered[number], desk.owed[number] = fare, (fare - old["price"]) * people
        desk.owed[""] = booking["payment_history"][0]["amount"]
        tests = [" and ".join(condition(k, n, sense, desk.limit) for k in checked) for n in choices]
        acts = [f"move the trip to flight {f} on {desk.day}" if f else "cancel the trip" for f in desk.branches]
        clauses = [rng.choice(CLAUSES).format(act=a, test=t) for a, t in zip(acts, tests)] + acts[len(tests) :]
        task = rng.choice(ASKED).format(steps=rng.choice(("; otherwise ", "; failing that, ")).join(clauses))
        who = rng.choice(WHO).format(user=desk.customer, code=desk.asked)
        wish = f"I also want to hear what {first} on {desk.day} costs a person in business class."
        parts = [who, REASONS["change of plans"], task, f"A difference in price goes to {desk.card}.", wish]
        desk.wording = " ".join(rng.sample(parts, k=len(parts)))
        told = [desk.limit, desk.offered[first], *desk.owed.values()]
        return desk if len(set(told)) == len(told) else cls.generate(rng, level)  # one amount must not pass for another

    def reply(self, text: str) -> str | None:
        if any(r["status"] == "cancelled" or len(r["payment_history"]) > 1 for r in self.reservations.values()):
            self.pushed += 1
            return "Is everything settled now?" if self.pushed == 1 else None
        self.nudged += 1
        which = r"\b(prefer|rather|which (one|option|flight|branch)|or (shall|should|would))\b"
        asks = "?" in text and re.search(which, text.lower())
        told = self.opening() if asks else "Yes, I agree with what you announced."
        return told if self.nudged <= 4 else None

    def deed(self, flight: str) -> dict[str, Any]:
        if not flight:
            return {"reservation_id": self.asked}
        legs = [{"flight_number": flight, "date": self.day}]
        return {"reservation_id": self.asked, "cabin": "business", "flights": legs, "payment_id": self.card}

    def carry_out(self, flight: str) -> Iterator[Call | Say]:
        booking, amount = self.reservations[self.asked], self.owed[flight]
        yield Call("get_reservation_details", {"reservation_id": self.asked})
        route = {"origin": booking["origin"], "destination": booking["destination"], "date": self.day}
        yield Call("search_direct_flight", route)
        for number in [f for f in self.branches if f]:
            terms = [f"{self.offered[number]} - {booking['flights'][0]['price']}" for _ in booking["passengers"]]
            yield Call("calculate", {"expression": " + ".join(terms)})
        words = f"cancel {self.asked} and refund {amount} dollars to the method that paid"
        if flight:
            words = f"move {self.asked} to {flight} on {self.day} and charge {amount} dollars to {self.card}"
        fare = f"{self.named} costs {self.offered[self.named]} dollars a person in business class."
        yield Say(f"{fare} I am about to {words}. Shall I proceed?")
        yield Call("update_reservation_flights" if flight else "cancel_reservation", self.deed(flight))
        full = self.lacks.get(flight) == "seats"
        yield Say(f"There are too few business seats to {words}." if full else f"This is done: {words}.")
        yield Say("That is all. Goodbye.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        code, want, owed = start.asked, start.copy(), start.owed
        if start.right:
            want.update_reservation_flights(**start.deed(start.right))
        else:
            want.cancel_reservation(**start.deed(start.right))
        now, then, aim = (w.reservations[code] for w in (self, start, want))
        prices = start.flights[start.named]["dates"][start.day]["prices"]
        fare, amount, people = start.offered[start.named], owed[start.right], len(then["passengers"])
        spoken = {fare, amount, start.limit}  # a good message may hold all three
        told = asserted(fare, {*prices.values(), *start.offered.values()} - spoken, said)
        yield Check.goal(f"the customer was told the business fare a person of {start.named}", told)
        done = all(now[k] == aim[k] for k in ("status", "flights", "cabin"))
        yield Check.goal(f"{code} is as the branch whose condition holds wants it", done)
        others = {*owed.values(), *(owed[n] // people for n in start.offered)} - spoken
        paid = done and asserted(amount, others, said)
        yield Check.goal(f"{code} is as wanted, and the customer was told the amount that goes with it", paid)
        kept = {k: now[k] in (then[k], aim[k]) for k in then}
        stays = kept["status"] and kept["flights"]
        yield Check.guard(f"{code} is neither cancelled nor moved where that is not wanted", stays)
        yield Check.guard(f"all else of {code} stays, and an amount is paid once and as wanted", all(kept.values()))
        yield from self.untouched(start, code)

    def oracle(self) -> Iterator[Call | Say]:
        return self.carry_out(self.right)

    def ablated(self) -> Iterator[Call | Say]:
        return self.carry_out(self.branches[0])

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.right != self.branches[0] else ())
