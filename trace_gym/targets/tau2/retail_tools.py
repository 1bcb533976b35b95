"""The 16 tools of the retail domain, with the effects and record shapes of tau2."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import ClassVar

from trace_gym.targets.tau2.generic import Data, GenericTools, found, interface_of_domain
from trace_gym.targets.tau2.retail_recorded import RetailRecorded
from trace_gym.types import Interface
from trace_gym.world import ToolError, tool

CANCEL_REASONS = ("no longer needed", "ordered by mistake")


def retail_interface() -> Interface:
    """Return the tau2 retail interface; see `interface_of_domain`."""
    return interface_of_domain("retail")


@dataclass(kw_only=True)
class RetailTools(RetailRecorded, GenericTools):
    """State of the retail domain (customers, orders, products) and the tools that read and change the state."""

    target: ClassVar[str] = "tau2_retail"
    users: dict[str, Data] = field(default_factory=dict)
    orders: dict[str, Data] = field(default_factory=dict)
    products: dict[str, Data] = field(default_factory=dict)
    transferred: bool = False

    @classmethod
    def interface(cls) -> Interface:
        return retail_interface()

    @tool
    def find_user_id_by_email(self, email: str) -> str:
        return _only(u["user_id"] for u in self.users.values() if u["email"].lower() == email.lower())

    @tool
    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:
        wanted = (first_name.lower(), last_name.lower(), zip)
        named = ((u["user_id"], u["name"], u["address"]["zip"]) for u in self.users.values())
        return _only(key for key, n, z in named if (n["first_name"].lower(), n["last_name"].lower(), z) == wanted)

    @tool
    def get_user_details(self, user_id: str) -> Data:
        return found(self.users, user_id, "customer")

    @tool
    def get_order_details(self, order_id: str) -> Data:
        return found(self.orders, order_id, "order")

    @tool
    def get_product_details(self, product_id: str) -> Data:
        return found(self.products, product_id, "product")

    @tool
    def get_item_details(self, item_id: str) -> Data:
        variants = {key: v for p in self.products.values() for key, v in p["variants"].items()}
        return found(variants, item_id, "item")

    @tool
    def list_all_product_types(self) -> str:
        return json.dumps({p["name"]: p["product_id"] for p in self.products.values()}, sort_keys=True)

    @tool(kind="write")
    def cancel_pending_order(self, order_id: str, reason: str) -> Data:
        order = self._order(order_id, "pending", "be cancelled")
        if reason not in CANCEL_REASONS:
            raise ToolError(f"the reason must be one of {', '.join(map(repr, CANCEL_REASONS))}")
        paid = [(p, self._method(order, p["payment_method_id"])) for p in order["payment_history"]]
        for payment, method in paid:
            _charge(method, -payment["amount"])
        refunds = [{**p, "transaction_type": "refund"} for p, _ in paid]
        order.update(status="cancelled", cancel_reason=reason, payment_history=order["payment_history"] + refunds)
        return order

    @tool(kind="write")
    def modify_pending_order_address(
        self, order_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
    ) -> Data:
        order = self._open_order(order_id)
        order["address"] = _address(address1, address2, city, state, country, zip)
        return order

    @tool(kind="write")
    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> Data:
        order = self._open_order(order_id)
        method = self._method(order, payment_method_id)
        paid = order["payment_history"]
        if len(paid) != 1 or paid[0]["transaction_type"] != "payment":
            raise ToolError("the payment of this order was changed before")
        if paid[0]["payment_method_id"] == payment_method_id:
            raise ToolError(f"{payment_method_id} has paid for this order already")
        amount, before = paid[0]["amount"], self._method(order, paid[0]["payment_method_id"])
        _covers(method, amount)
        _charge(method, amount)
        _charge(before, -amount)
        payment = {"transaction_type": "payment", "amount": amount, "payment_method_id": payment_method_id}
        order["payment_history"] = [*paid, payment, {**paid[0], "transaction_type": "refund"}]
        return order

    @tool(kind="write")
    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Data:
        order = self._order(order_id, "pending", "be changed")
        if any(old == new for old, new in zip(item_ids, new_item_ids, strict=False)):
            raise ToolError("an item must be replaced by another one")
        variants, difference = self._swapped(order, item_ids, new_item_ids)
        method = self._method(order, payment_method_id)
        _covers(method, difference)
        _charge(method, difference)
        kind = "payment" if difference > 0 else "refund"
        paid = {
            "transaction_type": kind, "amount": float(abs(difference)), "payment_method_id": payment_method_id,
        }  # fmt: skip
        items = deepcopy(order["items"])
        for old, variant in zip(item_ids, variants, strict=True):
            changed = next(i for i in items if i["item_id"] == old)
            # tau2 writes the price and the options of the last variant into every item of the call.
            last = variants[-1]
            changed.update(item_id=variant["item_id"], price=last["price"], options=dict(last["options"]))
        payments = [*order["payment_history"], paid]
        order.update(items=items, payment_history=payments, status="pending (item modified)")
        return order

    @tool(kind="write")
    def modify_user_address(
        self, user_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
    ) -> Data:
        owner = found(self.users, user_id, "customer")
        owner["address"] = _address(address1, address2, city, state, country, zip)
        return owner

    @tool(kind="write")
    def return_delivered_order_items(self, order_id: str, item_ids: list[str], payment_method_id: str) -> Data:
        order = self._order(order_id, "delivered", "be returned")
        method = self._method(order, payment_method_id)
        if method["source"] != "gift_card" and payment_method_id != order["payment_history"][0]["payment_method_id"]:
            raise ToolError("a refund goes to what paid for the order, or to a gift card")
        _holds(order, item_ids)
        wanted = {"return_items": sorted(item_ids), "return_payment_method_id": payment_method_id}
        order.update(status="return requested", **wanted)
        return order

    @tool(kind="write")
    def exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Data:
        order = self._order(order_id, "delivered", "be exchanged")
        _, difference = self._swapped(order, item_ids, new_item_ids)
        difference = round(difference, 2)
        _covers(self._method(order, payment_method_id), difference)
        order.update(
            status="exchange requested",
            exchange_items=sorted(item_ids),
            exchange_new_items=sorted(new_item_ids),
            exchange_payment_method_id=payment_method_id,
            exchange_price_difference=float(difference),
        )
        return order

    def _order(self, order_id: str, status: str, what: str) -> Data:
        """Return an order, or refuse if its status is not exactly `status`."""
        order = found(self.orders, order_id, "order")
        if order["status"] != status:
            raise ToolError(f"only an order that is {status} can {what}; look at its status")
        return order

    def _open_order(self, order_id: str) -> Data:
        """Return a pending order. An order whose items were modified counts as pending here, as in tau2."""
        order = found(self.orders, order_id, "order")
        if "pending" not in order["status"]:
            raise ToolError("only an order that is pending can be changed; look at its status")
        return order

    def _method(self, order: Data, payment_method_id: str) -> Data:
        owner = found(self.users, order["user_id"], "customer")
        return found(owner["payment_methods"], payment_method_id, "stored payment method")

    def _swapped(self, order: Data, item_ids: list[str], new_item_ids: list[str]) -> tuple[list[Data], float]:
        """Return the new variants for the given items, and the price difference."""
        _holds(order, item_ids)
        if len(item_ids) != len(new_item_ids):
            raise ToolError("item_ids and new_item_ids must be of one length, side by side")
        variants, difference = list[Data](), 0.0
        for old, new in zip(item_ids, new_item_ids, strict=True):
            item = next(i for i in order["items"] if i["item_id"] == old)
            variant = found(found(self.products, item["product_id"], "product")["variants"], new, "such variant")
            if not variant["available"]:
                raise ToolError(f"item {new} is sold out")
            variants.append(variant)
            difference += variant["price"] - item["price"]
        return variants, difference


def _only(ids: Iterable[str]) -> str:
    """Return the first customer id, or refuse if there is none."""
    for user_id in ids:
        return user_id
    raise ToolError("no customer is known like this; ask for the email, or for name and zip code")


def _address(address1: str, address2: str, city: str, state: str, country: str, code: str) -> Data:
    return {
        "address1": address1, "address2": address2, "city": city, "country": country, "state": state, "zip": code,
    }  # fmt: skip


def _holds(order: Data, item_ids: list[str]) -> None:
    missing = Counter(item_ids) - Counter(i["item_id"] for i in order["items"])
    if missing:
        raise ToolError(f"the order does not hold the item {next(iter(missing))[:40]!r}, or not so often")


def _covers(method: Data, amount: float) -> None:
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise ToolError(f"the balance of {method['id']} does not cover the amount")


def _charge(method: Data, amount: float) -> None:
    """Subtract an amount from the balance of a gift card. Other payment methods have no balance and stay unchanged."""
    if method["source"] == "gift_card":
        method["balance"] = round(method["balance"] - amount, 2)
