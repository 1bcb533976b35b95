"""Detection of choices in the expected calls of a tau2 task that the user's instructions do not determine.

The rules are heuristics. A payment method, an item variant or a flight is an equally good choice if it matches the
expected one in every attribute that the instructions can refer to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trace_gym.targets.task_files import Alternative, Task
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.retail import RetailDesk
from trace_gym.targets.tau2.task_people import OWNED, contains
from trace_gym.types import Call
from trace_gym.world import World

PRICE = re.compile(
    r"cheap|expensive|\bpric|\bcost|budget|\$|afford|\bsav(?:e|ing)|\bpay (?:more|less|up)|difference", re.I
)
TIME = re.compile(
    r"\b(?:earl\w+|late\w*|morning|afternoon|evening|night|noon|\d+ ?[ap]\.?m|depart\w*|arriv\w*|hours?|fast\w*|"
    r"quick\w*|short\w*|long\w*|duration|before|after|soon\w*|stopover|layover|same flight)\b",
    re.IGNORECASE,
)
COMPARISON = re.compile(
    r"\b(?:bigger|biggest|larger|largest|smaller|smallest|higher|highest|lower|lowest|longer|longest|shorter|shortest|"
    r"brighter|brightest|lighter|lightest|darker|heavier|thicker|thinner|faster|fastest|better|best|opposite|maximum|"
    r"minimum|most|least|similar|closest|between|at least|at most)\b",
    re.IGNORECASE,
)
"""Pattern of words that compare options. With such words, the instructions may determine a value without naming it."""
KINDS = {
    "gift_card": r"gift[ -]?cards?|\bGC\b",
    "credit_card": r"(?<!gift )(?<!gift-)\bcards?\b|\bCC\b",
    "paypal": r"pay ?pal",
    "certificate": r"certificates?|vouchers?",
    "visa": r"\bvisa\b",
    "mastercard": r"master ?card",
    "original": r"original|initial|same (?:payment|card|method|account)|\b(?:used|paid) (?:to|for|with|originally)\b",
    "size": r"(?:small|larg|low|high|least|most|more|enough|bigg)\w*\b[^.]{0,30}\b(?:balance|gift|amount)|"
    r"balance\b[^.]{0,30}\b(?:small|larg|low|high|least|most|enough|bigg)",
}
"""Mapping from property of a payment method to a regular expression for the words that refer to it."""


def alternatives(task: Task, world: World, call: Call) -> Iterator[Alternative]:
    """Yield calls with another payment method, variant or flight that suits the user of a task equally well."""
    yield from _other_methods(task, world, call)
    if isinstance(world, RetailDesk):
        yield from _other_variants(task, world, call)
    elif isinstance(world, AirlineDesk):
        yield from _other_flights(task, world, call)


def _other_methods(task: Task, world: World, call: Call) -> Iterator[Alternative]:
    argument = next((name for name in ("payment_id", "payment_method_id") if name in call.arguments), None)
    record = _record(world, call)
    if argument is None or record is None:
        return
    methods = vars(world)["users"].get(record["user_id"], {}).get("payment_methods", {})
    expected = methods.get(call.arguments[argument])
    if expected is None:
        return
    needed = {p for p in _properties(expected, record) if _mentioned(p, task.instructions)}
    for key, method in methods.items():
        if key != expected["id"] and needed <= set(_properties(method, record)):
            yield Alternative(_with(call, **{argument: key}), f"no words of the user exclude the payment method {key}")


def _properties(method: Data, record: Data) -> Iterator[str]:
    """Yield the properties of a payment method that a user's words may refer to."""
    yield from (method["source"], method["id"])
    yield from (str(method[name]) for name in ("brand", "last_four") if name in method)
    history = record.get("payment_history") or [{}]
    if method["id"] in (history[0].get("payment_id"), history[0].get("payment_method_id")):
        yield "original"
    if method["source"] == "gift_card":
        yield f"size {method.get('balance', method.get('amount'))}"


def _mentioned(prop: str, text: str) -> bool:
    pattern = KINDS.get(prop.split()[0])
    return re.search(pattern, text, re.IGNORECASE) is not None if pattern else contains(text, prop)


