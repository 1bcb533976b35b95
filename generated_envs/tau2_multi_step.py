"""Carry out every part of a request, not only the first.

A customer asks for several things in one message, and an agent that closes the conversation after
the first of them fails the task although each write was right. Here every part is simple and, up to
the third level, allowed, so that what is left to learn is to keep the list and to finish it. The
last level puts a part in the way that must be refused, after which the rest still has to be done.
Tools, records and the customer's manner are those of the target, where compound requests are the
rule.

Levels:
    0. Two cancellations.
    1. Three cancellations.
    2. Three parts, cancellations and upgrades mixed.
    3. Four parts, one of which the rules forbid.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Cancel, Request, Upgrade, records
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "I am {user}. Please {parts}.",
    "Hello, my customer id is {user}. I need you to {parts}.",
    "There are a few things to do: {parts}. My id is {user}.",
)
PARTS = (2, 3, 3, 4)


@dataclass(kw_only=True)
class Tau2MultiStep(AirlineDesk):
    """Carry out every part of a request, not only the first."""

    id = "tau2_multi_step"
    capability = "multi_step_completion"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        world = cls(users={owner["user_id"]: owner}, customer=owner["user_id"])
        codes = rng.sample(records.CODES, k=PARTS[level])
        forbidden = rng.choice(codes) if level > 2 else ""
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=len(codes))
        for code, number in zip(codes, numbers, strict=True):
            upgrade = level > 1 and code != forbidden and rng.random() < 0.4
            cabin = "economy" if upgrade or code == forbidden else "business"
            world.book(rng, cabin, code=code, number=number)
            world.requests.append(Upgrade(code, method=world.paid(code)) if upgrade else Cancel(code))
        world.wording = rng.choice(OPENINGS).format(user="{user}", parts=listed(world.requests))
        return world

    def paid(self, code: str) -> str:
        """The method that paid for a reservation."""
        return str(self.reservations[code]["payment_history"][0]["payment_id"])

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})


def listed(requests: list[Request]) -> str:
    """The parts as the customer strings them together."""
    words = [
        f"upgrade {r.reservation} to business" if isinstance(r, Upgrade) else f"cancel {r.reservation}"
        for r in requests
    ]
    return ", ".join(words[:-1]) + " and " + words[-1]
