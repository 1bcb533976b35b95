"""Seeded records of the tau2 retail domain: customers, orders, and products with their variants.

Values come from small fixed pools, as in the airline domain (`records`).
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
"""Mapping from product name to option to the values of the option."""
# fmt: on

_pools = Random("trace_gym/tau2/retail/pools")  # do not change the seed: it determines every scenario
ORDER_IDS = tuple(f"#W{n}" for n in sorted(_pools.sample(range(1_000_000, 10_000_000), k=120)))
PRODUCT_IDS = frozen(dict(zip(PRODUCTS, map(str, _pools.sample(range(10**9, 10**10), k=len(PRODUCTS))), strict=True)))
ITEM_IDS = tuple(str(n) for n in sorted(_pools.sample(range(10**9, 10**10), k=160)))
METHOD_NUMBERS = tuple(sorted(_pools.sample(range(1_000_000, 10_000_000), k=96)))
USER_NUMBERS = tuple(sorted(_pools.sample(range(1000, 10_000), k=24)))
MAIL_NUMBERS = tuple(sorted(_pools.sample(range(1000, 10_000), k=24)))
TRACKING_IDS = tuple(str(n) for n in sorted(_pools.sample(range(10**11, 10**12), k=60)))
LAST_FOURS = tuple(str(n) for n in sorted(_pools.sample(range(1000, 10_000), k=24)))
PRICES = tuple(15.25 + 4.5 * n for n in range(72))
"""Values from which prices are drawn. They are multiples of 0.25, so that sums are exact, and never whole numbers."""
STATUSES = (
    "pending", "processed", "delivered", "cancelled", "pending (item modified)", "exchange requested",
    "return requested",
)  # fmt: skip
"""All statuses of an order."""
BALANCE = 900.0
"""Default balance of a gift card in dollars."""


def address(rng: Random) -> Data:
    city, state, code = rng.choice(STATES)
    return {
        "address1": rng.choice(STREETS), "address2": "", "city": city, "country": "USA", "state": state, "zip": code,
    }  # fmt: skip


def other_address(rng: Random, known: Data) -> Data:
    """Return a random address whose street and city differ from those of a known address."""
    while (made := address(rng))["address1"] == known["address1"] or made["city"] == known["city"]:
        pass
    return made


def payment_methods(rng: Random, kinds: Sequence[str]) -> dict[str, Data]:
    """Return stored payment methods of the given kinds (``credit_card``, ``gift_card``, ``paypal``), in order."""
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
    """Return a customer with stored payment methods and without orders, whose names differ from those in `taken`."""
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
    """Return a product with `count` available variants that differ in options and prices, in random order.

    Args:
        item_ids: Unused ids. The variants get the first `count` of them.
        prices: Prices of the variants; drawn from `PRICES` by default.
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
    """Return the record with which an order lists a product variant."""
    variant = made["variants"][item_id]
    return {
        "name": made["name"], "product_id": made["product_id"], "item_id": item_id, "price": variant["price"],
        "options": dict(variant["options"]),
    }  # fmt: skip


def order(
    rng: Random, order_id: str, owner: Data, items: list[Data], status: str, paid_with: str | None = None
) -> Data:
    """Return a new order of `owner`, and add its id to the owner's profile.

    Args:
        status: ``pending``, ``processed``, ``delivered`` or ``cancelled``.
        paid_with: Id of the payment method; the owner's first method by default.
    """
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
"""Fields of an order that are None until a cancellation, return or exchange."""
