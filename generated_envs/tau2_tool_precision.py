"""Call the right tool with exactly the right arguments.

An agent that finds the right tool may still pass the payment method that paid for the booking
instead of the one that the customer names, or charge for bags that are free. The state then differs
from the wanted one in a single field, which is a failed task at the target. The profile holds
several methods of which exactly one is meant; the one that the reservation shows is meant no more
often than the others, so neither copying nor avoiding it helps. The look-up and the write are the
target's own.

Levels:
    0. The method is named by its kind: one gift card or one credit card is meant.
    1. Several methods of a kind; the card is named by its last four digits.
    2. Bags besides upgrades: some are free, some are paid for.
    3. Several travellers, and certificates among the methods.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Bags, Upgrade, records
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "I am {user}. Please {part} and charge {named}.",
    "Hello, my customer id is {user}. I want you to {part}. Use {named} for it.",
)
METHODS = (  # per level: the kinds of stored methods, of which one is meant, whichever paid for the booking
    ("credit_card", "gift_card"),
    ("credit_card", "credit_card", "gift_card"),
    ("credit_card", "credit_card", "gift_card"),
    ("credit_card", "credit_card", "gift_card", "certificate"),
)


@dataclass(kw_only=True)
class Tau2ToolPrecision(AirlineDesk):
    """Call the right tool with exactly the right arguments."""

    id = "tau2_tool_precision"
    capability = "tool_precision"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), METHODS[level])
        methods = [m for m in owner["payment_methods"].values() if m["source"] != "certificate"]
        paid, meant = rng.choice(methods), rng.choice(methods)
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        plan = records.flight(rng, rng.choice(records.FLIGHT_NUMBERS), origin, destination, rng.randrange(6, 19))
        on = records.day(rng.randrange(2, 14))
        plan["dates"][on] = records.available(rng)
        code = rng.choice(records.CODES)
        booking = records.reservation(
            rng,
            code,
            owner,
            [(plan, on)],
            cabin=rng.choice(("basic_economy", "economy")),
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=False,
            travellers=rng.choice((1, 2, 3)) if level > 2 else 1,
            paid_with=paid["id"],
        )
        alone = sum(m["source"] == meant["source"] for m in methods) == 1
        named = f"my {meant['source'].replace('_', ' ')}" + ("" if alone else f" ending in {meant['last_four']}")
        if level > 1 and rng.random() < 0.5:
            bags = rng.randint(1, 4)
            request: Bags | Upgrade = Bags(code, meant["id"], named, extra=bags)
            part = f"add {bags} checked bags to {code}"
        else:
            request = Upgrade(code, meant["id"], named)
            part = f"upgrade {code} to business"
        return cls(
            users={owner["user_id"]: owner},
            reservations={code: booking},
            flights={plan["flight_number"]: plan},
            requests=[request],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", part=part, named=named),
        )

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
