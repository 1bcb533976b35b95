"""Find the variant that fits best among those of a product.

A product of the shop is a table of variants, each with several options, a price, and whether it can
be had. The customer wants another variant of what was ordered: the cheapest that has what is
wished. The wish strikes out variants, so does what is sold out, and the cheapest of what is left is
the only right answer. Its place in the table is random, and the ordered variant stands among the
others. Whether items are modified or exchanged follows from the status of the order. Reading such
tables exactly is what most tasks of the target turn on.

Levels:
    0. Two other variants; the price decides.
    1. Three others, and sometimes another item in the order.
    2. Four others, some of which lack what is wished.
    3. Six others, some of which lack what is wished; the cheapest that fit are often sold out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2.retail import SKILLS, RetailDesk, Swap, records
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "{who} Please {part}.",
    "Hello, I would like you to {part}. {who}",
    "Can you {part}? {who}",
)
VARIANTS = (2, 3, 4, 6)
"""Variants of the product besides the one that was ordered."""
FIT = (0, 0, 2, 3)
"""How many of them at least have what is wished; with 0 nothing is wished."""
SOLD_OUT = (0, 1, 1, 2)
"""How many of the cheapest that fit are sold out; it differs, so that no place by price is always right."""


@dataclass(kw_only=True)
class Tau2RetailStructuredData(RetailDesk):
    """Find the variant that fits best among those of a product."""

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
        if level > 2:  # the cheapest that fit may be sold out
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
        world.requests = [Swap(order["order_id"], paid, items=[item], wish=wish)]
        part = world.requests[0].asked(world)
        world.wording = rng.choice(OPENINGS).format(who="{who}", part=part)
        return world

    def wishes(self, rng: Random, name: str, others: int, fit: int) -> list[tuple[str, dict[str, str]]]:
        """Put a product on sale; what may have been ordered, with a wish that enough others meet, not all."""
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
