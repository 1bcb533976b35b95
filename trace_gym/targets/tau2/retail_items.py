"""Requests of a retail customer for items of an order: returns and exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from trace_gym.targets.tau2 import retail_policy as policy
from trace_gym.targets.tau2.desk import MULTI_STEP, PRECISION, STRUCTURED, Verdict
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.prices import wrong_prices
from trace_gym.targets.tau2.retail_requests import PaidOrderChange, amount_told
from trace_gym.world import Call, Check

if TYPE_CHECKING:
    from trace_gym.targets.tau2.retail import RetailDesk


@dataclass
class Return(PaidOrderChange):
    """Request to return items of a delivered order."""

    kind: ClassVar[str] = "take back items of"
    items: list[str] = field(default_factory=list)
    """Ids of the items to return."""

    def asked(self, desk: RetailDesk) -> str:
        items = " and ".join(item_name(desk.orders[self.order], i) for i in self.items)
        return f"take back {items} of order {self.order} and refund it to {self.named or 'what I paid with'}"

    def verdict(self, desk: RetailDesk) -> Verdict:
        return policy.return_items(desk, desk.orders[self.order], self.method)

    def sent(self, desk: RetailDesk, skills: frozenset[str]) -> list[str]:
        """Return the items that an expert with these skills returns. Without a skill, items may be missing or wrong."""
        return [expert_item(desk.orders[self.order], i, skills) for i in _all(self.items, skills)]

    def call(self, desk: RetailDesk, skills: frozenset[str]) -> Call:
        arguments = {
            "order_id": self.order,
            "item_ids": self.sent(desk, skills),
            "payment_method_id": self.payment(desk, skills),
        }
        return Call("return_delivered_order_items", arguments)

    def offer(self, desk: RetailDesk, skills: frozenset[str]) -> str:
        sent = self.sent(desk, skills)
        back = sum(price(desk.orders[self.order], i) for i in sent)
        return f"take back {', '.join(sent)} of {self.order}, refund {back:.2f} to {self.payment(desk, skills)}"

    def checks(self, desk: RetailDesk, start: RetailDesk, want: RetailDesk, said: list[str]) -> Iterator[Check]:
        order, wanted = desk.orders[self.order], want.orders[self.order]
        requested = order["status"] == wanted["status"]
        yield Check.goal(f"a return of {self.order} is under way", requested)
        right = requested and order["return_items"] == wanted["return_items"]
        yield Check.goal(f"{len(self.items)} items of {self.order} go back, as meant", right)
        refund = requested and order["return_payment_method_id"] == wanted["return_payment_method_id"]
        yield Check.goal(f"the refund for {self.order} goes to {self.method}", refund)
        is_stated = right and amount_told(start, self.refund(start), said, "refund") and self.assigned(start, said)
        is_stated = is_stated and not wrong_prices(start, want, said)
        yield Check.goal(f"the customer was told what comes back for items of {self.order}", is_stated)

    def refund(self, start: RetailDesk) -> float:
        return sum(price(start.orders[self.order], i) for i in self.items)


@dataclass
class ExchangeItems(PaidOrderChange):
    """Request to replace items with the cheapest available variants of the same products that satisfy `wish`."""

    kind: ClassVar[str] = "replace items of"
    chosen: ClassVar[bool] = True
    items: list[str] = field(default_factory=list)
    wish: dict[str, str] = field(default_factory=dict)
    """Mapping from option to the value that the new variants must have."""

    def asked(self, desk: RetailDesk) -> str:
        items = " and ".join(item_name(desk.orders[self.order], i) for i in self.items)
        wish = "".join(f" whose {option} is {value}" for option, value in self.wish.items())
        settled = f"settle the difference with {self.named or 'what I paid with'}"
        return f"replace {items} of order {self.order} by the cheapest other one{wish} and {settled}"

    def reads(self, desk: RetailDesk, skills: frozenset[str]) -> Iterator[Call]:
        yield from super().reads(desk, skills)
        for item in _all(self.items, skills):
            yield Call("get_product_details", {"product_id": find_item(desk.orders[self.order], item)["product_id"]})

    def verdict(self, desk: RetailDesk) -> Verdict:
        return policy.change_order(desk, desk.orders[self.order], "pending", "delivered")

    def choice(self, desk: RetailDesk, item: str, skills: frozenset[str]) -> str:
        """Return the variant that an expert chooses: without structured reasoning, the first other variant."""
        variants = desk.products[find_item(desk.orders[self.order], item)["product_id"]]["variants"].values()
        others = [v for v in variants if v["item_id"] != item]
        if STRUCTURED not in skills:
            return str(others[0]["item_id"])
        fits = [v for v in others if v["available"] and self.wish.items() <= v["options"].items()]
        return str(min(fits, key=lambda v: v["price"])["item_id"])

    def call(self, desk: RetailDesk, skills: frozenset[str]) -> Call:
        order = desk.orders[self.order]
        old = [expert_item(order, i, skills) for i in _all(self.items, skills)]
        arguments = {
            "order_id": self.order,
            "item_ids": old,
            "new_item_ids": [self.choice(desk, i, skills) for i in old],
            "payment_method_id": self.payment(desk, skills),
        }
        pending = order["status"] == "pending"
        return Call("modify_pending_order_items" if pending else "exchange_delivered_order_items", arguments)

    def offer(self, desk: RetailDesk, skills: frozenset[str]) -> str:
        given = self.call(desk, skills).arguments
        pairs = zip(given["item_ids"], given["new_item_ids"], strict=True)
        words = ", ".join(f"{new} instead of {old}" for old, new in pairs)
        return f"{words} in {self.order}, settled with {given['payment_method_id']}"

    def checks(self, desk: RetailDesk, start: RetailDesk, want: RetailDesk, said: list[str]) -> Iterator[Check]:
        order, wanted = desk.orders[self.order], want.orders[self.order]
        done = order["status"] == wanted["status"]
        yield Check.goal(f"items of {self.order} are replaced", done)
        right = done and all(order[f] == wanted[f] for f in ("items", "exchange_items", "exchange_new_items"))
        yield Check.goal(f"they are replaced by the cheapest that fit, in {self.order}", right)
        payments = ("payment_history", "exchange_payment_method_id")
        settled = right and all(order[f] == wanted[f] for f in payments) and not wrong_prices(start, want, said)
        yield Check.goal(f"the difference for {self.order} is on {self.method}, and not misstated", settled)


def find_item(order: Data, item_id: str) -> Data:
    """Return the item of an order with this id."""
    return next(dict(i) for i in order["items"] if i["item_id"] == item_id)


def item_name(order: Data, item_id: str) -> str:
    """Return the customer's name for an item.

    It consists of the product, and of a distinguishing option if the order contains the product more than once.
    """
    item = find_item(order, item_id)
    others = [i for i in order["items"] if i["product_id"] == item["product_id"] and i["item_id"] != item_id]
    alone = (o for o, value in item["options"].items() if all(i["options"][o] != value for i in others))
    option = next(alone) if others else ""
    return f"the {item['name']}" + (f" whose {option} is {item['options'][option]}" if option else "")


def price(order: Data, item_id: str) -> float:
    return float(find_item(order, item_id)["price"])


def expert_item(order: Data, item_id: str, skills: frozenset[str]) -> str:
    """Return the item id that an expert passes in a call: without precision, the first item of the same product."""
    if PRECISION in skills:
        return item_id
    product = find_item(order, item_id)["product_id"]
    return next(str(i["item_id"]) for i in order["items"] if i["product_id"] == product)


def _all(items: list[str], skills: frozenset[str]) -> list[str]:
    """Return the items that an expert processes: without the skill of multi-step completion, only the first item."""
    return items if MULTI_STEP in skills else items[:1]
