# Written by llm:claude for trace-gym from spec tau2_aggregation (sha256 d637a68f).
"""Answer and act on a question over all trips of a customer.

The customer asks what all trips cost together, and wants the trips cancelled that stand out among
them, without naming any. The profile lists only ids, so the agent has to open every reservation and
compare. The shortcut is to open a few, find a plausible trip and stop. It is tempting because each
look-up costs a turn and a partial answer looks complete. The target has such questions: the total
spent, the most expensive booking, all trips of some kind. They need the habit trained here: list
all records, take the same figure from each of them, and only then answer.

Levels:
    0. Three or four trips with one payment each. The trip on which most or least was paid is to be cancelled. Some
       customers name the trip instead, and then only that one counts.
    1. Adds up to five trips, trips paid in two parts that must be added, and the trip with the most travelers as
       another question.
    2. Adds a condition that two or three of five or six trips meet, such as more than a given amount paid.
    3. Adds up to seven trips and conditions of two parts, an amount paid and a number of travelers. Some trips meet
       only one of them.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
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
    "Before anything is cancelled, please tell me how much I have paid for {scope}; the total is all that I need.",
    "I would like to know what I have paid for {scope} so far, before any refund. A single figure is enough.",
)
WANTS = (
    "Please cancel {what}, and tell me how much I get back in all.",
    "I want {what} cancelled. How much money comes back to me in all?",
    "What has to be cancelled is {what}. Please also tell me the total refund.",
)
WHAT = {
    "most": ("the trip for which I paid most in all", "the trip that cost me the most money"),
    "least": ("the trip for which I paid least in all", "the trip that cost me the least money"),
    "people": ("the trip on which most people travel", "the trip with the most travelers"),
    "over": ("every trip that cost me more than", "all trips on which I spent more than"),
    "under": ("every trip that cost me less than", "all trips on which I spent less than"),
}
RULES = {"pick_one": ("most", "least", "people"), "pick_matching": ("over", "under"), "named_trip": ("most",)}
BEST = {"most": (0, 1), "least": (0, -1), "people": (1, 1)}  # which figure of a trip, and its sign
SIZES = ((3, 4, 4), (4, 5, 5), (5, 6), (5, 6, 7))  # per level: numbers of trips
COUNTS = ((1, 2), (1, 2), (2, 3), (3, 4))  # per level: how many of them meet a condition on the amount
SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
BACK = re.compile(r"\b(?:back|refund|return|reimburs|receiv|repa[iy]|get|credit(?! ?card))|\bcredited", re.IGNORECASE)
SPENT = re.compile(
    r"\b(?:paid|spent|costs?|costing|cheapest|(?:least|most) expensive|prices?d?|came to)\b", re.IGNORECASE
)
AMOUNT = re.compile(r"\$ ?\d|\d (?:us )?dollars", re.IGNORECASE)
DEBT = re.compile(r"\b(?:charg|bill|debit|owe|due|deduct|(?:to|will|must|'ll) pay\b)", re.IGNORECASE)


def meant(rule: str, limit: int, heads: int, trips: dict[Any, tuple[int, int]]) -> list[Any]:
    """Return the trips that a request means, of trips with the amount paid and the number of travelers."""
    if rule in BEST:
        figure, sign = BEST[rule]
        return [max(trips, key=lambda c: sign * trips[c][figure])]
    return [c for c, (paid, people) in trips.items() if (paid > limit) == (rule == "over") and people >= heads]


def told(total: int, others: set[int], lines: set[int], said: list[str]) -> bool:
    """Return whether messages state a total as what was paid or what the trips cost, and no other one as either.

    The lines of the payment history may be told beside a total as its parts.
    """
    right = {role: asserted(total, others, said, role) for role in ("paid", "fare")}
    wrong = (asserted(other, (), said, role) for role in right if not right[role] for other in others - lines)
    return any(right.values()) and not any(wrong)


def without_history(text: str, paid: dict[str, int]) -> str:
    """Return a message without the sentences that only say what was paid, for a trip or for several ones.

    They say nothing about a refund: lists of what each trip cost, and sums of them. A wrong amount for a trip stays.
    """
    kept = []
    for sentence in SENTENCE.split(text.replace("|", " ")):
        named = {c for c in paid if asserted(c, (), [sentence])}
        listed = named and all(asserted(paid[c], (), [sentence]) for c in named)
        apart = bool(listed or SPENT.search(sentence)) and not BACK.search(sentence) and not DEBT.search(sentence)
        kept += [] if apart else [sentence]
    return "\n".join(kept)


def to_be_cancelled(text: str, codes: list[str]) -> list[str]:
    """Return the trips that a proposal names where it says `cancel`, or in the list behind that; else all it names."""
    found, header = [], False
    for sentence in filter(str.strip, SENTENCE.split(text)):
        named = [c for c in codes if asserted(c, (), [sentence])]
        cancels = "cancel" in sentence.lower()
        found += named if cancels or header else []
        header = not named and sentence.rstrip(" *").endswith(":") if cancels else header
    return found or [c for c in codes if asserted(c, (), [text])]


def part(rng: Random, amount: int) -> tuple[int, ...]:
    """Return the payments of a trip: one, or two that add up to the amount."""
    first = amount * rng.randint(30, 70) // 100
    return (first, amount - first) if rng.random() < 0.5 else (amount,)


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
    what: str = ""
    """The trips that are meant, in the customer's words."""
    proposed: list[str] = field(default_factory=list)
    """Trips that the agent has proposed to cancel."""
    reported: list[str] = field(default_factory=list)
    """Trips that were cancelled when the agent last reported."""

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
            lines = [part(rng, amount) if level else (amount,) for amount in paid]
            one_line = [meant(rule, limit, heads, {i: (lines[i][at], people[i]) for i in trips}) for at in (0, -1)]
            few = any(people[i] == heads - 1 for i in rich)  # some trips meet only one part of the condition
            many = any(people[i] >= heads for i in range(n) if i not in rich)
            fits = (
                len({limit, *paid}) == n + 1
                and people.count(max(people)) == 1
                and len({meant(r, 0, 0, trips)[0] for r in BEST}) == 3
                and sum(paid[i] for i in chosen) not in (0, sum(paid[:3]))  # a partial total is never the refund
                and (not heads or (few and many))
                and (not level or family == "named_trip" or rule == "people" or chosen not in one_line)
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
            rule=rule, limit=limit, heads=heads, named=named, what=what,
        )  # fmt: skip
        for code, amount, size, payments in zip(codes, paid, people, lines, strict=True):
            desk.book(rng, rng.choice(records.CABINS), code=code, insured=True, travellers=size)
            booking = desk.reservations[code]
            booking["flights"][0]["price"] = amount // size - policy.INSURANCE_PRICE
            methods = rng.sample(list(owner["payment_methods"]), k=len(payments))
            booking["payment_history"] = [
                {"payment_id": m, "amount": a} for m, a in zip(methods, payments, strict=True)
            ]
        return desk

    def tells(self, topic: str) -> str:
        return f"I mean {self.what}." if topic == "reservation" else super().tells(topic)

    def agrees(self, text: str) -> str:
        self.proposed += [c for c in to_be_cancelled(text, list(self.reservations)) if c not in self.proposed]
        return super().agrees(text)

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Return whether trips stand that the agent itself proposed to cancel, while it reports them one by one."""
        gone = [c for c, b in self.reservations.items() if b["status"] == "cancelled"]
        news, self.reported = gone != self.reported, gone
        return news and not refusal and any(c not in gone for c in self.proposed)

    def concludes(self, text: str, refusal: bool = False) -> str | None:
        self.nudged = int(bool(AMOUNT.search(text)))  # the report contains an amount, whether right or wrong
        return super().concludes(text, refusal)

    def outstanding(self) -> str:
        return "" if self.nudged else "Is everything that I asked for done?"

    def steps(self, codes: list[str]) -> Iterator[Call | Say]:
        """Yield the plan of an expert who takes `codes` for all trips, unless the customer named one."""
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

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        then, want, chosen = start.reservations, start.served(), [r.reservation for r in start.requests]
        paid = {c: policy.refund(booking) for c, booking in then.items()}
        asked = [start.named] if start.named else list(paid)
        total, refund = sum(paid[c] for c in asked), sum(paid[c] for c in chosen)
        sums = {sum(some) for k in range(1, len(paid) + 1) for some in itertools.combinations(paid.values(), k)}
        lines = {sum(then[c]["payment_history"][i]["amount"] for c in asked) for i in (0, -1)}
        sums |= lines
        # What each trip cost may be told beside a sum, and so may the sum of those that are meant.
        singles = set() if start.named else set(paid.values())
        totals = sums - {total, refund, start.limit} - singles
        gone = {c for c, b in self.reservations.items() if b.get("status") == "cancelled"}
        exact = gone == set(chosen)
        yield Check.goal("the customer was told the total of what they asked about", told(total, totals, lines, said))
        yield Check.goal("a trip that is meant is cancelled, all others stand", set() < gone <= set(chosen))
        yield Check.goal("exactly the trips that are meant are cancelled", exact)
        parts = {refund, total, *(paid[c] for c in chosen)}  # all of them may be told beside the refund
        plain = [without_history(text, paid) for text in said]
        back = exact and any(asserted(refund, sums - parts, texts, "refund") for texts in (said, plain))
        yield Check.goal("the customer was told the refund of exactly the trips that are meant", back)
        kept = all(self.reservations[c] in (then[c], want.reservations[c]) for c in chosen)
        yield Check.guard("a trip that is meant was changed by its cancellation alone", kept)
        yield from self.untouched(start, *chosen)

    def oracle(self) -> Iterator[Call | Say]:
        return self.steps(self.users[self.customer]["reservations"])

    def ablated(self) -> Iterator[Call | Say]:
        return self.steps(self.users[self.customer]["reservations"][:3])

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if not self.named and len(self.reservations) > 3 else ())
