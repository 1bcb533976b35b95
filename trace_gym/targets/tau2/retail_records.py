"""Seeded records in the shapes of tau2's shop: customers, orders, products with their variants.

Values come from small fixed pools, as those of the airline do (`records`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product as combinations
from random import Random

from trace_gym.targets.constants import frozen
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.records import FIRST_NAMES, LAST_NAMES, STATES, STREETS

# fmt: off
PRODUCTS: Mapping[str, Mapping[str, tuple[str, ...]]] = frozen({
    "Rain Jacket": {"color": ("red", "navy", "olive", "grey"), "size": ("S", "M", "L"), "lining": ("fleece", "mesh")},
    "Tea Kettle": {"volume": ("small", "large"), "color": ("white", "black", "copper"), "heat": ("gas", "electric")},
    "Floor Rug": {"shape": ("round", "square", "oval"), "fibre": ("wool", "jute"), "color": ("cream", "rust", "teal")},
    "Table Fan": {"blades": ("three", "five"), "color": ("silver", "white"), "power": ("mains", "battery", "solar")},
    "Travel Mug": {"volume": ("small", "medium", "large"), "lid": ("screw", "flip"), "color": ("mint", "plum")},
    "Garden Hose": {"length": ("10 m", "20 m", "30 m"), "material": ("rubber", "vinyl"), "nozzle": ("brass", "none")},
    "Wall Clock": {"dial": ("roman", "arabic", "plain"), "frame": ("oak", "steel"), "size": ("small", "large")},
    "Cycling Gloves": {"size": ("S", "M", "L", "XL"), "fingers": ("half", "full"), "color": ("black", "lime")},
    "Picnic Basket": {"seats": ("two", "four", "six"), "weave": ("willow", "rattan"), "lining": ("plain", "checked")},
    "Chess Set": {"wood": ("walnut", "maple", "ebony"), "board": ("folding", "solid"), "size": ("club", "travel")},
})
"""Name -> its options and their values."""
# fmt: on

_pools = Random("trace_gym/tau2/retail/pools")  # fixed for ever: a change here changes every scenario
ORDER_IDS = tuple(f"#W{n}" for n in sorted(_pools.sample(range(1_000_000, 10_000_000), k=120)))
PRODUCT_IDS = frozen(dict(zip(PRODUCTS, map(str, _pools.sample(range(10**9, 10**10), k=len(PRODUCTS))), strict=True)))
ITEM_IDS = tuple(str(n) for n in sorted(_pools.sample(range(10**9, 10**10), k=160)))
METHOD_NUMBERS = tuple(sorted(_pools.sample(range(1_000_000, 10_000_000), k=96)))
USER_NUMBERS = tuple(sorted(_pools.sample(range(1000, 10_000), k=24)))
MAIL_NUMBERS = tuple(sorted(_pools.sample(range(1000, 10_000), k=24)))
TRACKING_IDS = tuple(str(n) for n in sorted(_pools.sample(range(10**11, 10**12), k=60)))
LAST_FOURS = tuple(str(n) for n in sorted(_pools.sample(range(1000, 10_000), k=24)))
PRICES = tuple(15.25 + 4.5 * n for n in range(72))
"""Prices are drawn from this grid, quarters of a dollar, so that sums are exact; none is a number of whole dollars."""
STATUSES = (
    "pending", "processed", "delivered", "cancelled", "pending (item modified)", "exchange requested",
    "return requested",
)  # fmt: skip
"""Every status that an order can have."""
BALANCE = 900.0
"""Dollars on a gift card, unless a scenario says otherwise."""


def address(rng: Random) -> Data:
    city, state, code = rng.choice(STATES)
    return {
        "address1": rng.choice(STREETS), "address2": "", "city": city, "country": "USA", "state": state, "zip": code,
    }  # fmt: skip


def other_address(rng: Random, known: Data) -> Data:
    """An address in another street and another city."""
    while (made := address(rng))["address1"] == known["address1"] or made["city"] == known["city"]:
        pass
    return made


def payment_methods(rng: Random, kinds: Sequence[str]) -> dict[str, Data]:
    """Stored methods of the given kinds (``credit_card``, ``gift_card``, ``paypal``), in that order."""
    methods: dict[str, Data] = {}
    fours = iter(rng.sample(LAST_FOURS, k=len(kinds)))
    for kind, number in zip(kinds, rng.sample(METHOD_NUMBERS, k=len(kinds)), strict=True):
        made: Data = {"source": kind, "id": f"{kind}_{number}"}
        if kind == "credit_card":
            made |= {"brand": rng.choice(("visa", "mastercard")), "last_four": next(fours)}
        elif kind == "gift_card":
            made["balance"] = BALANCE
        methods[made["id"]] = made
    return methods


def user(rng: Random, kinds: Sequence[str], taken: Sequence[Data] = ()) -> Data:
    """A customer with stored methods of `kinds` and no orders yet, who shares no name with those in `taken`."""
    first = rng.choice([n for n in FIRST_NAMES if n not in {u["name"]["first_name"] for u in taken}])
    last = rng.choice([n for n in LAST_NAMES if n not in {u["name"]["last_name"] for u in taken}])
    return {
        "user_id": f"{first}_{last}_{rng.choice(USER_NUMBERS)}".lower(),
        "name": {"first_name": first, "last_name": last},
        "address": address(rng),
        "email": f"{first}.{last}{rng.choice(MAIL_NUMBERS)}@example.com".lower(),
        "payment_methods": payment_methods(rng, kinds),
        "orders": [],
    }


def product(rng: Random, name: str, count: int, item_ids: Sequence[str], prices: Sequence[float] = ()) -> Data:
    """A product with `count` variants that can be had, of different options and prices, in no order.

    Args:
        item_ids: Ids that are free; the first `count` are taken.
        prices: Prices of the variants; drawn from the grid when none are given.
    """
    options = PRODUCTS[name]
    chosen = rng.sample(list(combinations(*options.values())), k=count)
    costs = prices or rng.sample(PRICES, k=count)
    variants = {
        key: {"item_id": key, "options": dict(zip(options, values, strict=True)), "available": True, "price": price}
        for key, values, price in zip(item_ids, chosen, costs, strict=False)
    }
    return {"name": name, "product_id": PRODUCT_IDS[name], "variants": variants}


def item(made: Data, item_id: str) -> Data:
    """A variant of a product as an order holds it."""
    variant = made["variants"][item_id]
    return {
        "name": made["name"], "product_id": made["product_id"], "item_id": item_id, "price": variant["price"],
        "options": dict(variant["options"]),
    }  # fmt: skip


def order(
    rng: Random, order_id: str, owner: Data, items: list[Data], status: str, paid_with: str | None = None
) -> Data:
    """An order of `owner` that is pending, processed or delivered, paid with their first method; in their profile."""
    owner["orders"].append(order_id)
    shipped = {"tracking_id": [rng.choice(TRACKING_IDS)], "item_ids": [i["item_id"] for i in items]}
    payment = {
        "transaction_type": "payment",
        "amount": sum(i["price"] for i in items),
        "payment_method_id": paid_with or next(iter(owner["payment_methods"])),
    }
    return {
        "order_id": order_id,
        "user_id": owner["user_id"],
        "address": dict(owner["address"]),
        "items": items,
        "status": status,
        "fulfillments": [] if status == "pending" else [shipped],
        "payment_history": [payment],
        **dict.fromkeys(LATER),
    }


LATER = (
    "cancel_reason", "exchange_items", "exchange_new_items", "exchange_payment_method_id", "exchange_price_difference",
    "return_items", "return_payment_method_id",
)  # fmt: skip
"""Fields of an order that are empty until something is asked for."""
