"""Call the retail tools with exactly the right arguments.

An agent that calls the right tool may still pass the payment method of the order instead of the one
that the customer names, or the first of two items of the same product instead of the requested one.
The final state then differs from the correct one in a single id, which is a failure on the target.
The profile contains several payment methods, and the requested method is drawn from all that the
rules allow, so neither using nor avoiding the method of the order helps. Each of two similar items
is requested equally often. The lookups and the writes are those of the target.

Levels:
    0. The payment method is named by its kind.
    1. Several payment methods of the same kind. The card is named by its last four digits.
    2. Of two items of the same product, the customer requests one and names an option of it.
    3. Two such pairs in one order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2.retail import SKILLS, ChangePayment, ExchangeItems, Request, RetailDesk, Return, records
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "{who} Please {part}.",
    "Hello, I would like you to {part}. {who}",
    "Can you {part}? {who}",
)
METHODS = (  # per level: the kinds of stored methods, in any order
    ("credit_card", "gift_card", "paypal"),
    ("credit_card", "credit_card", "gift_card", "paypal"),
    ("credit_card", "credit_card", "gift_card", "paypal"),
    ("credit_card", "credit_card", "gift_card", "paypal"),
)
ASKS = (  # per level: kinds of requests
    ("repay", "return", "swap"),
    ("repay", "return", "swap"),
    ("repay", "return", "return", "swap"),
    ("return", "return", "swap"),
)


@dataclass(kw_only=True)
class Tau2RetailToolPrecision(RetailDesk):
    """Call the retail tools with exactly the right arguments."""

    id = "tau2_retail_tool_precision"
    capability = "tool_precision"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        kinds = METHODS[level]
        me = records.user(rng, rng.sample(kinds, k=len(kinds)))
        world = cls(users={me["user_id"]: me}, customer=me["user_id"], known_by=rng.choice(("email", "name")))
        world.requests = [world.request(rng, rng.choice(ASKS[level]), twins=level > 1, several=level > 2)]
        part = world.requests[0].asked(world)
        world.wording = rng.choice(OPENINGS).format(who="{who}", part=part)
        return world

    def request(self, rng: Random, ask: str, twins: bool, several: bool) -> Request:
        """Return a request. The payment method is drawn from all that the rules allow.

        Args:
            twins: Whether the order contains two variants of a product, of which the customer means one.
            several: Whether the request is about two products.
        """
        me = self.users[self.customer]
        methods = list(me["payment_methods"].values())
        paid = rng.choice([m for m in methods if ask != "return" or m["source"] != "gift_card"])
        pairs = [self.pair(rng, twins and ask != "swap") for _ in range(1 + several)]
        items = [item for pair in pairs for item in pair]
        status = {"repay": "pending", "return": "delivered"}.get(ask, rng.choice(("pending", "delivered")))
        order = self.ordered(rng, me, status, rng.sample(items, k=len(items)), paid["id"])
        code = order["order_id"]
        if ask == "repay":
            meant = rng.choice([m for m in methods if m is not paid])
            return ChangePayment(code, meant["id"], self.named(meant))
        if ask == "return":
            meant = rng.choice([m for m in methods if m is paid or m["source"] == "gift_card"])
            chosen = [rng.choice(pair)["item_id"] for pair in pairs]
            return Return(code, meant["id"], self.named(meant), items=chosen)
        meant = rng.choice(methods)
        return ExchangeItems(code, meant["id"], self.named(meant), items=[items[0]["item_id"]])

    def pair(self, rng: Random, twins: bool) -> list[dict[str, Any]]:
        """Add a product with two variants, and return one of them or both as items of an order."""
        stocked = {p["name"] for p in self.products.values()}
        product = self.stock(rng, rng.choice([n for n in records.PRODUCTS if n not in stocked]), 2)
        return [records.item(product, v) for v in rng.sample(list(product["variants"]), k=1 + twins)]

    def named(self, method: dict[str, Any]) -> str:
        """Return the customer's name for a payment method, with its last digits if there are two of its kind."""
        kinds = [m["source"] for m in self.users[self.customer]["payment_methods"].values()]
        alone = kinds.count(method["source"]) == 1
        return f"my {method['source'].replace('_', ' ')}" + ("" if alone else f" ending in {method['last_four']}")

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
