"""Tests of the interface and the tools of the retail target."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from retail_desk import (
    ANOTHERS,
    AWAY,
    BLUE,
    CARD,
    DELIVERED,
    ENVS,
    FACTS,
    FOREIGN,
    GIFT,
    HOME,
    JUG,
    ME,
    MODIFIED,
    MUG,
    PAYPAL,
    PENDING,
    PROCESSED,
    PRODUCTS,
    RED,
    SHAPES,
    SMALL,
    TALL,
    order,
    shop,
)

from trace_gym import registry
from trace_gym.targets.tau2 import retail_policy as policy
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.retail import (
    ChangeAddress,
    RetailDesk,
    records,
)
from trace_gym.targets.tau2.retail_tools import RetailTools, retail_interface
from trace_gym.types import Call
from trace_gym.validation.surface import without_descriptions
from trace_gym.world import ToolError

SHARED = Path(__file__).resolve().parents[2] / "shared"


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
    assert {n: without_descriptions(s) for n, s in ours.items()} == {
        t["name"]: without_descriptions(t["parameters"]) for t in facts["tools"]
    }
    assert {t["name"]: t["kind"] for t in facts["tools"]} == FACTS["kinds"]
    assert {t["name"]: without_descriptions(t["returns"]) for t in facts["tools"]} == {
        n: without_descriptions(s) for n, s in FACTS["returns"].items()
    }
    assert without_descriptions(facts["state"]) == without_descriptions(FACTS["records"])


def test_every_tool_and_argument_is_described() -> None:
    interface = retail_interface()
    assert len(interface.tools) == 16 and interface.kinds.keys() == {t["function"]["name"] for t in interface.tools}
    for made in (t["function"] for t in interface.tools):
        assert made["description"]
        assert all(p["description"] for p in made["parameters"]["properties"].values())


@pytest.mark.parametrize("env", ENVS)
def test_generated_records_have_tau2s_shapes_and_fit_together(env: str) -> None:
    shape = jsonschema.Draft202012Validator(FACTS["records"])
    world = registry.load_world(env)
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
    world = shop(ChangeAddress(key, address=AWAY))
    assert returns("modify_pending_order_address", world.modify_pending_order_address(key, **AWAY))["address"] == AWAY
    assert policy.change_order(world, world.orders[key], "pending").allowed is (key == PENDING)


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
