"""Serve the mixed requests of the airline domain, as in tau2-bench airline.

This environment stands in for tau2-bench airline. Agents are diagnosed and evaluated on it. Its
tasks combine the skills that the other airline environments train separately, in other wordings: a
single task may require a check, several parts, a choice among records and an exact payment. Success
is binary and depends on the final state and the communicated facts. The seeds for selection,
validation and testing are disjoint. Some tasks need none of the capabilities.

Levels:
    0. Dense: most tasks need one capability, some need two or none.
    1. Sparse: every task needs several capabilities at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.tau2.airline import REASONS, SKILLS, AirlineDesk, Cancel, ChangeFlights, Upgrade, records
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "Good day, {user} here. Could you {parts}?",
    "This is {user}. I would like you to {parts}.",
    "Can you help me? I have to {parts}. You find me as {user}.",
)
FAMILIES: tuple[dict[str, int], ...] = (  # per level: kinds of task and their weights
    {"plain": 5, "allow": 10, "check": 14, "list": 22, "choose": 17, "pay": 22, "check_list": 10},
    {"check_list": 50, "list_pay": 25, "check_pay": 25},
)
OPEN, SHUT = True, False
"""Whether the rules allow a cancellation."""


@dataclass(kw_only=True)
class Tau2AirlineDesk(AirlineDesk):
    """Serve the mixed requests of the airline domain, as in tau2-bench airline."""

    id = "tau2_airline_desk"
    capability = ""
    levels = range(2)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(list(FAMILIES[level]), list(FAMILIES[level].values()))[0]
        methods = rng.choice((("credit_card", "gift_card"), ("gift_card", "credit_card")))
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), methods)
        world = cls(users={owner["user_id"]: owner}, customer=owner["user_id"])
        match family:
            case "plain":
                parts = [world.upgrade(rng, named=False)]
            case "allow":
                parts = [world.drop(rng, OPEN)]
            case "check":
                parts = [world.drop(rng, SHUT)]
            case "list":
                parts = [world.drop(rng, OPEN) for _ in range(rng.choice((2, 3)))]
            case "choose":
                parts = [world.rebook(rng)]
            case "pay":
                parts = [world.upgrade(rng)]
            case "check_list":
                parts = [world.drop(rng, OPEN), world.drop(rng, SHUT)]
                rng.shuffle(parts)
            case "list_pay":
                parts = [world.drop(rng, OPEN), world.upgrade(rng)]
            case _:  # check_pay
                parts = [world.drop(rng, SHUT), world.upgrade(rng)]
        world.wording = rng.choice(OPENINGS).format(user="{user}", parts=" and ".join(parts))
        return world

    def drop(self, rng: Random, allowed: bool) -> str:
        """Add a request to cancel a reservation, and return its wording."""
        old = f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}"
        reason, insured, created = "change of plans", False, old
        cabin = rng.choice(("basic_economy", "economy"))
        match rng.randrange(3):
            case 0 if allowed:
                cabin = "business"
            case 1 if allowed:
                created = f"{records.TODAY}T{rng.choice(records.CLOCK[:5])}"
            case 2:
                reason, insured = rng.choice(("health", "weather")), allowed
            case _:
                cabin = "business" if allowed else cabin
        code = self.book(rng, cabin, created=created, insured=insured)
        self.requests.append(Cancel(code, reason=reason))
        return f"drop my trip {code}" + (f" ({REASONS[reason]})" if reason != "change of plans" else "")

    def upgrade(self, rng: Random, named: bool = True) -> str:
        """Add a request for business class, charged to a named or the original payment method; return its wording."""
        created = f"{records.day(-3)}T{rng.choice(records.CLOCK)}"
        code = self.book(rng, rng.choice(("basic_economy", "economy")), created=created)
        methods = self.users[self.customer]["payment_methods"]
        paid = self.reservations[code]["payment_history"][0]["payment_id"]
        if not named:
            self.requests.append(Upgrade(code, paid))
            return f"put {code} into business class on what I paid with"
        meant = paid if rng.random() < 1 / 3 else next(m for m in methods if m != paid)
        name = f"my {methods[meant]['source'].replace('_', ' ')}"
        self.requests.append(Upgrade(code, meant, name))
        return f"put {code} into business class on {name}"

    def rebook(self, rng: Random) -> str:
        """Add a request for the cheapest flight on another day, and return its wording."""
        cabin = rng.choice(("economy", "business"))
        code = self.book(rng, cabin, created=f"{records.day(-4)}T{rng.choice(records.CLOCK)}")
        booking = self.reservations[code]
        leg = booking["flights"][0]
        date = next(d for n in range(3, 17) if (d := records.day(n)) > leg["date"])
        free = [n for n in records.FLIGHT_NUMBERS if n not in self.flights]
        fares = zip(rng.sample(records.FARES[12:40], k=2), rng.sample(records.FARES[42:], k=2), strict=True)
        for number, hour, fare in zip(rng.sample(free, k=2), rng.sample(range(6, 20), k=2), fares, strict=True):
            plan = self.flights[number] = records.flight(rng, number, leg["origin"], leg["destination"], hour)
            plan["dates"][date] = records.available(rng, *fare)
        method = booking["payment_history"][0]["payment_id"]
        self.requests.append(ChangeFlights(code, method=method, date=date))
        return f"find me the cheapest flight on {date} for {code}, same cabin and payment"

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(frozenset())
