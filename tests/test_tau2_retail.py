"""The shop's desk: interface, tools, rules, customer and verifier, against facts and against tau2 itself."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from enum import Enum
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import gymnasium
import jsonschema
import pytest
from pydantic import BaseModel

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.score import reward
from trace_gym.targets.tau2 import retail_policy as policy
from trace_gym.targets.tau2.generic import HERE, Data
from trace_gym.targets.tau2.retail import (
    SKILLS,
    Cancel,
    Readdress,
    Repay,
    Request,
    RetailDesk,
    Return,
    Swap,
    records,
)
from trace_gym.targets.tau2.retail_tools import RetailTools, retail_interface
from trace_gym.types import Call, Say, Scenario, Score
from trace_gym.validate.draws import Draw, Values
from trace_gym.validate.surface import bare
from trace_gym.world import ToolError

SHARED = Path(__file__).resolve().parents[2] / "shared"
FACTS = json.loads((HERE / "retail.json").read_text())
ENVS = [n for n in registry.names() if registry.manifest(n).target == "tau2_retail"]
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


def refused(tool: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """The refusal of a call, which must leave the state alone."""
    world: RetailDesk = tool.__self__  # type: ignore[attr-defined]
    before = world.copy()
    with pytest.raises(ToolError) as caught:
        tool(*arguments, **named)
    assert world == before
    return str(caught.value)


# Interface


def test_the_interface_has_the_names_and_types_of_tau2() -> None:
    path = SHARED / "interfaces" / "tau2_retail.json"
    if not path.is_file():
        pytest.skip("the facts lie beside the checkout of developers only")
    facts = json.loads(path.read_text())
    ours = {t["function"]["name"]: t["function"]["parameters"] for t in FACTS["tools"]}
    assert {n: bare(s) for n, s in ours.items()} == {t["name"]: bare(t["parameters"]) for t in facts["tools"]}
    assert {t["name"]: t["kind"] for t in facts["tools"]} == FACTS["kinds"]
    assert {t["name"]: bare(t["returns"]) for t in facts["tools"]} == {n: bare(s) for n, s in FACTS["returns"].items()}
    assert bare(facts["state"]) == bare(FACTS["records"])


def test_every_tool_and_argument_is_described() -> None:
    interface = retail_interface()
    assert len(interface.tools) == 16 and interface.kinds.keys() == {t["function"]["name"] for t in interface.tools}
    for made in (t["function"] for t in interface.tools):
        assert made["description"]
        assert all(p["description"] for p in made["parameters"]["properties"].values())


@pytest.mark.parametrize("env", ENVS)
def test_generated_records_have_tau2s_shapes_and_fit_together(env: str) -> None:
    shape = jsonschema.Draft202012Validator(FACTS["records"])
    world = registry.load(env)
    for level in world.levels:
        made = world.generate(Random(f"shapes/{env}/{level}"), level)
        assert isinstance(made, RetailDesk)
        shape.validate(json.loads(json.dumps({t: getattr(made, t) for t in ("users", "orders", "products")})))
        for user in made.users.values():
            assert user["orders"] == [k for k, o in made.orders.items() if o["user_id"] == user["user_id"]]
        for placed in made.orders.values():
            methods = made.users[placed["user_id"]]["payment_methods"]
            assert all(p["payment_method_id"] in methods for p in placed["payment_history"])
            assert all(i["item_id"] in made.products[i["product_id"]]["variants"] for i in placed["items"])
            assert policy.paid(placed) == sum(i["price"] for i in placed["items"])


# Tools


SHAPES = {name: jsonschema.Draft202012Validator(schema) for name, schema in FACTS["returns"].items()}


def returns(tool: str, result: Any) -> Any:
    """The result as an agent reads it, which must have the shape that tau2 gives it."""
    read = json.loads(json.dumps(result))
    SHAPES[tool].validate({"returns": read})
    return read


def balance(world: RetailTools) -> float:
    return float(world.users[ME]["payment_methods"][GIFT]["balance"])


def test_customers_are_found_by_email_or_by_name_and_zip() -> None:
    world = shop()
    assert world.find_user_id_by_email("Ada.Berg99@EXAMPLE.com") == ME
    assert world.find_user_id_by_name_zip("ada", "BERG", "97301") == ME
    assert "ask for the email" in refused(world.find_user_id_by_email, "nobody@example.com")
    assert "name and zip" in refused(world.find_user_id_by_name_zip, "Ada", "Berg", "78750")


def test_look_ups_return_the_records() -> None:
    world = shop()
    assert returns("get_user_details", world.get_user_details(ME))["email"] == "ada.berg99@example.com"
    assert returns("get_order_details", world.get_order_details(PENDING)) == order(PENDING, "pending")
    assert returns("get_product_details", world.get_product_details(MUG)) == PRODUCTS[MUG]
    assert returns("get_item_details", world.get_item_details(RED)) == PRODUCTS[MUG]["variants"][RED]
    listed = returns("list_all_product_types", world.list_all_product_types())
    assert json.loads(listed) == {"Jug": JUG, "Mug": MUG} and listed.index("Jug") < listed.index("Mug")
    assert "no customer" in refused(world.get_user_details, "nobody")
    assert "no order '#W9'" in refused(world.get_order_details, "#W9")
    assert "no product" in refused(world.get_product_details, RED)
    assert "no item" in refused(world.get_item_details, MUG)


def test_cancelling_refunds_what_was_paid() -> None:
    world = shop()
    world.orders[PENDING] = order(PENDING, "pending", paid_with=GIFT)
    made = returns("cancel_pending_order", world.cancel_pending_order(PENDING, "no longer needed"))
    assert (made["status"], made["cancel_reason"]) == ("cancelled", "no longer needed")
    refund = {"transaction_type": "refund", "amount": 84.5, "payment_method_id": GIFT}
    assert made["payment_history"][1:] == [refund] and balance(world) == 184.5
    assert "only an order that is pending" in refused(world.cancel_pending_order, PENDING, "no longer needed")
    assert "reason must be" in refused(world.cancel_pending_order, ANOTHERS, "cheaper")
    for key in (DELIVERED, PROCESSED, MODIFIED):
        assert "look at its status" in refused(world.cancel_pending_order, key, "no longer needed")


@pytest.mark.parametrize("key", [PENDING, MODIFIED, ANOTHERS])
def test_the_tools_do_not_check_all_rules(key: str) -> None:
    """An order that is another's, or whose items were modified, is sent elsewhere without a word."""
    world = shop(Readdress(key, address=AWAY))
    assert returns("modify_pending_order_address", world.modify_pending_order_address(key, **AWAY))["address"] == AWAY
    assert policy.acts(world, world.orders[key], "pending").allowed is (key == PENDING)


