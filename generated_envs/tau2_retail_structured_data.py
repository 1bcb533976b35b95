"""Find the cheapest variant of a product that satisfies the customer's wish.

A product of the shop is a table of variants, each with several options, a price and its
availability. The customer wants to replace an ordered item by the cheapest available variant that
has the requested options. Exactly one variant is correct. Its position in the table is random, and
the table also contains the ordered variant. The status of the order determines whether the agent
modifies or exchanges the item. Most tasks of the target require reading such tables exactly.

Levels:
    0. Two other variants. The price decides.
    1. Three other variants, and sometimes another item in the order.
    2. Four other variants, some without the requested options.
    3. Six other variants, some without the requested options. The cheapest suitable ones are often sold out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2.retail import SKILLS, ExchangeItems, RetailDesk, records
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "{who} Please {part}.",
    "Hello, I would like you to {part}. {who}",
    "Can you {part}? {who}",
)
VARIANTS = (2, 3, 4, 6)
"""Number of variants of the product other than the ordered one, per level."""
FIT = (0, 0, 2, 3)
"""Minimum number of these variants that satisfy the wish, per level; 0 if there is no wish."""
SOLD_OUT = (0, 1, 1, 2)
"""Numbers of the cheapest suitable variants that are sold out. They differ, so that no price rank is always correct."""


@dataclass(kw_only=True)
class Tau2RetailStructuredData(RetailDesk):
    """Find the cheapest variant of a product that satisfies the customer's wish."""

    id = "tau2_retail_structured_data"
    capability = "structured_data_reasoning"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        me = records.user(rng, rng.sample(("credit_card", "gift_card", "paypal"), k=2))
        world = cls(users={me["user_id"]: me}, customer=me["user_id"], known_by=rng.choice(("email", "name")))
        name = rng.choice(list(records.PRODUCTS))
        while not (wishes := world.wishes(rng, name, VARIANTS[level], FIT[level])):
            pass
        item, wish = rng.choice(wishes)
        [product] = world.products.values()
        if level > 2:  # the cheapest suitable variants may be sold out
            others = [v for v in product["variants"].values() if v["item_id"] != item]
            fit = [v for v in others if wish.items() <= v["options"].items()]
            for variant in sorted(fit, key=lambda v: v["price"])[: rng.choice(SOLD_OUT)]:
                variant["available"] = False
        items = [records.item(product, item)]
        if level > 0 and rng.random() < 0.5:
            other = world.stock(rng, rng.choice([n for n in records.PRODUCTS if n != name]))
            items.insert(rng.randrange(2), records.item(other, rng.choice(list(other["variants"]))))
        paid = rng.choice(list(me["payment_methods"]))
        order = world.ordered(rng, me, rng.choice(("pending", "delivered")), items, paid)
        world.requests = [ExchangeItems(order["order_id"], paid, items=[item], wish=wish)]
        part = world.requests[0].asked(world)
        world.wording = rng.choice(OPENINGS).format(who="{who}", part=part)
        return world

    def wishes(self, rng: Random, name: str, others: int, fit: int) -> list[tuple[str, dict[str, str]]]:
        """Add a product, and return its variants, each with a wish that some of the other variants satisfy."""
        variants: list[dict[str, Any]] = list(self.stock(rng, name, others + 1)["variants"].values())
        if not fit:
            return [(v["item_id"], {}) for v in variants]
        found = []
        for ordered in variants:
            rest = [v["options"] for v in variants if v is not ordered]
            pairs = dict.fromkeys(pair for options in rest for pair in options.items())
            meeting = {pair: sum(pair in options.items() for options in rest) for pair in pairs}
            found += [(ordered["item_id"], dict([pair])) for pair, n in meeting.items() if fit <= n < others]
        return found

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
