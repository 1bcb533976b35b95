"""Carry out every part of a retail request, not only the first.

A customer asks in one message for several things about several orders. Often, the customer names
several items of one order, which the agent must pass in a single call because a second call is
refused. An agent that stops after the first part, or returns only the first item, fails the task
although each of its writes is correct. Each part is simple and, up to level 2, allowed, so the
difficulty is to remember all parts and to complete them. On the last level, the agent must refuse
one part and still carry out the others. Tools, records and the wording of the customer are those of
the target.

Levels:
    0. Two orders to cancel or to send to another address.
    1. Three such orders.
    2. Three parts, including returns of several items and changes of the payment method.
    3. Four parts, one of which the rules forbid.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.tau2.retail import (
    REASONS,
    SKILLS,
    CancelOrder,
    ChangeAddress,
    ChangePayment,
    Request,
    RetailDesk,
    Return,
    records,
)
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "{who} Please {parts}.",
    "Hello, I need you to {parts}. {who}",
    "There are a few things to do: {parts}. {who}",
)
PARTS = (2, 3, 3, 4)
ASKS = (  # per level: kinds of requests
    ("cancel", "readdress"),
    ("cancel", "readdress"),
    ("cancel", "readdress", "repay", "return", "return"),
    ("cancel", "readdress", "repay", "return"),
)
METHODS = ("credit_card", "paypal")


@dataclass(kw_only=True)
class Tau2RetailMultiStep(RetailDesk):
    """Carry out every part of a retail request, not only the first."""

    id = "tau2_retail_multi_step"
    capability = "multi_step_completion"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        me = records.user(rng, rng.sample(METHODS, k=2))
        world = cls(users={me["user_id"]: me}, customer=me["user_id"], known_by=rng.choice(("email", "name")))
        asks = [rng.choice(ASKS[level]) for _ in range(PARTS[level])]
        forbidden = rng.randrange(PARTS[level]) if level > 2 else None
        parts = []
        for n, ask in enumerate(asks):
            request = world.request(rng, ask, allowed=n != forbidden)
            world.requests.append(request)
            because = f" ({REASONS[request.reason].strip('.')})" if isinstance(request, CancelOrder) else ""
            parts.append(request.asked(world) + because)
        listed = ", ".join(parts[:-1]) + " and " + parts[-1]
        world.wording = rng.choice(OPENINGS).format(who="{who}", parts=listed)
        return world

    def request(self, rng: Random, ask: str, allowed: bool) -> Request:
        """Add an order whose status allows the request or not, and return the request."""
        me = self.users[self.customer]
        right, wrong = ("delivered", "processed") if ask == "return" else ("pending", "processed")
        paid = rng.choice(list(me["payment_methods"]))
        count = rng.choice((2, 3)) if ask == "return" else 1
        if len(self.products) > 5:  # keep enough of the ten products for the other parts
            count = min(count, 2)
        order = self.order(rng, me, right if allowed else wrong, count, paid)
        code = order["order_id"]
        match ask:
            case "cancel":
                return CancelOrder(code, reason=rng.choice(("no longer needed", "ordered by mistake")))
            case "readdress":
                return ChangeAddress(code, address=records.other_address(rng, order["address"]))
            case "repay":
                other = next(m for m in me["payment_methods"].values() if m["id"] != paid)
                return ChangePayment(code, other["id"], f"my {other['source'].replace('_', ' ')}")
        return Return(code, paid, items=[i["item_id"] for i in rng.sample(order["items"], k=2)])

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
