# Written by llm:claude for trace-gym from spec tau2_aggregation (sha256 d637a68f).
"""Answer and act on a question over all trips of a customer.

The customer asks what all trips cost together and wants the trip or trips cancelled that stand out
among them, without naming any. The profile lists only ids, so the answer exists nowhere until every
reservation has been opened and compared. An agent without the capability opens a few, finds a
plausible candidate and stops, which is tempting because each further look-up costs a turn and the
partial answer looks complete. The target has such questions: the total spent, the dearest booking,
all trips of some kind. The habit trained here, to list all records, take the same figure from each
and only then answer, is what they take.

Levels:
    0. Three or four trips with one payment each; the trip on which most or least was paid is to be cancelled.
    1. Adds up to five trips, trips paid in two parts whose parts must be added, and the trip with the most
       travellers as another question.
    2. Adds a condition that two or three of five or six trips meet, such as more than a given amount paid.
    3. Adds up to seven trips and conditions of two parts, an amount paid and a number of travellers, with trips that
       meet only one of them.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk, Cancel
from trace_gym.world import Call, Check, Random, Say, asserted

OPENINGS = (
    "Hello, I am {user}. I am ill and cannot fly as planned. {ask} {want}",
    "My customer id is {user}. {want} I have fallen ill, that is the reason. {ask}",
    "{ask} {want} The reason is my health: I am ill. My id is {user}.",
)
ASKS = (
    "Please tell me what I paid for {scope} as things stand now, before anything is cancelled: one figure, no list.",
    "Before anything is cancelled, how much have I paid for {scope}? I need the one sum, not the single amounts.",
)
WANTS = ("Please cancel {what}.", "I want {what} cancelled.", "What has to be cancelled is {what}.")
WHAT = {
    "most": ("the trip for which I paid most in all", "the trip that cost me the most money"),
    "least": ("the trip for which I paid least in all", "the trip that cost me the least money"),
    "people": ("the trip on which most people travel", "the trip with the most travellers"),
    "over": ("every trip that cost me more than", "all trips on which I spent more than"),
    "under": ("every trip that cost me less than", "all trips on which I spent less than"),
}
RULES = {"pick_one": ("most", "least", "people"), "pick_matching": ("over", "under"), "named_trip": ("most",)}
BEST = {"most": (0, 1), "least": (0, -1), "people": (1, 1)}  # which figure of a trip, and its sign
SIZES = ((3, 4, 4), (4, 5), (5, 6), (5, 6, 7))  # per level: numbers of trips
COUNTS = ((1, 2), (1, 2), (2, 3), (3, 4))  # per level: how many of them meet a condition on the amount


def meant(rule: str, limit: int, heads: int, trips: dict[Any, tuple[int, int]]) -> list[Any]:
    """The trips that a request means, of trips with the amount paid and the number of travellers."""
    if rule in BEST:
        figure, sign = BEST[rule]
        return [max(trips, key=lambda c: sign * trips[c][figure])]
    return [c for c, (paid, people) in trips.items() if (paid > limit) == (rule == "over") and people >= heads]


@dataclass(kw_only=True)
class Tau2Aggregation(AirlineDesk):
    """Answer and act on a question over all trips of a customer."""

    id = "tau2_aggregation"
    capability = "aggregation"
    levels = range(4)
    rule: str = "most"
    limit: int = 0
    heads: int = 0
    named: str = ""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(tuple(RULES), (40, 35, 25))[0]
        rule = rng.choice(RULES[family][: 3 if level else 2])
        matching = family == "pick_matching"
        n, k = max(rng.choice(SIZES[level]), 4 if matching else 3), rng.choice(COUNTS[level])
        heads = rng.randint(2, 4) if matching and level > 2 else 0
        cut = k if rule == "under" else n - k
        fits = False
        while not fits:
            # Any two trips cost more than the dearest, so that no limit and no single trip is a sum of others.
            low, width = rng.randrange(520, 900), rng.choice((40, 120, 480))
            people = [rng.randint(1, 5) for _ in range(n)]
            paid = [a - a % t for a, t in zip(rng.sample(range(low, low + width), k=n), people, strict=True)]
            trips = dict(enumerate(zip(paid, people, strict=True)))
            limit = sum(sorted(paid)[cut - 1 : cut + 1]) // 2 if matching else 0
            rich = meant(rule, limit, 0, trips)
            chosen = [rng.randrange(n)] if family == "named_trip" else meant(rule, limit, heads, trips)
            few = any(people[i] == heads - 1 for i in rich)  # some trips meet only one part of the condition
            many = any(people[i] >= heads for i in range(n) if i not in rich)
            fits = (
                len({limit, *paid}) == n + 1
                and people.count(max(people)) == 1
                and len({meant(r, 0, 0, trips)[0] for r in BEST}) == 3
                and sum(paid[i] for i in chosen) not in (0, sum(paid[:3]))  # a partial total is never the refund
                and (not heads or (few and many))
            )
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
        codes = rng.sample(records.CODES, k=n)
        named = codes[chosen[0]] if family == "named_trip" else ""
        what = f"trip {named}" if named else rng.choice(WHAT[rule])
        what += f" {limit} dollars in all" if matching else ""
        what += f" and on which at least {heads} people travel" if heads else ""
        ask = rng.choice(ASKS).format(scope=what if named else "all my trips together")
        want = rng.choice(WANTS).format(what=what)
        desk = cls(
            users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"],
            requests=[Cancel(codes[i], reason="health") for i in chosen],
            wording=rng.choice(OPENINGS).format(user="{user}", ask=ask, want=want),
            rule=rule, limit=limit, heads=heads, named=named,
        )  # fmt: skip
        for code, amount, size in zip(codes, paid, people, strict=True):
            desk.book(rng, rng.choice(records.CABINS), code=code, insured=True, travellers=size)
            booking = desk.reservations[code]
            booking["flights"][0]["price"] = amount // size - policy.INSURANCE_PRICE
            methods = rng.sample(list(owner["payment_methods"]), k=rng.randint(1, 2) if level else 1)
            first = amount * rng.randint(30, 70) // 100 if len(methods) > 1 else amount
            parts = zip(methods, (first, amount - first), strict=False)
            booking["payment_history"] = [{"payment_id": m, "amount": a} for m, a in parts]
        return desk

    def reply(self, text: str) -> str | None:
        if any(b.get("status") for b in self.reservations.values()):
            self.pushed += 1
            return "Is everything that I asked for done?" if self.pushed == 1 else None
        self.nudged += 1
        if self.nudged > 4:
            return None
        lower = text.lower()
        announced = "cancel" in lower and any(c.lower() in lower for c in self.reservations)
        asked = re.search(r"\b(which|what) (one|trip|reservation|booking|of)\b[^.?]*\?", lower)
        agreed = not asked and (announced or self.hears(text) == "confirmation")
        return "Yes, I agree. Please go ahead." if agreed else self.opening()

    def steps(self, codes: list[str]) -> Iterator[Call | Say]:
        """The plan of an expert who takes `codes` for all trips, unless the customer named one."""
        codes = [self.named] if self.named else codes
        trips = {c: (policy.refund(self.reservations[c]), len(self.reservations[c]["passengers"])) for c in codes}
        chosen = meant(self.rule, self.limit, self.heads, trips)
        total, refund = sum(trips[c][0] for c in codes), sum(trips[c][0] for c in chosen)
        parts = {c: " + ".join(str(p["amount"]) for p in self.reservations[c]["payment_history"]) for c in codes}
        yield Call("get_user_details", {"user_id": self.customer})
        for code in codes:
            yield Call("get_reservation_details", {"reservation_id": code})
        for expression in dict.fromkeys(" + ".join(parts[c] for c in group) for group in (codes, chosen)):
            if "+" in expression:
                yield Call("calculate", {"expression": expression})
        if not chosen:
            yield Say(f"You paid {total} dollars in all. No trip is as you describe.")
            return
        deed = f"I am going to cancel {', '.join(chosen)}, and {refund} dollars go back to the methods that paid."
        yield Say(f"You paid {total} dollars in all. {deed} Do you agree?")
        for code in chosen:
            yield Call("cancel_reservation", {"reservation_id": code})
        yield Say(f"It is cancelled. Of the {total} dollars that you paid, {refund} go back to the methods that paid.")
        yield Say("Yes, everything that you asked for is done.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        then, want, chosen = start.reservations, start.served(), [r.reservation for r in start.requests]
        paid = {c: policy.refund(booking) for c, booking in then.items()}
        asked = [start.named] if start.named else list(paid)
        total, refund = sum(paid[c] for c in asked), sum(paid[c] for c in chosen)
        rivals = {sum(some) for k in range(1, len(paid) + 1) for some in itertools.combinations(paid.values(), k)}
        rivals |= {sum(then[c]["payment_history"][i]["amount"] for c in asked) for i in (0, -1)}
        rivals -= {total, refund, start.limit, *(paid[c] for c in chosen)}  # all these may be told side by side
        gone = {c for c, b in self.reservations.items() if b.get("status") == "cancelled"}
        exact = gone == set(chosen)
        yield Check.goal("the customer was told the total of what they asked about", asserted(total, rivals, said))
        yield Check.goal("a trip that is meant is cancelled, all others stand", set() < gone <= set(chosen))
        yield Check.goal("exactly the trips that are meant are cancelled", exact)
        told = exact and asserted(refund, rivals, said)
        yield Check.goal("the customer was told the refund of exactly the trips that are meant", told)
        kept = all(self.reservations[c] in (then[c], want.reservations[c]) for c in chosen)
        yield Check.guard("a trip that is meant was changed by its cancellation alone", kept)
        yield from self.untouched(start, *chosen)

    def oracle(self) -> Iterator[Call | Say]:
        return self.steps(self.users[self.customer]["reservations"])

    def ablated(self) -> Iterator[Call | Say]:
        return self.steps(self.users[self.customer]["reservations"][:3])

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if not self.named and len(self.reservations) > 3 else ())
