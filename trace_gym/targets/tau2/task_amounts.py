"""Numbers that an agent can compute from the records of a tau2 task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.policy import free_bags


def groups(customer: str, before: Any, after: Any) -> Iterator[list[float]]:
    """Yield groups of numbers that an agent may add up, subtract or state: counts, balances, payments and prices.

    Args:
        customer: User id of the customer.
        before: Tables before the expected calls.
        after: Tables after the expected calls.
    """
    profile = before["users"].get(customer, {})
    methods = profile.get("payment_methods", {}).values()
    yield [float(len(methods))]
    for kind in {method["source"] for method in methods}:
        balances = [m.get("amount", m.get("balance", 0)) for m in methods if m["source"] == kind]
        yield [*map(float, balances)]
    yield from _charges(before, after)
    for key in ("reservations", "orders"):
        mine = _owned(customer, before.get(key, {}))
        now = _owned(customer, after.get(key, {}))
        yield [float(len(mine))]
        yield [_paid(record) for record in mine.values()]
        yield [_paid(record) - _paid(mine.get(name, {})) for name, record in now.items() if record != mine.get(name)]
        yield [_due(record) for name, record in now.items() if record != mine.get(name)]
        for record in (*mine.values(), *(record for name, record in now.items() if record != mine.get(name))):
            yield from _parts(record, profile)
    products = before.get("products", {})
    yield from (list(_counts(product)) for product in products.values())
    for order in _owned(customer, before.get("orders", {})).values():
        yield from _savings(order, products)


def _owned(customer: str, table: Mapping[str, Data]) -> dict[str, Data]:
    return {key: record for key, record in table.items() if record["user_id"] == customer}


def _paid(record: Data) -> float:
    """Return the amount that was paid for a reservation or an order, minus refunds."""
    paid = record.get("payment_history", ())
    return float(sum(p["amount"] * (-1 if p.get("transaction_type") == "refund" else 1) for p in paid))


def _due(record: Data) -> float:
    """Return the amount that a return or an exchange will later charge (positive) or refund (negative)."""
    returned = record.get("return_items") or ()
    prices = {item["item_id"]: item["price"] for item in record.get("items", ())}
    exchanged = record.get("exchange_price_difference") or 0.0
    return float(exchanged - sum(prices.get(item, 0) for item in returned))


def _charges(before: Any, after: Any) -> Iterator[list[float]]:
    """Yield the new payments of each payment method."""
    charged: dict[str, list[float]] = {}
    for table in ("reservations", "orders"):
        for key, record in after.get(table, {}).items():
            old = before[table].get(key, {}).get("payment_history", [])
            for payment in record["payment_history"][len(old) :]:
                method = payment.get("payment_id", payment.get("payment_method_id", ""))
                charged.setdefault(method, []).append(float(payment["amount"]))
    yield from charged.values()


def _parts(record: Data, profile: Data) -> Iterator[list[float]]:
    """Yield the numbers of one reservation or order."""
    items = record.get("items", ())
    people = len(record.get("passengers", ()))
    yield [float(item["price"]) for item in items]
    yield [float(len(items)), float(people)]
    yield [float(leg["price"]) * people for leg in record.get("flights", ())]
    yield [abs(float(p["amount"])) for p in record.get("payment_history", ())]
    if people and "membership" in profile:
        yield [float(free_bags(profile["membership"], record["cabin"], people))]


def _savings(order: Data, products: Mapping[str, Data]) -> Iterator[list[float]]:
    """Yield the price differences between the items of an order and their cheapest and most expensive variants."""
    for choose in (min, max):
        differences = []
        for item in order["items"]:
            variants = products.get(item["product_id"], {}).get("variants", {}).values()
            prices = [float(v["price"]) for v in variants if v["available"]]
            differences.append(float(item["price"]) - choose(prices, default=float(item["price"])))
        yield differences


def _counts(product: Data) -> Iterator[float]:
    variants = product["variants"].values()
    yield float(len(variants))
    yield float(sum(bool(v["available"]) for v in variants))
    yield float(sum(not v["available"] for v in variants))
