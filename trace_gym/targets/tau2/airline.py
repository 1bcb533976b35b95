"""The airline desk: its tools, its customer's answers, and its rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from trace_gym.targets.constants import filled, frozen
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.desk import PRECONDITION, SKILLS, Desk
from trace_gym.targets.tau2.requests import Bags, Cancel, Paid, Request, Swap, Upgrade
from trace_gym.targets.tau2.tools import AirlineTools
from trace_gym.world import Call, Random, Say

__all__ = ["SKILLS", "AirlineDesk", "Bags", "Cancel", "Request", "Swap", "Upgrade", "records"]

REASONS = frozen(
    {
        "change of plans": "My plans have changed.",
        "health": "I am ill.",
        "weather": "The weather is too bad.",
        "airline": "The airline cancelled the flight.",
    }
)


@dataclass(kw_only=True)
class AirlineDesk(Desk[Request], AirlineTools):
    """Base world of every tau2 airline environment.

    In the opening, ``{user}`` stands for the customer's id.
    """

    questions: ClassVar[Mapping[str, re.Pattern[str]]] = frozen(
        {
            "user_id": re.compile(r"\b(user|customer) id\b"),
            "reason": re.compile(r"\b(reason|why)\b"),
            "reservation": re.compile(r"\b(reservation|booking) (id|number|code)\b|\bwhich reservation"),
            "payment": re.compile(r"\b(payment|pay|charge|card|method)\b"),
        }
    )
    guarded: ClassVar[Mapping[str, str]] = frozen({"reservations": "reservation", "users": "profile"})

    def opening(self) -> str:
        return filled(self.wording, user=self.customer)

    def tells(self, topic: str) -> str:
        match topic:
            case "user_id":
                return f"My customer id is {self.customer}."
            case "reservation":
                return f"It is {', '.join(r.record for r in self.requests)}."
            case "reason":
                reasons = dict.fromkeys(REASONS[r.reason] for r in self.requests if isinstance(r, Cancel))
                return " ".join(reasons)
            case "payment":
                named = [r.named for r in self.requests if isinstance(r, Paid) and r.named]
                return f"Please use {named[0]}." if named else "Use what I paid with."
        return ""

    def book(
        self, rng: Random, cabin: str, *, code: str = "", number: str = "", created: str = "", insured: bool = False,
        travellers: int = 1, paid_with: str | None = None,
    ) -> str:  # fmt: skip
        """Give the customer a reservation on a new direct flight that can still be booked, and return its id.

        What is not given is drawn: code and flight number that are not in use, and a booking some days ago.
        """
        code = code or rng.choice([c for c in records.CODES if c not in self.reservations])
        number = number or rng.choice([n for n in records.FLIGHT_NUMBERS if n not in self.flights])
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        plan = self.flights[number] = records.flight(rng, number, origin, destination, rng.randrange(6, 19))
        on = records.day(rng.randrange(2, 14))
        plan["dates"][on] = records.available(rng)
        created = created or f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}"
        self.reservations[code] = records.reservation(
            rng, code, self.users[self.customer], [(plan, on)], cabin=cabin, created=created, insured=insured,
            travellers=travellers, paid_with=paid_with,
        )  # fmt: skip
        return code

    def broken(self, write: Call) -> list[str]:
        """The rules that a write would break; a cancellation has its customer's reason."""
        booking = write.arguments.get("reservation_id")
        reasons = (r.reason for r in self.requests if isinstance(r, Cancel) and r.reservation == booking)
        return policy.violations(self, write.tool, write.arguments, next(reasons, "change of plans"))

    def begins(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        if "reason" in self.withheld and PRECONDITION in skills:
            yield Say("What is the reason for the cancellation?")
