"""Tests of the retail target's rules and customer."""

from __future__ import annotations

import pytest
from retail_desk import (
    ANOTHERS,
    AWAY,
    CARD,
    DELIVERED,
    FOREIGN,
    GIFT,
    ME,
    MODIFIED,
    OTHER,
    PAYPAL,
    PENDING,
    PROCESSED,
    RED,
    shop,
)

from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.retail import (
    SKILLS,
    CancelOrder,
    ChangeAddress,
    ChangePayment,
    ExchangeItems,
    Request,
    Return,
)
from trace_gym.types import Call, Say

# Rules


@pytest.mark.parametrize(
    ("request_", "allowed", "why"),
    [
        (CancelOrder(PENDING), True, ""),
        (CancelOrder(PENDING, reason="ordered by mistake"), True, ""),
        (CancelOrder(PENDING, reason="cheaper"), False, "the reason is not accepted; it is pending, 84.50 paid"),
        (CancelOrder(PROCESSED), False, "it is processed, 84.50 paid"),
        (CancelOrder(DELIVERED), False, "it is delivered, 84.50 paid"),
        (CancelOrder(MODIFIED), False, "it is pending (item modified), 80.00 paid"),
        (CancelOrder(ANOTHERS), False, f"it is not among the orders of {ME}"),
        (ChangeAddress(PENDING, address=AWAY), True, ""),
        (ChangeAddress(MODIFIED, address=AWAY), False, "it is pending (item modified), 80.00 paid"),
        (ChangeAddress(ANOTHERS, address=AWAY), False, f"it is not among the orders of {ME}"),
        (ChangePayment(PENDING, PAYPAL, "my paypal"), True, ""),
        (ChangePayment(PENDING, GIFT, "my gift card"), True, ""),
        (
            ChangePayment(PENDING, CARD, "my credit card"),
            False,
            "this method paid for it already; it is pending, 84.50 paid",
        ),
        (ChangePayment(PROCESSED, PAYPAL, "my paypal"), False, "it is processed, 84.50 paid"),
        (Return(DELIVERED, CARD, items=[RED]), True, ""),
        (Return(DELIVERED, GIFT, "my gift card", items=[RED]), True, ""),
        (
            Return(DELIVERED, PAYPAL, "my paypal", items=[RED]),
            False,
            "another method paid for it; it is delivered, 84.50 paid",
        ),
        (Return(PENDING, CARD, items=[RED]), False, "it is pending, 84.50 paid"),
        (Return(ANOTHERS, FOREIGN, items=[RED]), False, f"it is not among the orders of {ME}"),
        (ExchangeItems(PENDING, CARD, items=[RED]), True, ""),
        (ExchangeItems(DELIVERED, CARD, items=[RED]), True, ""),
        (ExchangeItems(PROCESSED, CARD, items=[RED]), False, "it is processed, 84.50 paid"),
    ],
)
def test_the_rules(request_: Request, allowed: bool, why: str) -> None:
    world = shop(request_)
    verdict = request_.verdict(world)
    assert (verdict.allowed, verdict.why) == (allowed, why or "allowed")
    found = world.violations(request_.call(world, SKILLS))
    assert bool(found) is not allowed
    assert not found or found[0] == why


def test_a_balance_that_is_too_low_decides() -> None:
    world = shop(ChangePayment(PENDING, GIFT, "my gift card"))
    world.users[ME]["payment_methods"][GIFT]["balance"] = 84.25
    assert world.requests[0].verdict(world).why == "the balance is too low; it is pending, 84.50 paid"


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("cancel_pending_order", {"order_id": "#W9", "reason": "no longer needed"}, "does not exist"),
        ("cancel_pending_order", {"order_id": PENDING, "reason": "ordered by mistake"}, "reason is 'no longer needed'"),
        ("modify_user_address", {"user_id": OTHER, **AWAY}, "not the customer's"),
        ("modify_user_address", {"user_id": ME, **AWAY}, ""),
        ("modify_pending_order_payment", {"order_id": PENDING, "payment_method_id": FOREIGN}, "not stored"),
        (
            "exchange_delivered_order_items",
            {"order_id": DELIVERED, "item_ids": [RED], "new_item_ids": [RED], "payment_method_id": CARD},
            "replaced by itself",
        ),
        ("get_order_details", {"order_id": ANOTHERS}, ""),
        ("transfer_to_human_agents", {"summary": "why not"}, "without need"),
    ],
)
def test_writes_break_rules(tool: str, arguments: Data, why: str) -> None:
    found = shop(CancelOrder(PENDING)).violations(Call(tool, arguments))
    assert (why in found[0]) if why else not found


# Customer


@pytest.mark.parametrize(
    ("known_by", "said"), [("email", "My email is ada.berg99@example.com."), ("name", "I am Ada Berg, zip code 97301.")]
)
def test_the_customer_says_who_she_is_at_once_or_when_asked(known_by: str, said: str) -> None:
    assert shop(known_by=known_by).opening() == f"Please help. {said}"
    shy = shop(known_by=known_by, withheld=("identity",))
    assert shy.opening() == "Please help."
    assert shy.reply("What is your email address?").endswith(said)
    assert shy.reply("May I have your name?") == (f"My name is Ada Berg. {said}" if known_by == "email" else said)
    asked, found, *_ = shy.begins(SKILLS)
    assert isinstance(asked, Say) and str(shy.reply(asked.text)).endswith(said)
    assert isinstance(found, Call) and getattr(shy, found.tool)(**found.arguments) == ME


def test_the_customer_tells_what_is_asked() -> None:
    world = shop(
        CancelOrder(PENDING, reason="cheaper"),
        ChangePayment(PENDING, GIFT, "my gift card"),
        ChangeAddress(PENDING, address=AWAY),
    )
    assert world.reply("What is the order number?") == "I am sorry, I do not have that at hand."
    world.wording = f"I have some wishes for {PENDING}."
    assert world.reply("What is the order number?") == f"It is {PENDING}."
    assert world.reply("Why do you want to cancel?") == "I have seen it cheaper elsewhere."
    assert world.reply("Which payment method shall be used?") == "Please use my gift card."
    assert world.reply("Which address is it?") == "The new address is 12 Elm Road, Austin, TX 78750."
    other = shop(Return(DELIVERED, CARD, items=[RED]))
    assert other.reply("To which card does the refund go?") == "Use what I paid with."
    assert other.reply("Why?") == "I have no particular reason."
    assert other.reply("Which street?") == "To the address on file, please."


def test_a_withheld_reason_is_asked_for_and_told() -> None:
    world = shop(CancelOrder(PENDING, reason="ordered by mistake"), withheld=("reason",))
    assert [s for s in world.serve(SKILLS) if isinstance(s, Call)][-1].arguments["reason"] == "ordered by mistake"
    guess = [s for s in world.ablated() if isinstance(s, Call)][-1]
    assert guess.arguments["reason"] == "ordered by mistake"  # without a capability of its own nothing is left out
    without = world.serve(SKILLS - {"precondition_verification"})
    assert [s for s in without if isinstance(s, Call)][-1].arguments["reason"] == "no longer needed"