def test_addresses_of_orders_and_profiles_are_two_things() -> None:
    world = shop()
    made = returns("modify_user_address", world.modify_user_address(ME, **AWAY))
    assert made["address"] == AWAY and world.orders[PENDING]["address"] == HOME
    assert "look at its status" in refused(world.modify_pending_order_address, DELIVERED, **AWAY)
    assert "no customer" in refused(world.modify_user_address, "nobody", **AWAY)


def test_a_payment_moves_to_another_method_once() -> None:
    world = shop()
    made = returns("modify_pending_order_payment", world.modify_pending_order_payment(PENDING, GIFT))
    kinds = [(p["transaction_type"], p["payment_method_id"], p["amount"]) for p in made["payment_history"]]
    assert kinds == [("payment", CARD, 84.5), ("payment", GIFT, 84.5), ("refund", CARD, 84.5)]
    assert (made["status"], balance(world)) == ("pending", 15.5)
    assert "changed before" in refused(world.modify_pending_order_payment, PENDING, PAYPAL)
    assert "changed before" in refused(world.modify_pending_order_payment, MODIFIED, PAYPAL)


def test_payments_are_refused() -> None:
    world = shop()
    assert "has paid for this order already" in refused(world.modify_pending_order_payment, PENDING, CARD)
    assert "no stored payment method" in refused(world.modify_pending_order_payment, PENDING, FOREIGN)
    assert "look at its status" in refused(world.modify_pending_order_payment, DELIVERED, GIFT)
    world.users[ME]["payment_methods"][GIFT]["balance"] = 84.25
    assert "does not cover" in refused(world.modify_pending_order_payment, PENDING, GIFT)


def test_items_of_a_pending_order_are_replaced_once() -> None:
    world = shop()
    made = returns("modify_pending_order_items", world.modify_pending_order_items(PENDING, [SMALL], [TALL], GIFT))
    assert made["status"] == "pending (item modified)"
    assert made["items"][1] == records.item(PRODUCTS[JUG], TALL) and made["items"][0]["item_id"] == RED
    payment = {"transaction_type": "payment", "amount": 31.5, "payment_method_id": GIFT}
    assert made["payment_history"][-1] == payment and balance(world) == 68.5
    assert "look at its status" in refused(world.modify_pending_order_items, PENDING, [RED], [BLUE], GIFT)


