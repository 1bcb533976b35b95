# Written by llm:claude for trace-gym from spec tau2_baggage_allowance (sha256 cedb4897).
"""Add checked bags and charge only those beyond the allowance.

A customer wants more checked bags and says neither the membership nor the cabin nor how many people
travel; the allowance follows from all three, which stand in the profile and on the reservation. The
tool takes any number of paid bags and charges for it without asking, so a wrong number goes through
unnoticed. The shortcut is the usual allowance of one bag for each traveller, which is right often
enough to feel safe. An agent without the capability charges silver and gold members or business
travellers for bags that are free, or gives free bags where there are none; an agent that charges
for everything to be safe fails as well. In the target every booking with bags and every added bag
needs this same sum.

Levels:
    0. One reservation for one or two travellers that has no bags yet.
    1. Adds bags that are booked already and use up part or all of the allowance, sometimes with some of them paid,
       and larger parties; the customer asks for a number more or for a number in all.
    2. Adds a second reservation of the same customer with its own party and, where the family allows it, its own
       cabin, on which bags are wanted too.
    3. All of it together with four or five travellers and totals that end just below, at or just beyond an
       allowance.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

PRICE = 50
PATIENCE = 6
PARTIES = ((1, 2), (1, 2, 3, 4), (1, 2, 3, 4), (4, 5))  # numbers of travellers, per level
SHARES = (2, 3, 1)  # added bags all free, partly free, all paid; without any allowance they are all paid anyway
BAGS = ("total_baggages", "nonfree_baggages", "payment_history")
FAMILIES = (  # weight, bags for each traveller that the first total exceeds, (membership, cabins of one, of another)
    (35, 0, (("regular", ("economy",), ("economy",)), ("silver", ("basic_economy",), ("basic_economy",)))),
    (
        45,
        1,
        (
            ("regular", ("business",), ("economy", "business")),
            ("silver", ("economy", "business"), ("basic_economy", "economy", "business")),
            ("gold", ("basic_economy", "economy", "business"), ("basic_economy", "economy", "business")),
        ),
    ),
    (20, 0, (("regular", ("basic_economy",), ("economy",)),)),
)
OPENINGS = (
    "I am {user}. I would like {bags}. Whatever that costs goes on {card}. Please tell me in figures how many "
    "dollars are charged for the added bags in all, 0 if nothing is.",
    "Hello, I want {bags}. My customer id is {user}, and for whatever they cost you can use {card}. How many dollars "
    "are charged for the added bags in all? I need it in figures, 0 if nothing is.",
    "Please use {card} for whatever my bags cost: I am asking for {bags}. My id is {user}. Let me know in figures how "
    "many dollars are charged for the added bags in all, 0 if nothing is.",
    "Customer {user} here. The card is {card}, for whatever there is to pay, and the bags that I need are {bags}. "
    "Write me in figures how many dollars are charged for the added bags in all, 0 if nothing is.",
)
AGREES = re.compile(r"\b(yes|okay|agree|approve|would you like me|do you want me)\b")
CLAIM = re.compile(r"(?<![\d.])(\d{0,3}[05]0|0)(?:\.00?)?\s+(?:dollars\s+|usd\s+)?in\s+(?:all|total)\b")


def draw(rng: Random, level: int, member: str, cabins: Sequence[str], low: int = 0) -> tuple[str, int, int, int]:
    """Cabin, travellers, bags booked and bags to add, with a total of more than `low` for each traveller."""
    found = []
    for cabin, people, more in itertools.product(cabins, PARTIES[level], range(1, 5)):
        free = policy.free_bags(member, cabin, people)
        for had in range(min(13, free + 3) if level else 1):
            near = -2 < had + more - max(free, people) < 3
            if had + more > low * people and (near or level < 3):
                found.append(((had + more > free) + (had >= free), cabin, people, had, more))
    kinds = sorted({f[0] for f in found})
    kind = rng.choices(kinds, [SHARES[k] for k in kinds])[0]
    party = rng.choice(sorted({f[1:3] for f in found if f[0] == kind}))
    return rng.choice([f[1:] for f in found if f[0] == kind and f[1:3] == party])


@dataclass(kw_only=True)
class Tau2BaggageAllowance(AirlineDesk):
    """Add checked bags and charge only those beyond the allowance."""

    id = "tau2_baggage_allowance"
    capability = "baggage_allowance"
    levels = range(4)
    wanted: dict[str, int] = field(default_factory=dict)
    booked: dict[str, int] = field(default_factory=dict)
    card: str = ""
    asked: str = ""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        _, low, cases = rng.choices(FAMILIES, [f[0] for f in FAMILIES])[0]
        member, first, second = rng.choice(cases)
        named = [draw(rng, level, member, first, low), draw(rng, level, member, second)][: 1 + (level > 1)]
        if not low:  # the one without an allowance stands at either place
            rng.shuffle(named)
        trips = named + [draw(rng, level, member, records.CABINS) for _ in range(rng.randrange(2))]
        owner = records.user(rng, member, ("credit_card",))
        desk = cls(users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"])
        codes = {}
        for place in rng.sample(range(len(trips)), k=len(trips)):  # the profile lists them in any order
            cabin, people, had, _ = trips[place]
            codes[place] = desk.book(rng, cabin, travellers=people, insured=rng.random() < 0.5)
            paid = max(0, had - policy.free_bags(member, cabin, people))
            desk.reservations[codes[place]].update(total_baggages=had, nonfree_baggages=paid)
        asked = []
        for place, (_, _, had, more) in enumerate(named):
            total = had + more
            desk.booked[codes[place]] = had
            desk.wanted[codes[place]] = total
            forms = (f"{more} more checked bag{'s' * (more > 1)}", f"{total} checked bag{'s' * (total > 1)} in all")
            asked.append(f"{rng.choice(forms)} on reservation {codes[place]}")
        desk.card = next(iter(owner["payment_methods"]))
        desk.asked = " and ".join(asked)
        desk.wording = rng.choice(OPENINGS).format(user=desk.customer, bags=desk.asked, card=desk.card)
        return desk

    def reply(self, text: str) -> str | None:
        self.nudged += 1
        served = all(self.reservations[code]["total_baggages"] != had for code, had in self.booked.items())
        if served or self.nudged > PATIENCE:
            return None
        if self.hears(text) == "confirmation" or AGREES.search(text.lower()):
            return "Yes, please do."
        return f"I would like {self.asked}. You can look up the rest."

    def bill(self, usual: bool = False) -> dict[str, tuple[int, int, int]]:
        """Bags in all, paid bags and dollars for each reservation named; `usual` gives each traveller one free bag."""
        due = {}
        for code, total in self.wanted.items():
            trip = self.reservations[code]
            people, before = len(trip["passengers"]), trip["nonfree_baggages"]
            member = self.users[self.customer]["membership"]
            free = people if usual else policy.free_bags(member, trip["cabin"], people)
            paid = max(before, total - free)
            due[code] = (total, paid, PRICE * (paid - before))
        return due

    def expert(self, usual: bool) -> Iterator[Call | Say]:
        """Look everything up in the order in which the customer names it, sum up, confirm, write, close."""
        for name in sorted([self.customer, *self.wanted], key=self.opening().index):
            if name == self.customer:
                yield Call("get_user_details", {"user_id": name})
            else:
                yield Call("get_reservation_details", {"reservation_id": name})
        due = self.bill(usual)
        dollars = sum(sums[2] for sums in due.values())
        bags = "; ".join(f"{code} gets {sums[0]} checked bags, {sums[1]} of them paid" for code, sums in due.items())
        yield Say(f"To confirm: {bags}. That is {dollars} dollars in all, charged to {self.card}. Shall I proceed?")
        for code, (total, paid, _) in due.items():
            bag_counts = {"total_baggages": total, "nonfree_baggages": paid}
            yield Call("update_reservation_baggages", {"reservation_id": code, **bag_counts, "payment_id": self.card})
        yield Say(f"The bags are booked. The added ones cost you {dollars} dollars in all.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        due = start.bill()
        trips = {code: (self.reservations[code], start.reservations[code]) for code in due}
        has = {code: (now["total_baggages"], now["nonfree_baggages"]) for code, (now, _) in trips.items()}
        right = [has[code] == sums[:2] for code, sums in due.items()]
        charged = sum(sums[2] for sums in due.values())
        # The price of one bag and the share of each reservation may be told beside the sum, but no other sum.
        others = set(range(2 * PRICE, 1000, PRICE)) - {sums[2] for sums in due.values()}
        told = asserted(charged, others, said) and set(CLAIM.findall(" ".join(said).lower())) <= {str(charged)}
        once = all(
            [
                (p["payment_id"], p["amount"])
                for p in now["payment_history"][len(then["payment_history"]) :]
                if p["amount"]
            ]
            == [(start.card, PRICE * n) for n in [now["nonfree_baggages"] - then["nonfree_baggages"]] if n > 0]
            for now, then in trips.values()
        )
        kept = all(now[key] == then[key] for now, then in trips.values() for key in then if key not in BAGS)
        totals = all(has[code][0] == sums[0] for code, sums in due.items())
        yield Check.goal("every reservation named has as many bags as the customer asked for", totals)
        yield Check.goal("the reservation named first has the right number of paid bags among them", right[0])
        yield Check.goal("every reservation named has the right number of paid bags among them", all(right))
        yield Check.goal("the customer was told what the added bags of all reservations cost", all(right) and told)
        yield Check.guard("paid bags were charged once, at their price, and to the card named", once)
        yield Check.guard("all but the bags of the reservations named is as it was", kept)
        yield from self.untouched(start, *start.wanted)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(usual=False)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(usual=True)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.bill(usual=True) != self.bill() else ())
