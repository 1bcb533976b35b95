"""Detection of wrong amounts in messages about changes. Recorded prices and prices of other options are not wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.differences import misstated, moved
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.records import CABINS

if TYPE_CHECKING:
    from trace_gym.targets.tau2.airline import AirlineDesk
    from trace_gym.targets.tau2.retail import RetailDesk

_BAGS = 6
"""Maximum number of bags for which messages may state a price."""


def wrong_fares(start: AirlineDesk, want: AirlineDesk, said: list[str], codes: Collection[str] = ()) -> bool:
    """Return whether messages misstate the cost or refund of changes of reservations.

    Args:
        start: The state before the changes.
        want: The expected state after the changes.
        said: The messages.
        codes: The ids of the changed reservations. The default is the reservations of the requests.
    """
    codes = dict.fromkeys(codes or [r.record for r in start.requests])
    parts = {code: moved(start.reservations[code], want.reservations[code]) for code in codes}
    moves = [amount for amounts in parts.values() for amount in amounts]
    shares = {m / len(start.reservations[code]["passengers"]) for code, amounts in parts.items() for m in amounts}
    shown = {*map(float, start.amounts()), *_fares(start, want, codes), *_extras(start), *_nothing(codes, moves)}
    return misstated(moves, shown, {*shares, *_other_fares(start, codes)} - {0.0}, said)


def wrong_prices(start: RetailDesk, want: RetailDesk, said: list[str]) -> bool:
    """Return whether messages misstate the cost or refund of changes of orders.

    Args:
        start: The state before the changes.
        want: The expected state after the changes.
        said: The messages.
    """
    codes = list(dict.fromkeys(r.order for r in start.requests))
    moves = [m for code in codes for m in moved(start.orders[code], want.orders[code])]
    backs = [r.refund(start) for r in start.requests if r.verdict(start).allowed]
    moves += [-back for back in backs if back is not None and -back not in moves]
    shown = {*_items(start, want), *_nothing(codes, moves)}
    return misstated(moves, shown, {*_other_prices(start, codes)} - {0.0}, said)


def _nothing(codes: Collection[str], moves: list[float]) -> set[float]:
    """Return the amount 0 if one of the changes may be free of charge."""
    return set() if any(moves) and len(codes) == 1 else {0.0}


def _fares(start: AirlineDesk, want: AirlineDesk, codes: Collection[str]) -> Iterator[float]:
    """Yield the prices of flights and trips, for one traveler and for all travelers."""
    parties = {len(start.reservations[code]["passengers"]) for code in codes}
    for plan in start.flights.values():
        for on in plan["dates"].values():
            yield from (float(price * n) for price in on.get("prices", {}).values() for n in {1, *parties})
    for world in (start, want):
        for booking in world.reservations.values():
            fare, people = sum(leg["price"] for leg in booking["flights"]), len(booking["passengers"])
            yield from (float(fare), float(fare * people))
            yield from (float(leg["price"] * n) for leg in booking["flights"] for n in (1, people))
    for booking in start.reservations.values():
        yield float(sum(p["amount"] for p in booking["payment_history"]))


def _extras(start: AirlineDesk) -> Iterator[float]:
    """Yield the prices of travel insurance, and the balances of gift cards and certificates."""
    most = max((len(b["passengers"]) for b in start.reservations.values()), default=1)
    yield from (float(policy.INSURANCE_PRICE * n) for n in range(1, most + 1))
    yield from (
        float(m["amount"]) for u in start.users.values() for m in u["payment_methods"].values() if "amount" in m
    )


def _other_fares(start: AirlineDesk, codes: Collection[str]) -> Iterator[float]:
    """Yield the price differences between the booked flights and cabins and other ones, and the prices of bags."""
    yield from (float(policy.BAG_PRICE * n) for n in range(1, _BAGS + 1))
    for booking in (start.reservations[code] for code in codes):
        people = len(booking["passengers"])
        for cabin in CABINS:
            whole = [_now(start, leg, cabin) - leg["price"] for leg in booking["flights"]]
            yield from (float(n * d) for n in (1, people) for d in (*whole, sum(whole)))
        for leg in booking["flights"]:
            same = [p for p in start.flights.values() if p["origin"] == leg["origin"]]
            prices = [on["prices"].values() for p in same for on in p["dates"].values() if "prices" in on]
            yield from (float(n * (price - leg["price"])) for some in prices for price in some for n in (1, people))


def _now(start: AirlineDesk, leg: Data, cabin: str) -> int:
    on = start.flights.get(leg["flight_number"], {}).get("dates", {}).get(leg["date"], {})
    return int(on.get("prices", {}).get(cabin, leg["price"]))


def _items(start: RetailDesk, want: RetailDesk) -> Iterator[float]:
    """Yield prices of items and variants, totals of orders, and balances of gift cards, before and after changes."""
    for world in (start, want):
        for order in world.orders.values():
            prices = [float(item["price"]) for item in order["items"]]
            paid = [float(p["amount"]) for p in order["payment_history"] if p["transaction_type"] == "payment"]
            yield from (*prices, sum(prices), *paid[:1])
        for user in world.users.values():
            yield from (float(m["balance"]) for m in user["payment_methods"].values() if "balance" in m)
    yield from (float(v["price"]) for p in start.products.values() for v in p["variants"].values())


def _other_prices(start: RetailDesk, codes: list[str]) -> Iterator[float]:
    """Yield the price differences between the ordered items and their other variants."""
    for item in (item for code in codes for item in start.orders[code]["items"]):
        variants = start.products[item["product_id"]]["variants"].values()
        yield from (float(v["price"]) - float(item["price"]) for v in variants)