def test_cheaper_items_are_refunded_and_the_last_variant_marks_them_all() -> None:
    world = shop()
    made = world.modify_pending_order_items(PENDING, [SMALL, RED], [TALL, BLUE], GIFT)
    assert made["payment_history"][-1]["amount"] == 27.0  # 31.50 more and 4.50 less
    # tau2 writes the price and the options of the last variant into each item.
    assert [(i["item_id"], i["price"]) for i in made["items"]] == [(BLUE, 19.75), (TALL, 19.75)]
    world = shop()
    made = world.modify_pending_order_items(PENDING, [RED], [BLUE], GIFT)
    assert made["payment_history"][-1] == {"transaction_type": "refund", "amount": 4.5, "payment_method_id": GIFT}
    assert balance(world) == 104.5


SWAPS = [
    ([RED], [RED], CARD, "replaced by another one"),
    ([RED], [TALL], CARD, "no such variant"),
    ([SMALL], ["2000000004"], CARD, "is sold out"),
    ([BLUE], [RED], CARD, "does not hold the item"),
    ([RED, RED], [BLUE, BLUE], CARD, "not so often"),
    ([RED, SMALL], [BLUE], CARD, "of one length"),
    ([RED], [BLUE], FOREIGN, "no stored payment method"),
]


@pytest.mark.parametrize(("old", "new", "method", "why"), SWAPS)
def test_replacements_are_refused(old: list[str], new: list[str], method: str, why: str) -> None:
    assert why in refused(shop().modify_pending_order_items, PENDING, old, new, method)
    if old != new:  # for an exchange tau2 does not ask that
        assert why in refused(shop().exchange_delivered_order_items, DELIVERED, old, new, method)


def test_a_gift_card_must_cover_the_difference() -> None:
    world = shop()
    world.users[ME]["payment_methods"][GIFT]["balance"] = 31.25
    for tool, key in (
        (world.modify_pending_order_items, PENDING),
        (world.exchange_delivered_order_items, DELIVERED),
    ):
        assert "does not cover" in refused(tool, key, [SMALL], [TALL], GIFT)


def test_an_exchange_is_asked_for_once_and_charged_later() -> None:
    world = shop()
    exchange = world.exchange_delivered_order_items
    made = returns("exchange_delivered_order_items", exchange(DELIVERED, [SMALL, RED], [TALL, BLUE], GIFT))
    asked = (made["exchange_items"], made["exchange_new_items"], made["exchange_price_difference"])
    assert asked == ([RED, SMALL], [BLUE, TALL], 27.0)
    assert (made["status"], made["exchange_payment_method_id"]) == ("exchange requested", GIFT)
    assert balance(world) == 100.0 and made["items"] == order(DELIVERED, "delivered")["items"]
    assert "look at its status" in refused(exchange, DELIVERED, [RED], [BLUE], GIFT)
    assert "look at its status" in refused(world.return_delivered_order_items, DELIVERED, [RED], CARD)
    assert "look at its status" in refused(exchange, PENDING, [RED], [BLUE], GIFT)


def test_a_return_is_refunded_to_what_paid_or_to_a_gift_card() -> None:
    for method in (CARD, GIFT):
        world = shop()
        made = returns(
            "return_delivered_order_items", world.return_delivered_order_items(DELIVERED, [SMALL, RED], method)
        )
        assert (made["status"], made["return_items"]) == ("return requested", [RED, SMALL])
        assert made["return_payment_method_id"] == method and balance(world) == 100.0
    send = shop().return_delivered_order_items
    assert "what paid for the order" in refused(send, DELIVERED, [RED], PAYPAL)
    assert "no stored payment method" in refused(send, DELIVERED, [RED], FOREIGN)
    assert "does not hold" in refused(send, DELIVERED, [BLUE], CARD)
    assert "look at its status" in refused(send, PENDING, [RED], CARD)


def test_a_hand_over_ends_the_conversation() -> None:
    world = shop()
    assert not world.ended and world.transfer_to_human_agents("why") == "Transfer successful" and world.ended
    assert world.calculate("2 * (3 + 4)") == "14.0"