def _other_variants(task: Task, world: RetailDesk, call: Call) -> Iterator[Alternative]:
    order = world.orders.get(str(call.arguments.get("order_id")))
    new = call.arguments.get("new_item_ids", [])
    if order is None or COMPARISON.search(task.instructions):
        return
    items = {item["item_id"]: item for item in order["items"]}
    for n, (old, chosen) in enumerate(zip(call.arguments.get("item_ids", []), new, strict=False)):
        variants = world.products.get(items.get(old, {}).get("product_id", ""), {}).get("variants", {})
        if chosen not in variants or contains(task.instructions, chosen):
            continue
        for key, other in variants.items():
            if key not in (old, chosen) and _is_as_good(other, variants[chosen], items[old], task.instructions):
                reason = f"the options {_options(other)} suit the user as well as {_options(variants[chosen])}"
                yield Alternative(_with(call, new_item_ids=[*new[:n], key, *new[n + 1 :]]), reason)


def _is_as_good(other: Data, chosen: Data, old: Data, text: str) -> bool:
    """Return whether, according to the instructions, two variants are equally good replacements for an item.

    The instructions do not have to mention an option whose value stays the same as that of the old item.
    """
    if not other["available"] or (PRICE.search(text) and other["price"] != chosen["price"]):
        return False
    for name, value in chosen["options"].items():
        differs = other["options"].get(name) != value
        if differs and (value == old["options"].get(name) or _value_mentioned(str(value), name, text)):
            return False
    return True


def _value_mentioned(value: str, option: str, text: str) -> bool:
    """Return whether a text mentions a value. For short or numeric values, a mention of the option is sufficient."""
    if len(value) <= 2 or any(c.isdigit() for c in value):
        return contains(text, option) or re.search(rf"(?<![\w']){re.escape(value)}(?!\w)", text) is not None
    return any(contains(text, part) for part in (value, *re.split(r"[ -]", value)) if len(part) > 2)


def _options(variant: Data) -> str:
    return f"({', '.join(map(str, variant['options'].values()))})"


def _other_flights(task: Task, world: AirlineDesk, call: Call) -> Iterator[Alternative]:
    legs, cabin = call.arguments.get("flights", []), call.arguments.get("cabin", "")
    booking = world.reservations.get(str(call.arguments.get("reservation_id")), {})
    kept = {(leg["flight_number"], leg["date"]) for leg in booking.get("flights", ())}
    people = len(call.arguments.get("passengers") or booking.get("passengers", []))
    by_price, by_time = PRICE.search(task.instructions), TIME.search(task.instructions)
    for n, leg in enumerate(legs):
        plan = world.flights.get(leg.get("flight_number", ""))
        if (
            plan is None
            or (leg["flight_number"], leg["date"]) in kept
            or contains(task.instructions, leg["flight_number"])
        ):
            continue
        chosen = plan["dates"].get(leg["date"], {})
        for number, other in world.flights.items():
            on = other["dates"].get(leg["date"], {})
            same_route = (other["origin"], other["destination"]) == (plan["origin"], plan["destination"])
            if (
                number == leg["flight_number"]
                or (number, leg["date"]) in kept
                or not same_route
                or on.get("available_seats", {}).get(cabin, 0) < people
            ):
                continue
            same_price = on["prices"].get(cabin) == chosen.get("prices", {}).get(cabin)
            if (by_price and not same_price) or (by_time and _times(other) != _times(plan)):
                continue
            changed = [*legs[:n], {**leg, "flight_number": number}, *legs[n + 1 :]]
            reason = f"the flight {number} on {leg['date']} suits the user as well as {leg['flight_number']}"
            yield Alternative(_with(call, flights=changed), reason)


def _times(plan: Data) -> tuple[Any, Any]:
    return plan["scheduled_departure_time_est"], plan["scheduled_arrival_time_est"]


def _record(world: World, call: Call) -> Data | None:
    """Return the reservation or order on which a call acts."""
    for name in OWNED:
        record = vars(world).get(name, {}).get(str(call.arguments.get(f"{name[:-1]}_id")))
        if isinstance(record, dict):
            return record
    return None


def _with(call: Call, **changes: Any) -> Call:
    return Call(tool=call.tool, arguments={**call.arguments, **changes})
