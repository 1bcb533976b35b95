"""Tests of payment methods and payment directions in plans that outside reviewers wrote."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from reviewed import passes, played

from trace_gym import registry
from trace_gym.statements import find_values
from trace_gym.statements.roles import roles_of
from trace_gym.statements.text import normalize
from trace_gym.targets.tau2.consent import names_other_method
from trace_gym.targets.tau2.desk import SKILLS
from trace_gym.targets.tau2.payment_directions import exchanges_charge_and_refund
from trace_gym.targets.tau2.retail_policy import original
from trace_gym.types import Call, Event, Say

METHODS = {
    "credit_card_1": {"source": "credit_card", "brand": "visa", "last_four": "1111"},
    "credit_card_2": {"source": "credit_card", "brand": "visa", "last_four": "2222"},
    "paypal_3": {"source": "paypal"},
    "gift_card_4": {"source": "gift_card"},
}

NAMED = (  # method of the write call, tool, accepted proposal, whether the proposal is about another method
    ("paypal_3", "exchange", "Your order was paid with credit_card_1. You get $72 back on your PayPal account.", False),
    ("paypal_3", "payment", "I'll change the payment from credit_card_1 to your PayPal account.", False),
    ("paypal_3", "payment", "The original payment of $9 will be refunded to credit_card_1; PayPal is charged.", False),
    ("gift_card_4", "payment", "I'll switch it to your gift card. The PayPal (paypal_3) will be refunded $9.", False),
    ("gift_card_4", "exchange", "Your gift card has $50. Your PayPal (paypal_3) will be refunded $9.", True),
    ("gift_card_4", "bags", "It was originally paid with credit_card_1. Your gift card will be charged.", False),
    ("credit_card_2", "payment", "I'll change it from credit_card_1 to your Visa ending in 2222.", False),
    ("paypal_3", "exchange", "You have a PayPal account. I will charge $9 to credit_card_1.", True),
    ("gift_card_4", "exchange", "$9 will be refunded to the original method credit_card_1. Gift card: $50.", True),
    ("gift_card_4", "exchange", "Your gift card holds $50. I'll settle it with credit_card_1.", True),
    ("credit_card_2", "payment", "I'll change it from credit_card_1 to your PayPal account.", True),
    ("credit_card_2", "payment", "I'll change it from paypal_3 to your gift card, not your Visa ending in 3333.", True),
    ("paypal_3", "exchange", "The order was paid with credit_card_1. Shall I proceed?", True),
)  # fmt: skip

TOOLS = {
    "exchange": "exchange_delivered_order_items",
    "payment": "modify_pending_order_payment",
    "bags": "update_reservation_baggages",
}


@pytest.mark.parametrize(("method", "tool", "text", "other"), NAMED)
def test_method_that_paid_before_is_not_taken_for_another_method(
    method: str, tool: str, text: str, other: bool
) -> None:
    write = Call(TOOLS[tool], {"order_id": "#W1", "payment_method_id": method})
    assert names_other_method(write, METHODS, [Event(Say(text), "Yes, please.")]) is other


def difference(start: Any) -> float:
    """Return the price difference of the exchange that the oracle makes."""
    request = start.requests[0]
    given, order = request.call(start, SKILLS).arguments, start.orders[request.order]
    old = next(item for item in order["items"] if item["item_id"] == given["item_ids"][0])
    new = start.products[old["product_id"]]["variants"][given["new_item_ids"][0]]
    return float(new["price"]) - float(old["price"])


def exchange_words(start: Any, text: str, *, reverse: bool = False) -> str:
    """Return a proposal of an exchange that states the charge or the refund, or the opposite."""
    if "To confirm" not in text:
        return text
    change, method = difference(start), start.requests[0].method
    charged = (change > 0) is not reverse
    way = f"You'll be charged ${abs(change):.2f} on" if charged else f"You'll receive a refund of ${abs(change):.2f} to"
    return f"{text.removesuffix(' Shall I proceed?')}. {way} {method}. Would you like me to proceed?"


def payment_words(start: Any, text: str, *, reverse: bool = False) -> str:
    """Return a proposal of another payment method that states who is charged and refunded, or the opposite."""
    if "To confirm" not in text:
        return text
    order = start.orders[start.requests[0].order]
    charged, refunded, amount = start.requests[0].method, original(order), order["payment_history"][0]["amount"]
    charged, refunded = (refunded, charged) if reverse else (charged, refunded)
    return (
        f"${amount:.2f} will be refunded to {refunded}, and {charged} will be charged ${amount:.2f}. Shall I proceed?"
    )


@pytest.mark.parametrize(
    ("kind", "status"), [("ExchangeItems", "delivered"), ("ExchangeItems", "pending"), ("ChangePayment", "pending")]
)
def test_charge_and_refund_must_not_be_exchanged(kind: str, status: str) -> None:
    words, tried = (exchange_words if kind == "ExchangeItems" else payment_words), 0
    for seed in range(80):
        scenario = f"tau2_retail_tool_precision/1/{seed}"
        start = registry.start_episode(scenario).start
        order = start.orders[start.requests[0].order]
        if type(start.requests[0]).__name__ != kind or order["status"] != status:
            continue
        tried += 1
        assert passes(played(scenario, reworded=words)), scenario
        assert not passes(played(scenario, reworded=partial(words, reverse=True))), scenario
    assert tried > 3


WALLETS = {"gift_card_1": {"source": "gift_card"}, "paypal_2": {"source": "paypal"}}


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("I'll refund your gift card and charge your PayPal account.", True),
        ("$9 will be refunded to gift_card_1, and your PayPal account will be charged.", True),
        ("I'll refund your PayPal account and charge your gift card.", False),
        ("The charge moves from your PayPal account to your gift card.", False),
        ("The charge on your PayPal account will be reversed.", False),
        ("Order #W1, currently charged to your PayPal account, will be charged to your gift card.", False),
        ("The $9 originally charged to PayPal will be returned to your PayPal account.", False),
        ("If you cancel it later, the refund goes to your gift card.", False),
        ("Your gift card will be charged $9. Your PayPal account gets $9 back.", False),
        ("I will not charge your PayPal account.", False),
    ],
)
def test_change_of_the_payment_method_has_one_direction(said: str, wrong: bool) -> None:
    assert exchanges_charge_and_refund("gift_card_1", "paypal_2", WALLETS, [said]) is wrong


@pytest.mark.parametrize(
    ("text", "amount", "roles"),
    [
        ("That costs 203 dollars more (416 instead of 213), charged to your card.", 203, {"charge", "fare"}),
        ("That costs 203 dollars more (416 instead of 213), charged to your card.", 416, {"fare"}),
        ("That costs 203 dollars more (416 instead of 213), charged to your card.", 213, {"fare"}),
        ("355 dollars go back instead of 200.", 355, {"refund"}),
    ],
)
def test_compared_prices_are_fares_unless_the_words_say_otherwise(text: str, amount: float, roles: set[str]) -> None:
    plain = normalize(text)
    [value] = [v for v in find_values(plain) if v.value == amount]
    assert roles_of(plain, value) == roles
