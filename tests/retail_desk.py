"""Helpers for the tests of the retail target."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import jsonschema

from trace_gym import registry
from trace_gym.targets.tau2.generic import HERE, Data
from trace_gym.targets.tau2.retail import (
    Request,
    RetailDesk,
    records,
)

FACTS = json.loads((HERE / "retail.json").read_text())


ENVS = [n for n in registry.list_environments() if registry.manifest(n).target == "tau2_retail"]


ME, OTHER = "ada_berg_1234", "bo_cruz_5678"


CARD, GIFT, PAYPAL, FOREIGN = "credit_card_1111111", "gift_card_2222222", "paypal_3333333", "paypal_4444444"


PENDING, DELIVERED, PROCESSED, MODIFIED, ANOTHERS = "#W1000001", "#W1000002", "#W1000003", "#W1000004", "#W1000005"


RED, BLUE, SMALL, TALL = "1000000001", "1000000002", "2000000001", "2000000002"


MUG, JUG = "9000000001", "9000000002"


HOME: Data = {
    "address1": "7 Mill Lane", "address2": "", "city": "Salem", "country": "USA", "state": "OR", "zip": "97301",
}  # fmt: skip


AWAY: Data = {
    "address1": "12 Elm Road", "address2": "", "city": "Austin", "country": "USA", "state": "TX", "zip": "78750",
}  # fmt: skip


def variant(key: str, price: float, available: bool = True, **options: str) -> Data:
    return {"item_id": key, "options": options, "available": available, "price": price}


def product(key: str, name: str, *variants: Data) -> Data:
    return {"name": name, "product_id": key, "variants": {v["item_id"]: v for v in variants}}


PRODUCTS = {
    MUG: product(MUG, "Mug", variant(RED, 24.25, color="red"), variant(BLUE, 19.75, color="blue")),
    JUG: product(
        JUG,
        "Jug",
        variant(SMALL, 60.25, size="small", lid="none"),
        variant(TALL, 91.75, size="tall", lid="none"),
        variant("2000000003", 82.75, size="wide", lid="cork"),
        variant("2000000004", 15.25, available=False, size="flat", lid="cork"),
    ),
}


def order(key: str, status: str, owner: str = ME, paid_with: str = CARD, items: tuple[str, ...] = (RED, SMALL)) -> Data:
    held = [records.item(p, i) for i in items for p in PRODUCTS.values() if i in p["variants"]]
    amount = sum(i["price"] for i in held)
    return {
        "order_id": key, "user_id": owner, "address": dict(HOME), "items": held, "status": status, "fulfillments": [],
        "payment_history": [{"transaction_type": "payment", "amount": amount, "payment_method_id": paid_with}],
        **dict.fromkeys(records.LATER),
    }  # fmt: skip


def shop(*requests: Request, **changes: Any) -> RetailDesk:
    """Ada Berg with three payment methods and four orders, Bo Cruz with one, and two products."""
    methods: Data = {
        CARD: {"source": "credit_card", "id": CARD, "brand": "visa", "last_four": "7447"},
        GIFT: {"source": "gift_card", "id": GIFT, "balance": 100.0},
        PAYPAL: {"source": "paypal", "id": PAYPAL},
    }
    me: Data = {
        "user_id": ME, "name": {"first_name": "Ada", "last_name": "Berg"}, "address": dict(HOME),
        "email": "ada.berg99@example.com", "payment_methods": methods,
        "orders": [PENDING, DELIVERED, PROCESSED, MODIFIED],
    }  # fmt: skip
    other: Data = {
        "user_id": OTHER, "name": {"first_name": "Bo", "last_name": "Cruz"}, "address": dict(AWAY),
        "email": "bo.cruz11@example.com",
        "payment_methods": {FOREIGN: {"source": "paypal", "id": FOREIGN}}, "orders": [ANOTHERS],
    }  # fmt: skip
    orders = [
        order(PENDING, "pending"),
        order(DELIVERED, "delivered"),
        order(PROCESSED, "processed"),
        order(MODIFIED, "pending"),
        order(ANOTHERS, "pending", OTHER, FOREIGN),
    ]
    made = RetailDesk(
        users={ME: me, OTHER: other},
        orders={o["order_id"]: o for o in orders},
        products=deepcopy(PRODUCTS),
        requests=list(requests),
        customer=ME,
        wording="Please help. {who}",
        **changes,
    )
    made.modify_pending_order_items(MODIFIED, [RED], [BLUE], CARD)
    return made


# Tools


SHAPES = {name: jsonschema.Draft202012Validator(schema) for name, schema in FACTS["returns"].items()}
