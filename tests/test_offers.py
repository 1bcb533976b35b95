"""Offers for the arguments of calls in a conversation, and how well calls fit the statements of the user."""

from __future__ import annotations

import json
from typing import Any

from trace_gym import registry
from trace_gym.adapters.sb3 import Menu
from trace_gym.adapters.sb3.arguments import CHOICES
from trace_gym.adapters.sb3.fits import Fits
from trace_gym.adapters.sb3.offers import Offers
from trace_gym.adapters.sb3.plan import ToolPlan
from trace_gym.adapters.sb3.results import read, tokens
from trace_gym.adapters.sb3.vocabulary import Vocabulary
from trace_gym.types import Call

ENV = "tau2_precondition"


def offers_of(messages: list[dict[str, Any]], tool: dict[str, Any]) -> list[list[Call]]:
    """Return the offers after each message, for a reader that follows the conversation."""
    offers, found = Offers(ToolPlan([tool])), []
    for message in messages:
        offers.read([message])
        found.append(calls_in(offers))
    return found


def calls_in(offers: Offers, tool: int = 0) -> list[Call]:
    """Every call of a tool that is offered."""
    return offers.plan.tools[tool].calls(offers.columns(tool), 99)


def offered_at_once(messages: list[dict[str, Any]], tool: dict[str, Any]) -> list[Call]:
    """Return the offers for a reader of all messages at once."""
    offers = Offers(ToolPlan([tool]))
    offers.read(messages)
    return calls_in(offers)


def test_what_is_new_changes_what_depends_on_it() -> None:
    """Each message brings one kind of news, and each time the offer is the one of a fresh reading."""
    order = {"type": "string", "description": "An order such as A17."}
    day, text = ({"type": "string", "description": d} for d in ("A day such as 2024-05-15.", "A text."))

    def tool(**parts: dict[str, Any]) -> dict[str, Any]:
        return {"function": {"name": "do", "parameters": {"properties": parts, "required": list(parts)}}}

    ship = tool(order_id=order, day=day, count={"type": "integer"})

    def shown(**record: Any) -> dict[str, Any]:
        return {"role": "tool", "content": json.dumps(record)}

    talk = [
        {"role": "user", "content": "Please ship A19 or B20 soon."},
        shown(day="2024-05-20"),
        shown(coupon="A19"),  # so it is no order
        shown(order_id="C30", weight=7),
        {"role": "user", "content": "On 2024-05-19, and 2 of C31."},
        shown(order_id="C30", day="2024-05-20", weight=7),
        {"role": "user", "content": "Also 2024-05-20 for C30."},
        shown(count=5),
    ]
    for each in (ship, tool(order_id=order), tool(text=text)):
        afresh = [offered_at_once(talk[: n + 1], each) for n in range(len(talk))]
        assert offers_of(talk, each) == afresh
        menu = Menu([each], Vocabulary((), (), (), (), (CHOICES,), 0), ())
        menus = [menu.offer(talk[: n + 1]) for n in range(len(talk))]
        assert [[c.action for c in choices if c.offered] for choices in menus] == [calls[:CHOICES] for calls in afresh]
    found = offers_of(talk, ship)
    ids = [list(dict.fromkeys(c.arguments["order_id"] for c in calls)) for calls in found]
    assert ids[:5] == [[], ["A19", "B20"], ["B20"], ["B20", "C30"], ["B20", "C31", "C30"]]
    assert list(dict.fromkeys(c.arguments["count"] for c in found[3])) == [7, 1, 0, 2]
    assert found[-1][0].arguments == {"order_id": "B20", "day": "2024-05-19", "count": 5}


def test_the_nearest_field_and_the_type_tell_what_fits() -> None:
    parts = {"flight_number": {"type": "string"}, "seats": {"type": "integer"}}
    tool = {"function": {"name": "hold", "parameters": {"properties": parts, "required": list(parts)}}}
    record = {"flight_type": "round_trip", "flights": [{"flight_number": "HAT045"}], "seats": 2.5}
    calls = offered_at_once([{"role": "tool", "content": json.dumps(record)}], tool)
    assert [c.arguments for c in calls] == [{"flight_number": "HAT045", "seats": n} for n in (1, 0, 2)]
    parts = {"order_id": {"type": "string"}}
    tool = {"function": {"name": "ship", "parameters": {"properties": parts, "required": list(parts)}}}
    record = {"order": "fragile", "order_id": "C30"}
    calls = offered_at_once([{"role": "tool", "content": json.dumps(record)}], tool)
    assert [c.arguments for c in calls] == [{"order_id": "C30"}]


def test_a_users_later_words_and_later_results_change_what_fits() -> None:
    fits, rivals = Fits(), [[["card_1"], ["card_2"]]]
    fits.add_words(tokens("the visa"))
    fits.add_result(read('{"id": "card_1", "brand": "visa"}'))
    assert fits.scores(rivals, 9) == [1.0, 0.0]
    cards = {"card_1", "card_2"}
    assert fits.add_result(read('{"id": "card_2", "brand": "visa", "owner": "mia li"}')) & cards == {"card_2"}
    assert fits.scores(rivals, 9) == [0.0, 0.0]  # alike
    assert fits.add_words(tokens("the visa of mia li")) & cards == {"card_2"}
    assert fits.scores(rivals, 9) == [0.0, 1.0]
    parameters = {"properties": {"card_id": {"type": "string"}}, "required": ["card_id"]}
    menu = Menu([{"function": {"name": "pay", "parameters": parameters}}], Vocabulary((), (), (), (), (2,), 0), ())
    cards = [{"card_id": "card_1", "brand": "visa"}, {"card_id": "card_2", "brand": "visa", "owner": "mia li"}]
    talk = [{"role": "user", "content": "With the visa."}, {"role": "tool", "content": json.dumps(cards)}]
    talk += [{"role": "assistant", "content": "Whose?"}, {"role": "user", "content": "Of Mia."}]
    assert [menu.encode(talk[:n])[5::4].tolist() for n in (2, 4)] == [[0.0, 0.0], [0.0, 1.0]]


def test_words_of_the_right_shape_are_offered_and_others_are_not() -> None:
    [tool] = [t for t in registry.load_world(ENV).interface().tools if t["function"]["name"] == "cancel_reservation"]
    messages = [
        {"role": "system", "content": "It is 2024-05-15 15:00:00. Codes look like A1B2C3."},
        {"role": "user", "content": "I am mia_li_3668. Please cancel XYZABC, and not 8JX2WO. Thanks."},
    ]
    [given] = [t for t in registry.load_world(ENV).interface().tools if t["function"]["name"] == "get_flight_status"]
    offers = Offers(ToolPlan([tool, given]))
    offers.read(messages)
    assert [c.arguments["reservation_id"] for c in calls_in(offers)] == ["XYZABC", "8JX2WO"]
    assert offers.things == ["mia_li_3668", "XYZABC", "8JX2WO"]
    assert calls_in(offers, 1) == []  # no date was named
    shown = {"reservation_id": "8JX2WO", "flights": [{"flight_number": "HAT045", "date": "2024-05-20"}]}
    answer = {"role": "tool", "tool_call_id": "1", "name": "x", "content": json.dumps(shown)}
    flights = [c.arguments for c in offered_at_once([*messages, answer], given)]
    # what a record holds under another name is no flight; an unknown code of six letters may be one
    assert flights == [{"flight_number": code, "date": "2024-05-20"} for code in ("XYZABC", "HAT045")]
