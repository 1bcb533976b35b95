"""Serve the mixed requests of the retail domain, as in tau2-bench retail.

This environment stands in for tau2-bench retail. Agents are diagnosed and evaluated on it. Its
tasks combine the skills that the other retail environments train separately, in other wordings: a
single task may require a check, several parts, a choice among variants and an exact payment.
Success is binary and depends on the final state and the communicated facts. The seeds for
selection, validation and testing are disjoint. Some tasks need none of the capabilities.

Levels:
    0. Dense: most tasks need one capability, some need two or none.
    1. Sparse: every task needs several capabilities at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2.retail import (
    REASONS,
    SKILLS,
    CancelOrder,
    ChangeAddress,
    ChangePayment,
    ExchangeItems,
    RetailDesk,
    Return,
    address_line,
    records,
)
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "Good day. Could you {parts}? {who}",
    "{who} I want to {parts}.",
    "Can you help me? I have to {parts}. {who}",
)
FAMILIES: tuple[dict[str, int], ...] = (  # per level: kinds of task and their weights
    {"plain": 5, "allow": 10, "check": 17, "list": 13, "choose": 20, "pay": 25, "check_list": 10},
    {"check_list": 50, "list_pay": 25, "check_pay": 25},
)
OPEN, SHUT = True, False
"""Whether the rules allow a request."""


@dataclass(kw_only=True)
class Tau2RetailDesk(RetailDesk):
    """Serve the mixed requests of the retail domain, as in tau2-bench retail."""

    id = "tau2_retail_desk"
    capability = ""
    levels = range(2)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(list(FAMILIES[level]), list(FAMILIES[level].values()))[0]
        me = records.user(rng, rng.sample(("credit_card", "gift_card", "paypal"), k=3))
        stranger = records.user(rng, ("paypal", "credit_card"), [me])
        world = cls(
            users={u["user_id"]: u for u in rng.sample((me, stranger), k=2)},
            customer=me["user_id"],
            known_by=rng.choice(("email", "name")),
            withheld=("identity",) if rng.random() < 0.3 else (),
        )
        world.order(rng, stranger, rng.choice(("pending", "delivered")))
        some, pay = (world.redirect, world.drop), (world.return_item, world.change_payment)
        match family:
            case "plain":
                parts = [world.redirect(rng, OPEN)]
            case "allow":
                parts = [rng.choice(some)(rng, OPEN)]
            case "check":
                parts = [rng.choice(some)(rng, SHUT)]
            case "list":
                parts = [rng.choice(some)(rng, OPEN) for _ in range(rng.choice((2, 3)))]
            case "choose":
                parts = [world.exchange(rng)]
            case "pay":
                parts = [rng.choice(pay)(rng)]
            case "check_list":
                parts = [rng.choice(some)(rng, allowed) for allowed in rng.sample((OPEN, SHUT), k=2)]
            case "list_pay":
                parts = [rng.choice(some)(rng, OPEN), rng.choice(pay)(rng)]
            case _:  # check_pay
                parts = [rng.choice(some)(rng, SHUT), rng.choice(pay)(rng)]
        world.wording = rng.choice(OPENINGS).format(who="{who}", parts=" and ".join(parts))
        return world

    def drop(self, rng: Random, allowed: bool) -> str:
        """Add a request to cancel an order, and return its wording."""
        order, reason = self.pending(rng, allowed), rng.choice(("no longer needed", "ordered by mistake"))
        self.requests.append(CancelOrder(order["order_id"], reason=reason))
        return f"call off my order {order['order_id']} ({REASONS[reason].strip('.')})"

    def redirect(self, rng: Random, allowed: bool) -> str:
        """Add a request to send an order to another address, and return its wording."""
        code, home = self.pending(rng, allowed)["order_id"], self.users[self.customer]["address"]
        address = records.other_address(rng, home)
        self.requests.append(ChangeAddress(code, address=address))
        here, there = address_line(home), address_line(address)
        where = rng.choice((f"at {there} instead of {here}", f"not at {here} but at {there}"))
        return f"have {code} delivered {where}"

    def pending(self, rng: Random, allowed: bool) -> dict[str, Any]:
        """Add an order that may be changed, or an order with another status or owner that must not be changed."""
        me = self.users[self.customer]
        if allowed:
            return self.order(rng, me, "pending", rng.choice((1, 2)), self.card())
        if rng.random() < 0.5:
            stranger = next(u for u in self.users.values() if u is not me)
            return self.order(rng, stranger, "pending", rng.choice((1, 2)))
        return self.order(rng, me, rng.choice(("processed", "pending (item modified)")), 1, self.card())

    def return_item(self, rng: Random) -> str:
        """Add a request to return an item for a refund to a named payment method, and return its wording."""
        order = self.order(rng, self.users[self.customer], "delivered", rng.choice((1, 2)), self.card())
        meant = rng.choice((self.card(), self.card("gift_card")))
        item = rng.choice(order["items"])
        self.requests.append(Return(order["order_id"], meant, self.named(meant), items=[item["item_id"]]))
        return f"return the {item['name']} from {order['order_id']}, with the money on {self.named(meant)}"

    def change_payment(self, rng: Random) -> str:
        """Add a request to charge an order to another payment method, and return its wording."""
        order = self.order(rng, self.users[self.customer], "pending", 1, self.card())
        meant = self.card(rng.choice(("gift_card", "paypal")))
        self.requests.append(ChangePayment(order["order_id"], meant, self.named(meant)))
        return f"put the payment for {order['order_id']} on {self.named(meant)}"

    def exchange(self, rng: Random) -> str:
        """Add a request for the cheapest other variant of an item, and return its wording."""
        status = rng.choice(("pending", "delivered"))
        order = self.order(rng, self.users[self.customer], status, rng.choice((1, 2)), self.card())
        item = rng.choice(order["items"])
        self.requests.append(ExchangeItems(order["order_id"], self.card(), items=[item["item_id"]]))
        return f"swap the {item['name']} in {order['order_id']} for the cheapest other version, same payment"

    def card(self, kind: str = "credit_card") -> str:
        """Return the id of the customer's payment method of a kind."""
        methods = self.users[self.customer]["payment_methods"].values()
        return str(next(m["id"] for m in methods if m["source"] == kind))

    def named(self, method: str) -> str:
        return f"my {method.rpartition('_')[0].replace('_', ' ')}"

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(frozenset())