def test_a_state_is_built_from_what_was_shown() -> None:
    world = shop()
    looks = [
        Call("get_user_details", {"user_id": ME}),
        Call("get_order_details", {"order_id": PENDING}),
        Call("get_product_details", {"product_id": MUG}),
        Call("find_user_id_by_email", {"email": "ada.berg99@example.com"}),
    ]
    shown = [(c, deepcopy(getattr(world, c.tool)(**c.arguments))) for c in looks]
    seeded = RetailTools.from_records(shown)
    assert (seeded.users, seeded.orders, seeded.products) == (
        {ME: world.users[ME]},
        {PENDING: world.orders[PENDING]},
        {MUG: world.products[MUG]},
    )
    swap: Data = {"order_id": PENDING, "item_ids": [RED], "new_item_ids": [BLUE], "payment_method_id": CARD}
    assert seeded.knows(Call("modify_pending_order_items", swap), shown)
    assert not seeded.knows(Call("modify_pending_order_items", {**swap, "item_ids": [SMALL]}), shown)
    assert not seeded.knows(Call("cancel_pending_order", {"order_id": DELIVERED}), shown)
    assert all(seeded.knows(c, shown) for c in looks) and not seeded.knows(Call("list_all_product_types"), shown)
    assert seeded.knows(Call("get_item_details", {"item_id": RED}), shown)
    assert not seeded.knows(Call("get_item_details", {"item_id": TALL}), shown)
    assert not seeded.knows(Call("get_order_details", {"order_id": DELIVERED}), shown)
    assert seeded.knows(Call("modify_user_address", {"user_id": ME}), shown)
    assert seeded.modify_pending_order_items(**swap) == world.modify_pending_order_items(**swap)


def test_what_tau_bench_says_otherwise_is_declared() -> None:
    """There the profile has no id, and an order no empty field; several items keep what is their own."""
    world = shop()
    profile = {k: v for k, v in world.users[ME].items() if k != "user_id"}
    placed = {k: v for k, v in world.orders[PENDING].items() if v is not None}
    shown = [
        (Call("get_user_details", {"user_id": ME}), profile),
        (Call("get_order_details", {"order_id": PENDING}), placed),
    ]
    seeded = RetailTools.from_records(shown)
    assert (seeded.users[ME], seeded.orders[PENDING]) == (world.users[ME], world.orders[PENDING])
    for call, answer in shown:
        ours = getattr(world, call.tool)(**call.arguments)
        assert RetailTools.as_recorded(call, ours, "tau-bench retail") == answer != ours
        assert RetailTools.as_recorded(call, ours, "tau2 retail") == ours
    swap = Call("modify_pending_order_items", {"item_ids": [RED, SMALL]})
    assert "items" not in RetailTools.as_recorded(swap, {"items": [], "cancel_reason": None}, "tau-bench retail")
    cancelled = {"cancel_reason": "no longer needed", "return_items": None}
    kept = RetailTools.as_recorded(Call("cancel_pending_order"), cancelled, "tau-bench retail")
    assert kept == {"cancel_reason": "no longer needed"}


# Rules


