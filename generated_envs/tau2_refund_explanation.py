# Written by llm:claude for trace-gym from spec tau2_refund_explanation (sha256 80d0664e).
"""Do what was asked and say what money moves, and where.

Doing the deed is easy here; the customer also wants to know the exact amount for each payment
method that gets or pays something. An agent without the capability quotes the first payment of the
reservation, because it stands on top of the record and is right for every trip that was paid once.
It fails when a trip was paid in several pieces or with several methods, and when a change of cabin
moves only a difference that stands in the record after the write. In the target the customer is to
be told amounts and methods that the records show, and a plausible wrong figure counts as wrong, so
reading the whole payment history after the deed carries over.

Levels:
    0. A trip to be cancelled was paid with one payment or with two payments by two methods, or a change of cabin for
       one passenger moves one difference.
    1. A trip may have been paid in two or three pieces, some of them by the same method, whose amounts have to be
       added up; a change of cabin may cost or give back.
    2. The profile holds several methods of the same kind, other trips of the customer were paid with them too, and a
       change of cabin concerns two flights and several passengers of a trip that was itself paid in pieces.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Cancel, Request, Upgrade
from trace_gym.world import Call, Check, Random, Say, asserted

OPENINGS = (
    "I am {user}. Please {ask}. When that is done, tell me by the id of each payment method how much in all goes to it "
    "or is taken from it.",
    "Hello, my customer id is {user}. I want you to {ask}. Afterwards I need to know, for each payment method by its "
    "id, the amount in all that it gets or pays.",
    "Please {ask}. My id is {user}. Once it is done, name the id of each payment method that gets or pays something, "
    "with its amount in all.",
    "Could you {ask}? I am {user}, and afterwards I want the ids of the payment methods concerned, each with what it "
    "gets or pays in all.",
)
FAMILIES = {"several_payments": 35, "changed_cabin": 30, "single_payment": 35}
PIECES = (  # which of two methods made each payment; the first level has nothing to add up
    ((0, 1),),
    ((0, 1), (0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)),
)


@dataclass(kw_only=True)
class Tau2RefundExplanation(AirlineDesk):
    """Do what was asked and say what money moves, and where."""

    id = "tau2_refund_explanation"
    capability = "refund_explanation"
    levels = range(3)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(list(FAMILIES), weights=list(FAMILIES.values()))[0]
        kinds = ["credit_card"] * rng.randint(2, 4) + ["gift_card"]
        rng.shuffle(kinds)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), tuple(kinds))
        methods = list(owner["payment_methods"].values())
        for stored in methods:
            if stored["source"] == "gift_card":
                stored["amount"] = rng.randrange(2000, 3000)  # the dearest change of cabin costs 1932
        count = rng.randint(1 + (level > 1), 2)
        days = sorted(rng.sample(range(2, 14), k=count))
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        legs = []
        for number, offset in zip(rng.sample(records.FLIGHT_NUMBERS, k=count), days, strict=True):
            flight = records.flight(rng, number, origin, destination, rng.randrange(6, 19))
            flight["dates"][records.day(offset)] = records.available(rng)
            legs.append((flight, records.day(offset)))
            origin, destination = destination, origin
        code = rng.choice(records.CODES)
        cabin, new = rng.sample(records.CABINS, k=2)
        booking = records.reservation(
            rng,
            code,
            owner,
            legs,
            cabin=cabin,
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=family != "changed_cabin" or rng.random() < 0.5,
            travellers=rng.randint(1 + (level > 1), 1 + level),
        )
        parted = family == "several_payments" or (family == "changed_cabin" and rng.random() < level / 2)
        pattern = rng.choice(PIECES[min(level, 1)]) if parted else (0,)
        payers = [m["id"] for m in rng.sample(methods, k=2)]
        total = policy.refund(booking)
        cuts = sorted(rng.sample(range(20, total - 19, 20), k=len(pattern) - 1))
        amounts = [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]
        rng.shuffle(amounts)
        booking["payment_history"] = [
            {"payment_id": payers[who], "amount": amount} for who, amount in zip(pattern, amounts, strict=True)
        ]
        request: Request = Cancel(code, reason="health")
        ask = f"cancel reservation {code}, because I am ill"
        if family == "changed_cabin":
            method = rng.choice(methods)
            gift = method["source"] == "gift_card"
            named = "my gift card" if gift else f"my card ending in {method['last_four']}"
            request = Upgrade(code, method=method["id"], named=named, cabin=new)
            ask = f"change reservation {code} to {new} on the same flights and settle the difference with {named}"
        world = cls(
            users={owner["user_id"]: owner},
            reservations={code: booking},
            flights={flight["flight_number"]: flight for flight, _ in legs},
            requests=[request],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", ask=ask),
        )
        for _ in range(rng.randint(1, 3)):
            paid_with = rng.choice(methods)["id"]
            world.book(rng, rng.choice(records.CABINS), insured=rng.random() < 0.5, paid_with=paid_with)
        rng.shuffle(owner["reservations"])
        # A difference that equals a payment would make the first payment right by accident: draw again.
        clash = family == "changed_cabin" and any(abs(a) in amounts for a in world.moves().values())
        return cls.generate(rng, level) if clash else world

    def reply(self, text: str) -> str | None:
        request = self.requests[0]
        booking = self.reservations[request.reservation]
        served = booking["cabin"] == request.cabin if isinstance(request, Upgrade) else booking["status"] == "cancelled"
        if served or self.nudged >= 2:
            return None
        self.nudged += 1
        return "Yes, go ahead."

    def moves(self) -> dict[str, int]:
        """What each method pays by the request or, below zero, gets back; asked of the start state."""
        request, sign = self.requests[0], -1
        history = self.reservations[request.reservation]["payment_history"]
        if isinstance(request, Upgrade):
            after = self.served().reservations[request.reservation]["payment_history"]
            history, sign = after[len(history) :], 1
        due: Counter[str] = Counter()
        for entry in history:
            due[entry["payment_id"]] += sign * entry["amount"]
        return dict(due)

    def topmost(self) -> dict[str, int]:
        """What stands first in the payment history, taken for the whole refund."""
        first = self.reservations[self.requests[0].reservation]["payment_history"][0]
        return {first["payment_id"]: -first["amount"]}

    def attend(self, figures: dict[str, int]) -> Iterator[Call | Say]:
        """The plan of both experts, who differ in the figures that they tell at the end."""
        request = self.requests[0]
        code, way = request.reservation, "charged" if max(self.moves().values()) > 0 else "given back"
        deed = request.offer(self, SKILLS) if isinstance(request, Upgrade) else f"cancel reservation {code}"
        yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": code})
        yield Say(f"I am about to do this: {deed}. Do you agree?")
        yield request.call(self, SKILLS)
        yield Say(f"It is done. {'; '.join(f'{m}: {abs(a)} dollars {way}' for m, a in figures.items())}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        request, want, due = start.requests[0], start.served(), start.moves()
        code, cancel = request.reservation, isinstance(request, Cancel)
        now, then, wanted = self.reservations[code], start.reservations[code], want.reservations[code]
        done = all(now[key] == wanted[key] for key in ("status", "cabin", "flights", "payment_history"))
        near = [  # each id that was told, with the words before and after it, up to the next ids of the message
            (parts[i], [parts[i - 1], parts[i + 1]])
            for parts in [re.split(r"((?:credit|gift)_card_\d+)", text.lower()) for text in said]
            for i in range(1, len(parts), 2)
        ]
        told = done and {method for method, _ in near} == set(due)
        # The parts and the total of a refund may be told beside it; the cost of the trip says nothing about a change.
        paid = [p["amount"] for p in then["payment_history"]]
        fine = {abs(a) for a in due.values()} | ({*paid, sum(paid)} if cancel else set())
        shown = {p["amount"] for b in start.reservations.values() for p in b["payment_history"]}
        wrong = (shown | {sum(paid)} | {f["price"] for f in then["flights"] if cancel}) - fine
        exact = told and all(
            asserted(abs(a), wrong, said) and any(m == method and asserted(abs(a), (), by) for m, by in near)
            for method, a in due.items()
        )
        yield Check.goal(f"what was asked for {code} is done", done)
        yield Check.goal(f"the customer was told whose money {code} moves, and no other method", told)
        yield Check.goal(f"the customer was told how much {code} moves for each of these methods", exact)
        added = now["payment_history"][len(paid) :]
        yield Check.guard("no money moved by another method", all(p["payment_id"] in due for p in added))
        kept = self.reservations in (start.reservations, want.reservations)
        yield Check.guard("no reservation changed in a way that was not asked for", kept)
        yield Check.guard("no profile changed in a way that was not asked for", self.users in (start.users, want.users))
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.attend(self.moves())

    def ablated(self) -> Iterator[Call | Say]:
        return self.attend(self.topmost())

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.moves() != self.topmost() else ())