@pytest.mark.parametrize(
    ("request_", "allowed", "why"),
    [
        (Cancel(PENDING), True, ""),
        (Cancel(PENDING, reason="ordered by mistake"), True, ""),
        (Cancel(PENDING, reason="cheaper"), False, "the reason is not accepted; it is pending, 84.50 paid"),
        (Cancel(PROCESSED), False, "it is processed, 84.50 paid"),
        (Cancel(DELIVERED), False, "it is delivered, 84.50 paid"),
        (Cancel(MODIFIED), False, "it is pending (item modified), 80.00 paid"),
        (Cancel(ANOTHERS), False, f"it is not among the orders of {ME}"),
        (Readdress(PENDING, address=AWAY), True, ""),
        (Readdress(MODIFIED, address=AWAY), False, "it is pending (item modified), 80.00 paid"),
        (Readdress(ANOTHERS, address=AWAY), False, f"it is not among the orders of {ME}"),
        (Repay(PENDING, PAYPAL, "my paypal"), True, ""),
        (Repay(PENDING, GIFT, "my gift card"), True, ""),
        (Repay(PENDING, CARD, "my credit card"), False, "this method paid for it already; it is pending, 84.50 paid"),
        (Repay(PROCESSED, PAYPAL, "my paypal"), False, "it is processed, 84.50 paid"),
        (Return(DELIVERED, CARD, items=[RED]), True, ""),
        (Return(DELIVERED, GIFT, "my gift card", items=[RED]), True, ""),
        (
            Return(DELIVERED, PAYPAL, "my paypal", items=[RED]),
            False,
            "another method paid for it; it is delivered, 84.50 paid",
        ),
        (Return(PENDING, CARD, items=[RED]), False, "it is pending, 84.50 paid"),
        (Return(ANOTHERS, FOREIGN, items=[RED]), False, f"it is not among the orders of {ME}"),
        (Swap(PENDING, CARD, items=[RED]), True, ""),
        (Swap(DELIVERED, CARD, items=[RED]), True, ""),
        (Swap(PROCESSED, CARD, items=[RED]), False, "it is processed, 84.50 paid"),
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
    world = shop(Repay(PENDING, GIFT, "my gift card"))
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
    found = shop(Cancel(PENDING)).violations(Call(tool, arguments))
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
        Cancel(PENDING, reason="cheaper"), Repay(PENDING, GIFT, "my gift card"), Readdress(PENDING, address=AWAY)
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
    world = shop(Cancel(PENDING, reason="ordered by mistake"), withheld=("reason",))
    assert [s for s in world.serve(SKILLS) if isinstance(s, Call)][-1].arguments["reason"] == "ordered by mistake"
    guess = [s for s in world.ablated() if isinstance(s, Call)][-1]
    assert guess.arguments["reason"] == "ordered by mistake"  # without a capability of its own nothing is left out
    without = world.serve(SKILLS - {"precondition_verification"})
    assert [s for s in without if isinstance(s, Call)][-1].arguments["reason"] == "no longer needed"


# Verifier


def judged(world: RetailDesk, *steps: Call | Say) -> Score:
    """The score of steps that are taken in a world; a refusal ends the test."""

    class Fixed(RetailDesk):
        id = "fixed"

        @classmethod
        def generate(cls, rng: Random, level: int) -> Any:
            return world.copy()

    episode = Episode(Fixed, Scenario(env="fixed", level=0, seed=0))
    for step in steps:
        answers = episode.step(step)
        assert not answers or not str(answers[-1]["content"]).startswith("Error"), answers
    return episode.finish()


def cancel(key: str = PENDING, reason: str = "no longer needed") -> Call:
    return Call("cancel_pending_order", {"order_id": key, "reason": reason})


def move(key: str = PENDING, **changes: str) -> Call:
    return Call("modify_pending_order_address", {"order_id": key, **AWAY, **changes})


def send_back(*items: str, method: str = CARD) -> Call:
    arguments = {"order_id": DELIVERED, "item_ids": [*items], "payment_method_id": method}
    return Call("return_delivered_order_items", arguments)


PROMISE = Say(f"To confirm: cancel {PENDING}, refund 84.50. Shall I proceed?")


def test_an_allowed_cancellation_with_its_refund_succeeds() -> None:
    world = shop(Cancel(PENDING))
    assert judged(world, PROMISE, cancel(), Say("All done.")).success
    assert reward(judged(world, cancel(), Say("All done."))) == 0.25 * 0.8  # not looked up, and not asked
    assert judged(world, PROMISE, Say("All done.")).progress == 0.0
    wrong = judged(world, PROMISE, cancel(reason="ordered by mistake"))
    assert (wrong.success, wrong.progress) == (False, 1.0) and wrong.broken
    stray = judged(world, PROMISE, cancel(), move(MODIFIED))
    assert stray.broken == ("no order changed in a way that was not asked for",)


@pytest.mark.parametrize("told", ["84.50", "84.5", "$84.50", "84.50 dollars", "84.50, of which 24.25 and 60.25"])
def test_an_amount_may_be_told_in_several_ways(told: str) -> None:
    assert judged(shop(Cancel(PENDING)), Say(f"Refund {told}. Shall I proceed?"), cancel()).success


@pytest.mark.parametrize(
    "told", ["85", "184.50", "84.501", "84.50 or 28.75", " ".join(f"{n / 4:.2f}" for n in range(2000))]
)
def test_a_wrong_amount_and_every_amount_are_not_the_one(told: str) -> None:
    score = judged(shop(Cancel(PENDING)), Say(f"Refund {told}. Shall I proceed?"), cancel())
    assert (score.success, score.progress) == (False, 0.5)


def test_a_refusal_counts_with_the_status_and_the_amount() -> None:
    world = shop(Cancel(PROCESSED))
    assert judged(world, Say(f"I cannot cancel {PROCESSED}: only pending ones; it is processed, 84.50 paid.")).success
    for words in ("", " It is processed.", " You paid 84.50.", " It is processed, 84.50 or 28.75 paid."):
        assert judged(world, Say(f"I cannot cancel that.{words}")).progress == 0.5, words
    assert judged(world, Say("It is processed, 84.50 paid.")).progress == 0.0


def test_of_anothers_order_only_the_customers_own_id_is_told() -> None:
    world = shop(Cancel(ANOTHERS))
    assert judged(world, Say(f"I cannot cancel {ANOTHERS}: it is not among the orders of {ME}.")).success
    assert judged(world, Say(f"I cannot cancel it, it belongs to {OTHER} and not to {ME}.")).progress == 0.5
    assert judged(world, Say("I cannot cancel it: it is pending, 84.50 paid.")).progress == 0.5
    assert judged(world, Say(f"I cannot cancel it, 84.50 was paid and not by {ME}.")).progress == 0.5
    own = shop(Cancel(ANOTHERS), Cancel(PENDING))  # the amount is that of an order of hers as well
    refusal = Say(f"I cannot cancel {ANOTHERS}: it is not among the orders of {ME}. {PROMISE.text}")
    assert judged(own, refusal, cancel()).success
    assert reward(judged(world, PROMISE, cancel(ANOTHERS))) == 0.0


def test_an_address_must_be_right_in_every_part() -> None:
    world = shop(Readdress(PENDING, address=AWAY))
    assert judged(world, move()).success
    near = judged(world, move(zip="78751"))
    assert (near.success, near.progress) == (False, 0.5)
    profile = Call("modify_user_address", {"user_id": ME, **AWAY})
    assert judged(world, profile).broken == ("no profile changed in a way that was not asked for",)


def test_a_payment_must_be_on_the_method_that_was_named() -> None:
    world = shop(Repay(PENDING, GIFT, "my gift card"))
    charge = Call("modify_pending_order_payment", {"order_id": PENDING, "payment_method_id": GIFT})
    assert judged(world, charge).success
    wrong = judged(world, Call(charge.tool, {**charge.arguments, "payment_method_id": PAYPAL}))
    assert (wrong.success, wrong.progress) == (False, 0.5) and wrong.broken


def test_a_return_must_hold_all_items_at_once_and_the_right_refund() -> None:
    world = shop(Return(DELIVERED, GIFT, "my gift card", items=[RED, SMALL]))
    promise = Say("You get 84.50. Shall I proceed?")
    assert judged(world, promise, send_back(SMALL, RED, method=GIFT)).success
    assert judged(world, promise, send_back(RED, method=GIFT)).progress == 0.5
    assert judged(world, promise, send_back(SMALL, RED)).progress == 0.75
    assert judged(world, send_back(SMALL, RED, method=GIFT)).progress == 0.75


@pytest.mark.parametrize("key", [PENDING, DELIVERED])
def test_a_swap_must_take_the_cheapest_that_fits(key: str) -> None:
    world = shop(Swap(key, CARD, items=[SMALL]))
    [call] = [s for s in world.oracle() if isinstance(s, Call) and s.tool.endswith("order_items")]
    assert call.arguments["new_item_ids"] == ["2000000003"]  # the cheapest of all is sold out
    assert judged(world, call).success
    dear = judged(world, Call(call.tool, {**call.arguments, "new_item_ids": [TALL]}))
    assert 0 < dear.progress < 1 and not dear.success
    wished = shop(Swap(key, CARD, items=[SMALL], wish={"lid": "none"}))
    assert judged(wished, Call(call.tool, {**call.arguments, "new_item_ids": [TALL]})).success
    first = next(s for s in wished.serve(frozenset()) if isinstance(s, Call) and s.tool == call.tool)
    assert first.arguments["new_item_ids"] == [TALL]  # without the skill it is the first other one listed


def test_of_two_items_of_a_product_the_one_that_is_meant_goes_back() -> None:
    world = shop(Return(DELIVERED, CARD, items=[BLUE]))
    world.orders[DELIVERED] = order(DELIVERED, "delivered", items=(RED, BLUE))
    assert "the Mug whose color is blue of order" in world.requests[0].asked(world)
    assert world.requests[0].call(world, SKILLS) == send_back(BLUE)
    assert world.requests[0].call(world, SKILLS - {"tool_precision"}) == send_back(RED)


# Balance


@pytest.mark.parametrize("level", range(4))
def test_half_of_the_requests_are_allowed(level: int) -> None:
    world = registry.load("tau2_retail_precondition")
    made = [world.generate(Random(f"balance/{level}/{seed}"), level) for seed in range(400)]
    verdicts = [r.verdict(m).allowed for m in made for r in m.requests]  # type: ignore[attr-defined]
    assert 0.42 < sum(verdicts) / len(verdicts) < 0.58


def test_every_near_miss_occurs() -> None:
    world = registry.load("tau2_retail_precondition")
    seen: Counter[str] = Counter()
    for level in world.levels:
        for seed in range(200):
            made = world.generate(Random(f"near/{level}/{seed}"), level)
            [request] = made.requests  # type: ignore[attr-defined]
            seen[request.verdict(made).why.partition(";")[0].partition(",")[0].partition(" of ")[0]] += 1
    kinds = {"allowed", "another method paid for it", "it is not among the orders", "the balance is too low"}
    kinds |= {"the reason is not accepted", "it is pending (item modified)", "it is processed", "it is delivered"}
    assert seen.keys() >= kinds | {"it is exchange requested", "it is return requested"} and min(seen.values()) >= 8


@pytest.mark.parametrize("level", range(4))
def test_who_acts_and_refuses_where_a_tool_does_gains_little(level: int) -> None:
    """Of what the rules forbid, the tools refuse the smaller part; the rest has to be found out before."""
    env, seeds = "tau2_retail_precondition", range(60)
    solved = sum(_by_trying(Scenario(env=env, level=level, seed=seed)) for seed in seeds)
    assert solved < 0.7 * len(seeds)


def _by_trying(scenario: Scenario) -> bool:
    skills = SKILLS - {"precondition_verification"}
    episode = registry.episode(scenario)
    start = episode.start
    assert isinstance(start, RetailDesk)
    [request] = start.requests
    for step in (*start.begins(skills), *request.reads(start, skills)):
        episode.step(step)
    episode.step(Say(f"To confirm: {request.offer(start, skills)}. Shall I proceed?"))
    [answer] = episode.step(request.call(start, skills))
    if answer["content"].startswith("Error"):
        episode.step(Say(request.refusal(start)))
    return episode.finish().success


@pytest.mark.parametrize("env", ENVS)
def test_a_skill_is_needed_where_an_expert_without_it_alone_fails(env: str) -> None:
    for scenario in registry.scenarios(env, "validate", 24):
        start = registry.episode(scenario).start
        assert isinstance(start, RetailDesk)
        assert start.needs() == {s for s in SKILLS if not _succeeds(scenario, SKILLS - {s})}, scenario


def _succeeds(scenario: Scenario, skills: frozenset[str]) -> bool:
    episode = registry.episode(scenario)
    assert isinstance(episode.start, RetailDesk)
    for step in episode.start.serve(skills):
        if episode.done:
            break
        episode.step(step)
    return episode.finish().success


# Domains


def test_an_environment_plays_in_the_domain_that_is_named() -> None:
    parts = {}
    for domain in (None, *registry.DOMAINS):
        env = gymnasium.make("trace/tau2-precondition-v0", domain=domain)
        infos = [env.reset(seed=seed)[1] for seed in range(24)]
        parts[domain] = {i["part"] for i in infos}
        for info in infos:  # the same part again, with its own tools
            assert env.reset(seed=int(info["scenario"].rpartition("/")[2]))[1]["part"] == info["part"]
            tools = {t["function"]["name"] for t in info["tools"]}
            assert ("get_order_details" in tools) is (info["part"] == "tau2_retail_precondition")
    airline, retail = {"tau2_precondition"}, {"tau2_retail_precondition"}
    assert parts == {None: airline, "airline": airline, "retail": retail, "mixed": airline | retail}


def test_every_environment_of_tau2_is_there_in_every_domain() -> None:
    skills = ("precondition", "multi_step", "structured_data", "tool_precision", "mixture")
    for name in (*(f"tau2_{s}" for s in skills), "tau2_airline_desk"):
        stem = name.removeprefix("tau2_").removeprefix("airline_")
        there = {d: registry.in_domain(name, d) for d in registry.DOMAINS}
        assert there == {"airline": name, "retail": f"tau2_retail_{stem}", "mixed": f"tau2_{stem}_mixed"}
        assert all(registry.in_domain(other, d) == n for other in there.values() for d, n in there.items())
        parts = registry.mixture(there["mixed"]).mixture
        assert {registry.manifest(p).target for p in parts} == {"tau2_airline", "tau2_retail"}


def test_an_unknown_domain_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="'telecom' is unknown; expected one of airline, retail, mixed"):
        gymnasium.make("trace/tau2-precondition-v0", domain="telecom")
    with pytest.raises(EnvNotFound, match="library_loans"):
        registry.in_domain("library_loans", "retail")


# tau2 itself


class Beside:
    """tau2's own tools beside ours, over the same records."""

    def __init__(self, tools: Any, database: Any, state: Data) -> None:
        self.theirs = tools(database.model_validate(state))
        self.ours = RetailTools(**deepcopy(state))

    def answers(self, call: Call) -> tuple[Any, Any]:
        """What tau2 answers and what we do, refusals as None."""
        try:
            result = getattr(self.theirs, call.tool)(**call.arguments)
            theirs = json.loads(json.dumps(result.model_dump() if isinstance(result, BaseModel) else result))
        except (ValueError, SyntaxError, ZeroDivisionError, TypeError):
            theirs = None
        try:
            ours = json.loads(json.dumps(getattr(self.ours, call.tool)(**call.arguments)))
        except ToolError:
            ours = None
        return theirs, ours

    @property
    def states(self) -> tuple[Data, Data]:
        tables = ("users", "orders", "products")
        return self.theirs.db.model_dump(), {t: getattr(self.ours, t) for t in tables}


@pytest.fixture(scope="module")
def tau2() -> Iterator[tuple[Any, Any, Path]]:
    """tau2's retail tools and database, executed from its checkout; what else tau2 needs is not loaded."""
    named = os.environ.get("TRACE_GYM_TAU2", "")
    folder = Path(named) / "src" / "tau2" / "domains" / "retail"
    if not named or not (folder / "tools.py").is_file():
        pytest.skip("TRACE_GYM_TAU2 names no checkout of sierra-research/tau2-bench")

    class ToolKitBase:
        def __init__(self, db: Any) -> None:
            self.db = db

    kinds = Enum("kinds", ["READ", "WRITE", "GENERIC", "THINK"])
    kit = {"ToolKitBase": ToolKitBase, "ToolType": kinds, "is_tool": lambda kind: lambda method: method}
    stand_ins: dict[str, dict[str, Any]] = {
        "tau2": {}, "tau2.domains": {}, "tau2.domains.retail": {}, "tau2.environment": {},
        "tau2.environment.db": {"DB": BaseModel}, "tau2.environment.toolkit": kit,
        "tau2.domains.retail.utils": {"RETAIL_DB_PATH": ""},
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, content in stand_ins.items():
            made = ModuleType(name)
            vars(made).update(content, __path__=[])
            patch.setitem(sys.modules, name, made)
        loaded = []
        for stem in ("data_model", "tools"):
            name = f"tau2.domains.retail.{stem}"
            spec = importlib.util.spec_from_file_location(name, folder / f"{stem}.py")
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            patch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
            loaded.append(module)
        yield loaded[1].RetailTools, loaded[0].RetailDB, Path(named) / "data" / "tau2" / "domains" / "retail"


def test_tau2_answers_the_gold_actions_of_its_tasks_as_we_do(tau2: tuple[Any, Any, Path]) -> None:
    """All of them on the benchmark's own records, with the state that they leave."""
    tools, database, data = tau2
    if not (data / "db.json").is_file() or not (data / "tasks.json").is_file():
        pytest.skip("the checkout lacks db.json or tasks.json")
    whole = database.model_validate_json((data / "db.json").read_text()).model_dump()
    counts: Counter[str] = Counter()
    for task in json.loads((data / "tasks.json").read_text()):
        calls = [Call(a["name"], a["arguments"]) for a in task["evaluation_criteria"].get("actions") or ()]
        beside = Beside(tools, database, part(whole, calls))
        for call in calls:
            theirs, ours = beside.answers(call)
            assert theirs == ours, (task["id"], call)
            counts["refused" if ours is None else "equal"] += 1
        assert beside.states[0] == beside.states[1], task["id"]
    assert counts["equal"] >= 500 and counts.total() >= 550


def part(state: Data, calls: list[Call]) -> Data:
    """The records that these calls name, with every customer's orders; all of it takes long to copy."""
    named = json.dumps([c.arguments for c in calls])
    mail = [u["user_id"] for u in state["users"].values() if u["email"].lower() in named.lower()]
    people = [u["user_id"] for u in state["users"].values() if f'"{u["name"]["last_name"]}"' in named]
    owners = [o["user_id"] for k, o in state["orders"].items() if k in named]
    users = {k: state["users"][k] for k in state["users"] if k in named or k in {*mail, *people, *owners}}
    orders = {k: o for k, o in state["orders"].items() if o["user_id"] in users}
    return {"users": users, "orders": orders, "products": state["products"]}


@pytest.mark.parametrize("env", ENVS)
def test_tau2_answers_random_calls_on_our_records_as_we_do(tau2: tuple[Any, Any, Path], env: str) -> None:
    tools, database, _ = tau2
    counts: Counter[str] = Counter()
    for scenario in registry.scenarios(env, "train", 24):
        start = registry.episode(scenario).start
        assert isinstance(start, RetailDesk)
        beside = Beside(tools, database, {t: getattr(start, t) for t in ("users", "orders", "products")})
        draw = Draw(Random(f"beside/{scenario}"), retail_interface(), Values.of(start))
        calls = [s for s in start.oracle() if isinstance(s, Call)]
        calls += [draw.changed(c) for c in calls * 8] + [draw.call(("read", "write")) for _ in range(40)]
        for call in calls:
            theirs, ours = beside.answers(call)
            assert theirs == ours, (scenario, call)
            counts["refused" if ours is None else "equal"] += 1
        assert beside.states[0] == beside.states[1], scenario
    assert min(counts["equal"], counts["refused"]) > 100, counts


def test_four_returns_find_enough_products() -> None:
    """A return is of two or three items, and the shop has ten products."""
    for seed in range(50):
        world = registry.load("tau2_retail_multi_step").generate(Random(seed), 0)
        world.products.clear()
        world.orders.clear()
        for _ in range(4):
            world.request(Random(seed), "return", True)
        assert len(world.orders) == 4
