"""The phone: interface, tools, user, expert and verifier, against facts and against the benchmark itself."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from trace_gym import registry
from trace_gym.episode import Episode, complaint_about
from trace_gym.score import reward
from trace_gym.targets.asides import BEYOND
from trace_gym.targets.dialogue import acts, gist
from trace_gym.targets.toolsandbox import calendar, errands, measures, records
from trace_gym.targets.toolsandbox.assistant import SKILLS, Assistant
from trace_gym.targets.toolsandbox.expert import ASKING, DATES, DEPENDENCIES, RECOVERY, cure
from trace_gym.targets.toolsandbox.hearing import numbers, refused, stated
from trace_gym.targets.toolsandbox.lookups import Distance, Exchange, Position, Price, Report, Weather
from trace_gym.targets.toolsandbox.matching import likeness, most_alike
from trace_gym.targets.toolsandbox.needs import DESCRIPTIONS
from trace_gym.targets.toolsandbox.requests import NewNumber, Reach, Request, Switch, Text
from trace_gym.targets.toolsandbox.schedule import Countdown, Postpone, Remind, When
from trace_gym.targets.toolsandbox.tools import HERE, phone_interface
from trace_gym.types import Call, Say, Scenario, Score
from trace_gym.validate.surface import bare
from trace_gym.world import ToolError

SHARED = Path(__file__).resolve().parents[2] / "shared"
FACTS = json.loads((HERE / "phone.json").read_text())
SHAPES = {name: jsonschema.Draft202012Validator(schema) for name, schema in FACTS["returns"].items()}
ENVS = [name for name in registry.names() if registry.manifest(name).target == "toolsandbox"]
LOW = {"low_battery_mode": True, "cellular": False, "wifi": False, "location_service": False}
NOW = calendar.stamp(2026, 3, 30, 16, 5, 26)  # a Monday, a day before the month ends
ADA, BEN, ME = "Amara Keller", "Bruno Holm", "Celeste Weiss"


def person(number: int, name: str, relationship: str) -> dict[str, Any]:
    phone = f"+1212555010{number}"
    own = relationship == "self"
    return {
        "person_id": f"p{number}",
        "name": name,
        "phone_number": phone,
        "relationship": relationship,
        "is_self": own,
    }


def reminder(key: str, content: str, due: float) -> dict[str, Any]:
    return {
        "reminder_id": key,
        "content": content,
        "creation_timestamp": NOW - 5e5,
        "reminder_timestamp": due,
        "latitude": None,
        "longitude": None,
    }


def message(key: str, sender: int, recipient: int, content: str, ago: float) -> dict[str, Any]:
    return {
        "message_id": key,
        "sender_person_id": f"p{sender}",
        "sender_phone_number": f"+1212555010{sender}",
        "recipient_person_id": f"p{recipient}",
        "recipient_phone_number": f"+1212555010{recipient}",
        "content": content,
        "creation_timestamp": NOW - ago,
    }


def phone(*requests: Request, **settings: bool) -> Assistant:
    """A phone with three people, two messages, three reminders and small tables."""
    drawn = records.phone(Random("phone"))
    people = [person(0, ME, "self"), person(1, ADA, "friend"), person(2, BEN, "boss")]
    texts = [message("m0", 1, 0, "The keys are under the mat", 9e5), message("m1", 0, 2, "I am on my way", 3e5)]
    todo = [
        reminder("r0", "feed the cat", NOW - 86400),
        reminder("r1", "walk the dog", NOW + 9 * 86400),
        reminder("r2", "pay the rent", NOW + 86400),
    ]
    drawn |= {
        "now": NOW,
        "latitude": 30.3,
        "longitude": -97.7,
        "contacts": {c["person_id"]: c for c in people},
        "messages": {m["message_id"]: m for m in texts},
        "reminders": {r["reminder_id"]: r for r in todo},
        "cities": {"Austin": records.city(Random("Austin"), "Austin")},
        "rates": {"USD": 1.0, "EUR": 0.9, "JPY": 150.0},
        "places": [
            records.place(Random(n), n, "Austin", {"region": "Texas", "latitude": 30.267, "longitude": -97.743})
            for n in ("Harbor Museum", "Cedar Library")
        ],
    }
    made = Assistant(**drawn, requests=list(requests), wording=f"Please {' and '.join(r.wish for r in requests)}.")
    made.settings |= settings
    return made


def stock(world: Assistant) -> str:
    return str(next(iter(world.stocks.values()))["name"])


def returns(tool: str, result: Any) -> Any:
    """The result as an agent reads it, which must have the declared shape."""
    read = json.loads(json.dumps(result))
    SHAPES[tool].validate({"returns": read})
    return read


def error(tool: Callable[..., Any], **arguments: Any) -> str:
    """The text of a refusal."""
    with pytest.raises(ToolError) as caught:
        tool(**arguments)
    text = str(caught.value)
    assert ": " in text and "\n" not in text
    return text


def kind(tool: Callable[..., Any], **arguments: Any) -> str:
    return error(tool, **arguments).partition(": ")[0]


# Interface


def test_the_interface_has_the_names_and_types_of_the_benchmark() -> None:
    if not (path := SHARED / "interfaces" / "toolsandbox.json").is_file():
        pytest.skip("the facts lie beside the checkout of developers only")
    facts = json.loads(path.read_text())["tools"]
    types = {"str": "string", "bool": "boolean", "float": "number", "int": "integer"}
    ours = {t["function"]["name"]: t["function"]["parameters"] for t in FACTS["tools"]}
    assert list(ours) == [t["name"] for t in facts] and len(ours) == 33
    for tool in facts:
        made = ours[tool["name"]]
        assert list(made["properties"]) == [p["name"] for p in tool["params"]]
        assert made["required"] == [p["name"] for p in tool["params"] if "default" not in p]
        for parameter in tool["params"]:
            [first, *_] = re.findall(r"\b(str|bool|float|int)\b", parameter["type"])
            assert bare(made["properties"][parameter["name"]]) == {"type": types[first]}


def test_every_tool_and_argument_is_described() -> None:
    interface = phone_interface()
    assert interface.kinds.keys() == {t["function"]["name"] for t in interface.tools}
    for made in (t["function"] for t in interface.tools):
        assert made["description"]
        assert all(p["description"] for p in made["parameters"]["properties"].values())
    assert (
        interface.system_prompt.startswith(interface.conventions)
        and interface.policy.strip() in interface.system_prompt
    )


def test_several_calls_of_one_turn_are_made_in_order() -> None:
    assert phone_interface().calls_per_turn > 1
    wired = [
        {"id": n, "function": {"name": "set_wifi_status", "arguments": f'{{"on": {on}}}'}}
        for n, on in (("a", "false"), ("b", "true"), ("c", "true"))
    ]
    episode = Episode(only(phone()), Scenario(env="phone", level=0, seed=0))
    told = [m["content"] for m in episode.step({"role": "assistant", "content": "", "tool_calls": wired})]
    assert told == ["null", "null", "Error: ValueError: wifi is on already"]


def only(world: Assistant) -> type[Assistant]:
    """A class whose every problem is this one."""

    class Fixed(Assistant):
        id = "phone"

        @classmethod
        def generate(cls, rng: Random, level: int) -> Any:
            return world.copy()

    return Fixed


def test_generated_records_have_the_shapes_of_the_benchmark() -> None:
    shapes = {name: jsonschema.Draft202012Validator(schema) for name, schema in FACTS["records"].items()}
    for seed in range(20):
        made = json.loads(json.dumps(records.phone(Random(seed))))
        shapes["settings"].validate(made["settings"])
        for table in ("contacts", "messages", "reminders"):
            for key, record in made[table].items():
                shapes[table].validate(record)
                assert set(record) == set(FACTS["records"][table]["properties"])
                assert key == next(iter(record.values()))


def test_no_name_is_like_another() -> None:
    pools = (
        records.FIRST_NAMES,
        records.LAST_NAMES,
        records.RELATIONSHIPS,
        tuple(records.COMPANIES),
        tuple(records.PLACES),
    )
    for pool in pools:
        assert max(likeness(a, b) for a, b in itertools.combinations(pool, 2)) < 90
    full = [f"{a} {b}" for a, b in zip(records.FIRST_NAMES, records.LAST_NAMES, strict=False)]
    assert max(likeness(a, b) for a in (*full, *records.FIRST_NAMES) for b in full if a.split()[0] != b.split()[0]) < 90


def test_no_record_holds_a_number_that_a_request_names() -> None:
    """``In 4 days it is 25.6`` would else name 4 degrees, too, and a reminder would be moved to where it is."""
    for seed in range(100):
        made = records.phone(Random(seed))
        days = [day for city in made["cities"].values() for day in city["days"]]
        degrees = [value for day in days for name, value in day.items() if name.endswith("temperature")]
        assert degrees and not any(value == int(value) for value in degrees)
        assert all(r["reminder_timestamp"] % 900 == 600 for r in made["reminders"].values())


def test_no_two_currencies_come_to_nearly_the_same() -> None:
    for seed in range(300):
        rng = Random(seed)
        world = Assistant(**records.phone(rng))
        asked = errands.lookup(rng, world, "exchange")
        worth = sorted({asked.value(world), *asked.rivals(world)})
        assert len(worth) == 4 and all(b - a > 0.05 for a, b in itertools.pairwise(worth)), asked


# Settings


@pytest.mark.parametrize("service", ["cellular_service", "wifi", "location_service"])
def test_low_battery_mode_switches_a_service_off_and_blocks_it(service: str) -> None:
    world = phone()
    get, switch = getattr(world, f"get_{service}_status"), getattr(world, f"set_{service}_status")
    assert get() is True and kind(switch, on=True) == "ValueError"
    world.set_low_battery_mode_status(on=True)
    assert get() is False and world.get_low_battery_mode_status() is True
    assert kind(switch, on=True) == "PermissionError" and kind(switch, on=False) == "ValueError"
    world.set_low_battery_mode_status(on=False)
    assert get() is False, "what it switched off stays off"
    switch(on=True)
    assert get() is True
    assert kind(world.set_low_battery_mode_status, on=False) == "ValueError"


@pytest.mark.parametrize(
    ("off", "tool", "arguments", "refusal"),
    [
        (
            "cellular",
            "send_message_with_phone_number",
            {"phone_number": "+12125550101", "content": "x"},
            "ConnectionError",
        ),
        ("wifi", "search_stock", {"query": "Northwind"}, "ConnectionError"),
        (
            "wifi",
            "convert_currency",
            {"amount": 1, "from_currency_code": "USD", "to_currency_code": "EUR"},
            "ConnectionError",
        ),
        ("wifi", "search_holiday", {"holiday_name": "Thanksgiving"}, "ConnectionError"),
        ("wifi", "search_lat_lon", {"latitude": 30, "longitude": -97}, "ConnectionError"),
        ("wifi", "search_weather_around_lat_lon", {}, "ConnectionError"),
        ("wifi", "search_location_around_lat_lon", {"location": "museum"}, "ConnectionError"),
        ("location_service", "get_current_location", {}, "PermissionError"),
        ("location_service", "search_weather_around_lat_lon", {}, "PermissionError"),
        ("location_service", "search_location_around_lat_lon", {"location": "museum"}, "PermissionError"),
    ],
)
def test_tools_need_their_service_and_no_other(off: str, tool: str, arguments: dict[str, Any], refusal: str) -> None:
    assert kind(getattr(phone(**{off: False}), tool), **arguments) == refusal
    lone = {"cellular": False, "wifi": False, "location_service": False, off: True}
    needed = {"search_weather_around_lat_lon", "search_location_around_lat_lon"}
    lone |= dict.fromkeys(("wifi", "location_service"), True) if tool in needed else {}
    returns(tool, getattr(phone(**lone), tool)(**arguments))


def test_a_place_that_is_given_needs_no_location_service() -> None:
    world = phone(location_service=False)
    there: dict[str, Any] = {"latitude": 30.267, "longitude": -97.743}
    assert returns("search_weather_around_lat_lon", world.search_weather_around_lat_lon(**there))["name"] == "Austin"
    assert len(returns("search_location_around_lat_lon", world.search_location_around_lat_lon("museum", **there))) == 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ConnectionError: cellular service is off", ("cellular", True)),
        ("ConnectionError: wifi is off", ("wifi", True)),
        ("PermissionError: location service is off", ("location_service", True)),
        ("PermissionError: wifi cannot be switched on in low battery mode", ("low_battery_mode", False)),
        ("ValueError: wifi is off already", None),
        ("NoDataError: there is no entry 'x'", None),
    ],
)
def test_a_refusal_names_its_cure(text: str, wanted: tuple[str, bool] | None) -> None:
    assert cure(text) == wanted


# Contacts, messages, reminders


def test_contacts_are_found_by_likeness_and_exactly() -> None:
    world = phone()
    assert [c["name"] for c in returns("search_contacts", world.search_contacts(name="amara"))] == [ADA]
    assert [c["name"] for c in world.search_contacts(relationship="boss")] == [BEN]
    assert [c["name"] for c in world.search_contacts(is_self=True)] == [ME]
    assert [c["name"] for c in world.search_contacts(phone_number="+12125550102", name="Holm")] == [BEN]
    assert world.search_contacts(phone_number="+1 212 555 0102") == [], "numbers are compared letter by letter"
    assert world.search_contacts(name="Zimmer") == []
    assert kind(world.search_contacts) == "ValueError"
    assert kind(world.search_contacts, phone_number="555") == "NumberParseException"


def test_at_most_five_are_found_by_likeness() -> None:
    world = phone()
    for n in range(8):
        world.add_contact(f"Farid {records.LAST_NAMES[n]}", f"+1212555012{n}")
    assert len(world.search_contacts(name="Farid")) == 5
    assert len(world.search_contacts(is_self=False)) == 10


def test_contacts_are_added_changed_and_removed() -> None:
    world = phone()
    key = returns("add_contact", world.add_contact("Greta Quist", "+442071838750", "coach"))
    assert key not in phone().contacts and key == phone().add_contact("Greta Quist", "+442071838750")
    returns("modify_contact", world.modify_contact(key, relationship="friend"))
    assert world.contacts[key]["relationship"] == "friend" and world.contacts[key]["name"] == "Greta Quist"
    assert list(world.contacts)[-1] == key
    world.modify_contact("p0", name="Celeste Holm", is_self=True)
    assert list(world.contacts)[-1] == "p0", "a changed record moves to the end"
    returns("remove_contact", world.remove_contact(key))
    assert key not in world.contacts
    assert (
        kind(world.remove_contact, person_id=key)
        == kind(world.modify_contact, person_id=key, name="x")
        == "NoDataError"
    )
    assert kind(world.modify_contact, person_id="p1") == "ValueError"
    assert kind(world.modify_contact, person_id="p1", is_self=True) == "DuplicateError"
    assert kind(world.add_contact, name="Me", phone_number="+12125550109", is_self=True) == "DuplicateError"
    assert kind(world.add_contact, name="Me", phone_number="12125550109") == "NumberParseException"


@pytest.mark.parametrize(
    ("number", "valid"),
    [
        ("+12125550147", True),
        ("+1 (212) 555-0147", True),
        ("+442071838750", True),
        ("+999123456", False),
        ("+0123456", False),
        ("555", False),
        ("", False),
        ("+1", False),
        ("hello", False),
        ("+1555123456789012345", False),
    ],
)
def test_phone_numbers_are_international(number: str, valid: bool) -> None:
    world = phone()
    if valid:
        assert world.search_contacts(phone_number=number) == []
    else:
        assert kind(world.search_contacts, phone_number=number) == "NumberParseException"


def test_a_message_is_sent_from_the_user_to_whom_the_number_belongs() -> None:
    world = phone()
    key = returns("send_message_with_phone_number", world.send_message_with_phone_number("+12125550101", "Hello"))
    sent = world.messages[key]
    assert (sent["sender_person_id"], sent["recipient_person_id"], sent["creation_timestamp"]) == ("p0", "p1", NOW)
    other = world.messages[world.send_message_with_phone_number("+12125550155", "Hello")]
    assert other["recipient_person_id"] is None and key != other["message_id"]
    world.remove_contact("p0")
    assert kind(world.send_message_with_phone_number, phone_number="+12125550101", content="x") == "DuplicateError"


def test_messages_are_found_by_person_words_and_time() -> None:
    world = phone()
    found = returns("search_messages", world.search_messages(sender_person_id="p1"))
    assert [m["message_id"] for m in found] == ["m0"]
    assert [m["message_id"] for m in world.search_messages(content="on my way")] == ["m1"]
    assert [m["message_id"] for m in world.search_messages(creation_timestamp_lowerbound=NOW - 4e5)] == ["m1"]
    assert [m["message_id"] for m in world.search_messages(creation_timestamp_upperbound=NOW - 4e5)] == ["m0"]
    assert [m["message_id"] for m in world.search_messages(recipient_phone_number="+12125550102")] == ["m1"]
    assert kind(world.search_messages) == kind(world.search_messages, creation_timestamp_lowerbound=5) == "ValueError"


def test_reminders_are_set_found_moved_and_removed() -> None:
    world = phone()
    key = returns("add_reminder", world.add_reminder("call home", 1774900000, latitude=30, longitude=-97.5))
    assert world.reminders[key]["creation_timestamp"] == NOW
    assert [r["content"] for r in returns("search_reminder", world.search_reminder(latitude=30.0))] == ["call home"]
    due: dict[str, Any] = {"reminder_timestamp_lowerbound": NOW, "reminder_timestamp_upperbound": NOW + 2 * 86400}
    assert [r["reminder_id"] for r in world.search_reminder(**due)] == ["r2", key]
    returns("modify_reminder", world.modify_reminder("r0", reminder_timestamp=NOW + 60))
    moved = world.reminders["r0"]
    assert (moved["reminder_timestamp"], moved["creation_timestamp"], moved["content"]) == (
        NOW + 60,
        NOW,
        "feed the cat",
    )
    returns("remove_reminder", world.remove_reminder("r0"))
    assert kind(world.remove_reminder, reminder_id="r0") == kind(world.modify_reminder, reminder_id="r0", content="x")
    assert kind(world.modify_reminder, reminder_id="r1") == kind(world.search_reminder) == "ValueError"
    assert kind(world.add_reminder, content="x", reminder_timestamp=1e12) == "ValueError"
    assert kind(world.add_reminder, content="x", reminder_timestamp=NOW, latitude=91) == "ValueError"


def test_a_change_that_changes_nothing_leaves_a_record_in_its_place() -> None:
    world = phone()
    world.modify_contact("p0", name=ME)
    assert list(world.contacts) == ["p0", "p1", "p2"]


# Times, units, distances


def test_the_clock_stands_still_and_is_read_in_utc() -> None:
    world = phone()
    assert returns("get_current_timestamp", world.get_current_timestamp()) == NOW
    world.add_reminder("x", NOW)
    assert world.get_current_timestamp() == NOW
    told = returns("timestamp_to_datetime_info", world.timestamp_to_datetime_info(NOW))
    assert told == {"year": 2026, "month": 3, "day": 30, "hour": 16, "minute": 5, "second": 26, "isoweekday": 1}
    del told["isoweekday"]
    assert returns("datetime_info_to_timestamp", world.datetime_info_to_timestamp(**told)) == NOW


@pytest.mark.parametrize(
    ("by", "date"),
    [
        ({"days": 2}, (2026, 4, 1)),
        ({"weeks": -5}, (2026, 2, 23)),
        ({"hours": 8}, (2026, 3, 31)),
        ({}, (2026, 3, 30)),
        ({"days": 365, "minutes": -1}, (2027, 3, 30)),
        ({"seconds": -16 * 3600 - 327}, (2026, 3, 29)),
    ],
)
def test_timestamps_are_shifted(by: dict[str, int], date: tuple[int, int, int]) -> None:
    world = phone()
    moved = returns("shift_timestamp", world.shift_timestamp(NOW, **by))
    told = world.timestamp_to_datetime_info(moved)
    assert (told["year"], told["month"], told["day"]) == date
    between = returns("timestamp_diff", world.timestamp_diff(NOW, moved))
    assert between["days"] * 86400 + between["seconds"] == moved - NOW and 0 <= between["seconds"] < 86400


def test_impossible_times_are_refused() -> None:
    world = phone()
    assert (
        kind(world.datetime_info_to_timestamp, year=2026, month=2, day=29, hour=0, minute=0, second=0) == "ValueError"
    )
    assert (
        kind(world.datetime_info_to_timestamp, year=2026, month=2, day=2, hour=24, minute=0, second=0) == "ValueError"
    )
    assert kind(world.timestamp_to_datetime_info, timestamp=NOW * 1000) == "ValueError"
    assert kind(world.shift_timestamp, timestamp=NOW, weeks=10**17) == "OverflowError"
    assert kind(world.seconds_to_hours_minutes_seconds, seconds=1e17) == "OverflowError"
    split = returns("seconds_to_hours_minutes_seconds", world.seconds_to_hours_minutes_seconds(3723.5))
    assert split == {"hour": 1, "minute": 2, "second": 3}


@pytest.mark.parametrize(
    ("name", "year", "date"),
    [
        ("Thanksgiving", 2026, "2026-11-26"),
        ("thanksgiving day", 2027, "2027-11-25"),
        ("Labor Day", 2025, "2025-09-01"),
        ("Memorial Day", 2026, "2026-05-25"),
        ("Christmas", 2026, "2026-12-25"),
        ("Independence Day", 2025, "2025-07-04"),
        ("Christmas Day", 2022, "2022-12-26"),
        ("New Year's Day", 2027, "2027-12-31"),
        ("Easter", 2026, None),
        ("Martin Luther King", 2026, "2026-01-19"),
        ("juneteenth", 2026, "2026-06-19"),
        ("juneteenth", 2020, None),
        ("", 2026, None),
        ("Thanksgiving", 0, None),
        ("Thanksgiving", 99999, None),
        ("x" * 4000, 2026, None),
    ],
)
def test_holidays(name: str, year: int, date: str | None) -> None:
    found = returns("search_holiday", phone().search_holiday(name, year))
    assert (calendar.moment(found).date().isoformat() if found is not None else None) == date


def test_a_holiday_is_of_this_year_unless_another_is_named() -> None:
    assert phone().search_holiday("Memorial Day") == calendar.stamp(2026, 5, 25)


@pytest.mark.parametrize(
    ("amount", "source", "wanted", "result"),
    [
        (12.5, "miles", "kilometers", 20.1168),
        (10, "Celsius", "fahrenheit", 50),
        (32, "fahrenheit", "kelvin", 273.15),
        (2, "pounds", "kg", 0.90718474),
        (1.5, "hours", "minutes", 90),
        (1, "gallon", "liter", 3.785411784),
        (100, "kph", "mph", 62.13711922),
        (3, "feet", "inches", 36),
        (1, "stone", "pounds", 14),
        (1, "acre", "hectare", 0.40468726),
    ],
)
def test_units(amount: float, source: str, wanted: str, result: float) -> None:
    assert isclose(returns("unit_conversion", phone().unit_conversion(amount, source, wanted)), result, rel_tol=1e-7)


def test_units_of_different_kinds_are_refused() -> None:
    assert kind(phone().unit_conversion, amount=1, from_unit="mile", to_unit="kg") == "DimensionalityError"
    assert "smoot" in error(phone().unit_conversion, amount=1, from_unit="smoot", to_unit="kg")


@pytest.mark.parametrize(
    ("one", "other", "kilometers"),
    [
        ((37.3346, -122.0091), (37.8199, -122.4783), 67.9630),
        ((0, 0), (0, 1), 111.319),
        ((30, 40), (30, 40), 0),
        ((90, 0), (-90, 0), 20003.931),
        ((0, 0), (0, 180), 20003.931),
        ((89.9, 0), (89.9, 180), 22.3388),
        ((51.5, 0), (48.86, 2.35), 338.1997),
    ],
)
def test_distances(one: tuple[float, float], other: tuple[float, float], kilometers: float) -> None:
    assert isclose(measures.distance(*one, *other), kilometers, rel_tol=2e-4, abs_tol=1e-9)
    assert isclose(measures.distance(*other, *one), kilometers, rel_tol=2e-4, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [
        ("Amara", "Amara Keller", 90),
        ("keller amara", "Amara Keller", 95),
        ("friends", "friend", 92.31),
        ("my boss", "boss", 90),
        ("same", "SAME!", 100),
        ("", "x", 0),
        ("Viktor", "Wilma", 18.18),
        ("book a haircut", "Please book my haircut for next week", 85.5),
        ("a", "walk the dog", 60),
    ],
)
def test_likeness_is_what_the_benchmarks_library_says(one: str, other: str, score: float) -> None:
    assert likeness(one, other) == pytest.approx(score, abs=0.01)
    assert likeness(other, one) == pytest.approx(score, abs=0.01)


def test_the_most_alike_come_first() -> None:
    assert most_alike("amara", ["Bruno", None, "Amara Keller", "amara", "Amara Holm"], 90) == [3, 2, 4]
    assert most_alike("y" * 5000, ["y" * 5000], 50) == []


# Searches


def test_the_searches_read_the_tables() -> None:
    world = phone()
    found = returns("search_stock", world.search_stock(stock(world).upper()))
    assert returns("search_stock", world.search_stock(found["symbol"].lower())) == found
    assert returns("search_stock", world.search_stock("Acme Rockets")) is None
    returns("get_current_location", world.get_current_location())
    today = returns("search_weather_around_lat_lon", world.search_weather_around_lat_lon())
    tomorrow = returns("search_weather_around_lat_lon", world.search_weather_around_lat_lon(days=1))
    assert "current_temperature" in today and "current_temperature" not in tomorrow
    assert today["min_temperature"] < today["average_temperature"] < today["max_temperature"]
    assert world.search_weather_around_lat_lon(days=5) is None
    assert world.search_weather_around_lat_lon(latitude=0, longitude=0) is None
    assert returns("search_lat_lon", world.search_lat_lon(30.267, -97.743)) == "Austin, Texas, USA"
    place = world.places[0]
    assert world.search_lat_lon(place["latitude"], place["longitude"]) == place["full_address"]
    assert returns("search_lat_lon", world.search_lat_lon(0, 0)) is None
    assert kind(world.search_weather_around_lat_lon, days=-1) == "ValueError"
    assert kind(world.search_weather_around_lat_lon, latitude=3) == "ValueError"


def test_places_are_listed_nearest_first() -> None:
    world = phone()
    near, far = (dict(world.places[0], name=f"{n} Museum", latitude=30.3 + d) for n, d in (("A", 0.01), ("B", 0.5)))
    world.places = [far, near]
    told = returns("search_location_around_lat_lon", world.search_location_around_lat_lon("museum"))
    assert [p["name"] for p in told] == ["A Museum", "B Museum"]
    assert world.search_location_around_lat_lon("") == world.search_location_around_lat_lon("castle") == []


def test_money_is_converted_by_the_rates() -> None:
    world = phone()
    codes = {"from_currency_code": "eur", "to_currency_code": "JPY"}
    assert returns("convert_currency", world.convert_currency(90, **codes)) == 15000
    assert kind(world.convert_currency, amount=1, from_currency_code="$", to_currency_code="EUR") == "ValueError"
    assert kind(world.convert_currency, amount=1, from_currency_code="CHF", to_currency_code="EUR") == "RuntimeError"


# The user


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What is the number?", "request"),
        ("Shall I switch low battery mode off?", "proposal"),
        ("Do you want me to do that?", "proposal"),
        ("I found the number. Should I send the message?", "proposal"),
        ("When should I remind you?", "request"),
        ("What is the number? Please confirm.", "request"),
        ("May I have the number?", "request"),
        ("I need the number of Zora.", "request"),
        ("I need to know the number of Zora.", "request"),
        ("What do you want me to write?", "request"),
        ("Please tell me the number, and I will send it.", "request"),
        ("Shall I send the message to the number +12125550101?", "proposal"),
        ("I can\u2019t do that.", "refusal"),
        ("I cannot do that: wifi is off.", "refusal"),
        ("I'm UNABLE to help.", "refusal"),
        ("I will switch wifi on, since it is off.", "hold"),
        ("Let me see.", "hold"),
        ("I found two of that name. Please tell me which.", "request"),
        ("I cannot find Zora. What is the number?", "request"),
        ("Done. Is there anything else that I can do?", "completion"),
        ("It is sent. Let me know if you need something else, or another number.", "completion"),
        ("Done.", "completion"),
        ('I sent this: "I will be late, cannot stop?".', "completion"),
        ("Blorp.", "other"),
        ("", "other"),
    ],
)
def test_the_user_understands_messages_by_their_acts(text: str, kind: str) -> None:
    assert gist(text) == kind


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Which Amara do you mean?", ["which"]),
        ("What is her phone number, and what shall I write?", ["number", "content"]),
        ("What number should I send the message to?", ["number"]),
        ("At what time?", ["time"]),
        ("When is it due?", ["time"]),
        ('What about "number"?', []),
    ],
)
def test_questions_have_topics(text: str, asked: list[str]) -> None:
    assert phone(Text(ADA, "x", meant=ADA)).topics(acts(text)) == asked


def test_the_user_tells_what_is_asked_and_no_more() -> None:
    world = phone(Text("Amara", "See you soon", meant=ADA, number="+12125550155"))
    assert world.reply("Hello.") == 'What I want is this: Please text Amara: "See you soon".'
    assert world.reply("What is your favourite color?") in BEYOND["fact"]
    assert world.reply("WHICH one?") == f"I mean {ADA}."
    assert world.reply("What is the number?") == "The number is +12125550155."
    assert world.reply("What shall it say, and to which one?") == f'I mean {ADA}. Write: "See you soon".'
    assert world.asked == ["which", "number", "content"]
    assert phone(Text("Zora", "x", meant="Zora")).reply("What is the number?") == "I do not have any number."
    at = When(9, 30, on="2026-05-01")
    assert phone(Remind("x", at, withheld=True)).reply("When?") == "I want to be reminded on 2026-05-01 at 09:30."


def test_the_user_may_greet_before_asking() -> None:
    world = phone(Text(ADA, "See you soon", meant=ADA))
    world.greeting = "Are you there?"
    assert world.copy().reply("I cannot help you.") == world.wording  # nothing was asked for yet
    made = played(world, world.serve(SKILLS))
    assert [m["content"] for m in made.messages if m["role"] == "user"] == ["Are you there?", world.wording]
    assert made.finish().success and made.said[0] == "What can I do for you?"


def test_the_user_agrees_waits_and_hangs_up() -> None:
    world = phone(Price("Northwind"))
    assert world.copy().reply("May I switch wifi on?") == "Yes, if what I asked for needs it."
    world.keep = ("low_battery_mode",)
    assert world.reply("May I switch it off?") == "Yes, if what I asked for needs it. Leave low battery mode alone."
    assert all(world.reply("One moment.") for _ in range(9))
    assert phone().reply("It is done.") is None and phone().reply("I cannot do that.") is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["It is 42.57."], True),
        (["It is 42.6 dollars."], True),
        (["1,042.57"], False),
        (["It is 42.57 or 99.9."], False),
        (["42.57", "99.9"], False),
        (["42.57, up by 3"], True),
        (["42.4"], False),
        ([], False),
    ],
)
def test_a_number_is_told_without_its_rivals(said: list[str], told: bool) -> None:
    assert stated(42.57, [42.57, 99.9], said) is told


def test_numbers_are_read_as_people_write_them() -> None:
    assert numbers(["-3.5 and 1,234.5 on 2026-03-04, 7."]) == [-3.5, 1234.5, 2026, 3, 4, 7] or numbers(["x"]) == []
    assert numbers(["from -97.74 to 30"]) == [-97.74, 30]


def test_a_refusal_names_its_reason_in_the_same_sentence_or_next_to_it() -> None:
    low = ("low battery mode",)
    assert refused(low, ["I cannot do it: LOW BATTERY MODE is on."])
    assert refused(low, ["I cannot do it. Low battery mode is on."])
    assert not refused(low, ["I cannot do it. That is a pity. It is raining. Low battery mode is on."])
    assert not refused(low, ["Low battery mode is on."]) and not refused((), ["I cannot do it."])


@pytest.mark.parametrize(
    "said",
    [
        "I cannot email Ada.",
        "There is no tool for emails.",
        "I\u2019m sorry, Ada\u2019s mail is not supported.",
        "The phone does not offer email.",
        "I found nothing about Ada.",
    ],
)
def test_a_refusal_has_many_forms(said: str) -> None:
    assert refused(("email", "ada"), [said])
    assert not refused(("email", "ada"), ["No problem, I wrote the email to Ada."])


# Experts and scores


def played(world: Assistant, steps: Iterator[Call | Say]) -> Episode:
    """The finished episode of these steps."""
    episode = Episode(only(world), Scenario(env="phone", level=0, seed=0))
    for step in steps:
        if not episode.done:
            episode.step(step)
    episode.finish()
    return episode


def score(world: Assistant, *steps: Call | Say) -> Score:
    return played(world, iter(steps)).finish()


def plan(world: Assistant, skills: frozenset[str] = SKILLS) -> list[str]:
    """The tools of an expert's plan, with what switches are set to; what is said in small letters."""
    made = []
    for step in world.serve(skills):
        if isinstance(step, Say):
            made.append(step.text)
        else:
            made.append(step.tool + (f" {step.arguments['on']}" if "on" in step.arguments else ""))
    return made


def test_the_expert_follows_refusals_to_their_cause() -> None:
    world = phone(Text(ADA, "See you soon", meant=ADA), **LOW)
    send = "send_message_with_phone_number"
    cellular, battery = "set_cellular_service_status True", "set_low_battery_mode_status False"
    assert plan(world)[:-1] == ["search_contacts", send, cellular, battery, cellular, send]
    assert played(world, world.serve(SKILLS)).finish().success
    assert plan(world, SKILLS - {RECOVERY})[:-1] == ["search_contacts", send]
    assert world.needs() == {RECOVERY}


def test_two_services_are_found_to_be_missing_one_after_the_other() -> None:
    world = phone(Weather(days=1), wifi=False, location_service=False, cellular=False)
    look = "search_weather_around_lat_lon"
    on = [f"set_{s}_status True" for s in ("location_service", "wifi")]
    assert plan(world)[:-1] == [look, on[0], look, on[1], look]
    made = played(world, world.serve(SKILLS))
    assert made.finish().success
    assert isinstance(made.world, Assistant) and made.world.settings["cellular"] is False


def test_a_setting_that_is_to_be_kept_makes_a_task_impossible() -> None:
    world = phone(Price("Northwind"), **LOW)
    world.keep = ("low_battery_mode",)
    assert plan(world)[:-1] == ["search_stock", "set_wifi_status True"]
    assert "low battery mode is on and has to stay so" in plan(world)[-1]
    assert played(world, world.serve(SKILLS)).finish().success
    assert score(world, Say("I cannot: wifi is off.")).progress == 0
    off = Call("set_low_battery_mode_status", {"on": False})
    assert world.violations(off) == ["the user wants low battery mode left alone"]
    assert world.violations(Call("set_wifi_status", {"on": True})) == world.violations(Call("get_wifi_status")) == []
    assert "no setting changed that nothing needs" in score(world, off, Say("I cannot: low battery mode is on.")).broken


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("on", [True, False])
def test_what_takes_a_service_away_comes_last(first: bool, on: bool) -> None:
    parts = [Switch("wifi", on=False), Price(stock(phone()))]
    world = phone(*(parts if first else reversed(parts)), wifi=on)
    assert plan(world)[-2] == "set_wifi_status False" and plan(world)[0] == "search_stock"
    assert played(world, world.serve(SKILLS)).finish().success
    assert world.needs() == frozenset({DEPENDENCIES} if first else ()) | ({RECOVERY} if not on else frozenset())


def test_what_was_in_the_way_is_put_back_in_reverse() -> None:
    world = phone(Report(ADA, Price(stock(phone()))), **LOW)
    world.restore = True
    back = ["set_cellular_service_status False", "set_wifi_status False", "set_low_battery_mode_status True"]
    assert plan(world)[-4:-1] == back
    made = played(world, world.serve(SKILLS))
    assert made.finish().success and isinstance(made.world, Assistant) and made.world.settings == {**LOW}
    assert world.needs() == {RECOVERY, DEPENDENCIES}
    left = played(world, world.serve(SKILLS - {DEPENDENCIES})).finish()
    assert (left.progress, left.success) == (1, False) and len(left.broken) == 1


def test_low_battery_mode_in_the_end_takes_the_services_with_it() -> None:
    world = phone(Switch("low_battery_mode", on=True), Text(BEN, "See you soon", meant=BEN))
    assert plan(world)[-2] == "set_low_battery_mode_status True"
    made = played(world, world.serve(SKILLS))
    assert made.finish().success
    assert not played(world, world.serve(SKILLS - {DEPENDENCIES})).finish().success


def named_alike() -> Assistant:
    world = phone(Text("Amara", "See you soon", meant="Amara Holm"))
    world.contacts["p3"] = person(3, "Amara Holm", "sister")
    return world


def test_of_two_people_the_one_that_is_meant_is_asked_for() -> None:
    world = named_alike()
    made = played(world, world.serve(SKILLS))
    assert f"Which one do you mean, {ADA} or Amara Holm?" in made.said and made.finish().success
    assert world.needs() == {ASKING}
    lucky = named_alike()
    lucky.requests = [Text("Amara", "See you soon", meant=ADA)]
    assert lucky.needs() == frozenset(), "the first one listed is the right one"


@pytest.mark.parametrize("number", ["+12125550155", ""])
def test_a_number_that_is_missing_is_asked_for_or_owned_up_to(number: str) -> None:
    world = phone(Text("Zora", "See you soon", meant="Zora", number=number))
    assert world.needs() == {ASKING}
    made = played(world, world.serve(SKILLS))
    assert made.finish().success
    if not number:
        unasked = score(world, Say("I cannot text Zora without a number."))
        assert (unasked.progress, unasked.success) == (0.5, False)


@pytest.mark.parametrize(
    "request_",
    [
        Text(ADA, "See you soon", withheld=True, meant=ADA),
        Remind("call home", When(9, 30, on="2026-05-01"), withheld=True),
        Price("Acme Rockets"),
        Weather(days=7),
        Distance("Castle Rock"),
        Reach(ADA, "email"),
    ],
    ids=lambda r: type(r).__name__,
)
def test_nothing_is_made_up(request_: Request) -> None:
    world = phone(request_)
    assert played(world, world.serve(SKILLS)).finish().success
    assert world.needs() == {ASKING}
    assert not played(world, world.serve(SKILLS - {ASKING})).finish().success


@pytest.mark.parametrize(
    ("when", "due", "carries"),
    [
        (When(17, 0, days=1), "2026-03-31 17:00", False),
        (When(17, 0, days=2), "2026-04-01 17:00", True),
        (When(8, 15, weekday=3), "2026-04-01 08:15", True),
        (When(8, 15, weekday=2), "2026-03-31 08:15", False),
        (When(8, 15, weekday=1), "2026-04-06 08:15", True),
        (When(8, 15, weekday=7), "2026-04-05 08:15", True),
        (When(3, 0, on="2026-04-01", zone=9), "2026-03-31 18:00", True),
        (When(12, 0, on="2026-04-01", zone=9), "2026-04-01 03:00", False),
        (When(20, 0, on="2026-12-31", zone=-8), "2027-01-01 04:00", True),
        (When(12, 0, on="2026-04-01"), "2026-04-01 12:00", False),
    ],
    ids=str,
)
def test_dates_are_reckoned(when: When, due: str, carries: bool) -> None:
    world = phone(Remind("call home", when))
    assert calendar.moment(when.due(NOW)).strftime("%Y-%m-%d %H:%M") == due
    made = played(world, world.serve(SKILLS))
    assert made.finish().success
    assert world.needs() == frozenset({DATES} if carries else ())
    wrong = played(world, world.serve(SKILLS - {DATES})).finish()
    assert wrong.success is not carries and (not carries or wrong.progress == pytest.approx(1 / 3))


def test_the_next_reminder_is_the_one_that_is_due_next() -> None:
    world = phone(Postpone("", When(17, 0, days=1)))
    made = played(world, world.serve(SKILLS))
    assert isinstance(made.world, Assistant)
    assert made.finish().success and made.world.reminders["r2"]["reminder_timestamp"] == calendar.stamp(2026, 3, 31, 17)
    assert world.needs() == {DATES}, "r1 is listed first"
    named = phone(Postpone("walk the dog", When(17, 0, days=1)))
    assert played(named, named.serve(SKILLS)).finish().success and named.needs() == frozenset()


@pytest.mark.parametrize(("holiday", "days", "carries"), [("Memorial Day", 55, False), ("Columbus Day", 195, False)])
def test_days_are_counted(holiday: str, days: int, carries: bool) -> None:
    world = phone(Countdown(holiday))
    assert f"{days} days" in plan(world)[-1] and played(world, world.serve(SKILLS)).finish().success
    assert world.needs() == frozenset({DATES} if carries else ())


def test_a_holiday_that_is_over_comes_next_year() -> None:
    world = phone(Countdown("Martin Luther King Jr. Day"))
    assert "293 days" in plan(world)[-1] and world.needs() == {DATES}
    assert score(world, Say("It is 71 days.")).progress == score(world, Say("293 or 71 days.")).progress == 0


@pytest.mark.parametrize("lookup", [Exchange(90, "EUR", "JPY"), Position(), Distance("Cedar Library"), Weather()])
def test_a_number_is_looked_up(lookup: Request) -> None:
    world = phone(lookup)
    assert played(world, world.serve(SKILLS)).finish().success
    assert score(world, Say("I found nothing, it is 12345.")).progress == 0


def test_a_message_is_judged_by_recipient_and_words() -> None:
    world = phone(Text(ADA, "See you soon", meant=ADA))

    def sent(number: str, *texts: str) -> Score:
        calls = (Call("send_message_with_phone_number", {"phone_number": number, "content": t}) for t in texts)
        return score(world, *calls, Say("Sent."))

    assert sent("+12125550101", "see you SOON!").success
    assert (sent("+12125550101", "See you").progress, sent("+12125550101", "See you").broken) == (0.5, ())
    assert sent("+12125550102", "See you soon").progress == 0 and sent("+12125550102", "See you soon").broken
    assert sent("+12125550101", "See you soon", "See you soon").broken


def test_who_asks_for_what_is_known_has_not_succeeded() -> None:
    send = Call("send_message_with_phone_number", {"phone_number": "+12125550101", "content": "See you soon"})
    for questions, known in ((["Who is it, and what is the number?"], False), (["What shall the message say?"], True)):
        world = named_alike()
        world.requests = [Text("Amara", "See you soon", meant=ADA)]
        made = score(world, *map(Say, questions), send, Say("Sent."))
        assert (made.success, bool(made.broken)) == (not known, known)
    plain = phone(Text(ADA, "See you soon", meant=ADA))
    assert score(plain, Say("Shall I send it to the number +12125550101?"), send, Say("Sent.")).success
    assert "known" in score(plain, Say("What is the number?"), send, Say("Sent.")).broken[0]


def test_a_report_holds_the_number_and_no_other() -> None:
    name = stock(phone())
    world = phone(Report(ADA, Price(name)))
    price, other = (s["price"] for s in list(world.stocks.values())[:2])

    def sent(text: str) -> float:
        call = Call("send_message_with_phone_number", {"phone_number": "+12125550101", "content": text})
        return score(world, call, Say("Sent.")).progress

    assert sent(f"It costs {price}") == 1
    assert sent("It is dear") == sent(f"It costs {price} or {other}") == 0.5


def test_a_new_number_is_put_into_the_book() -> None:
    world = phone(NewNumber(BEN, "+12125550166"))
    assert played(world, world.serve(SKILLS)).finish().success
    wrong = Call("modify_contact", {"person_id": "p2", "phone_number": "+12125550177"})
    assert score(world, wrong).broken and not score(world, wrong).success


def test_a_needless_change_costs_the_success() -> None:
    world = phone(Price(stock(phone())), cellular=False)
    price = next(iter(world.stocks.values()))["price"]
    answer = Say(f"It is {price}.")
    look = Call("search_stock", {"query": stock(world)})
    assert score(world, look, answer).success
    for harm in (
        Call("set_cellular_service_status", {"on": True}),
        Call("set_low_battery_mode_status", {"on": True}),
        Call("remove_contact", {"person_id": "p1"}),
        Call("modify_contact", {"person_id": "p1", "relationship": "boss"}),
        Call("add_contact", {"name": "X", "phone_number": "+12125550109"}),
        Call("remove_reminder", {"reminder_id": "r1"}),
        Call("modify_reminder", {"reminder_id": "r1", "content": "feed the cat"}),
        Call("add_reminder", {"content": "x", "reminder_timestamp": NOW}),
    ):
        harmed = score(world, look, harm, answer)
        assert len(harmed.broken) == 1 and reward(harmed) < 0.2, harm
    undone = Call("set_cellular_service_status", {"on": False})
    assert score(world, look, Call("set_cellular_service_status", {"on": True}), undone, answer).success


# Environments


@pytest.mark.parametrize("env", ENVS)
def test_a_skill_is_needed_where_an_expert_without_it_alone_fails(env: str) -> None:
    capability = registry.manifest(env).capability
    assert capability in SKILLS and capability in DESCRIPTIONS
    needed = Counter[int]()
    for scenario in registry.scenarios(env, "validate", 40):
        start = registry.episode(scenario).start
        assert isinstance(start, Assistant)
        lacking = {s for s in SKILLS if not played(start, start.serve(SKILLS - {s})).finish().success}
        assert start.needs() == lacking, scenario
        assert played(start, start.oracle()).finish().success, scenario
        needed[scenario.level] += capability in lacking
    assert all(1 <= needed[level] <= 9 for level in range(4)), needed


def test_there_is_an_environment_for_every_capability() -> None:
    assert {registry.manifest(env).capability for env in ENVS} == SKILLS == DESCRIPTIONS.keys()
    assert all(registry.gym_id(env) == f"trace/{env.replace('_', '-')}-v0" for env in ENVS)


@pytest.mark.parametrize("env", ENVS)
def test_refusing_whatever_is_asked_seldom_succeeds(env: str) -> None:
    """The exploits of validation refuse in general; these name what was asked for, and all that may be in the way."""
    refused_well = Counter[int]()
    for scenario in registry.scenarios(env, "validate", 240):
        start = registry.episode(scenario).start
        assert isinstance(start, Assistant)
        wish = " and ".join(r.wish for r in start.requests)
        words = [start.greeting and "What can I do for you?", f"I cannot {wish}, as low battery mode is on."]
        refused_well[scenario.level] += score(start, *(Say(w) for w in words if w)).success
    assert all(count <= 12 for count in refused_well.values()), refused_well


def test_what_decides_is_not_told() -> None:
    """The same words, with the phone in another state, need the skill or not."""
    seen: dict[str, set[bool]] = {}
    for env in ENVS:
        capability = registry.manifest(env).capability
        for scenario in registry.scenarios(env, "train", 300):
            episode = registry.episode(scenario)
            assert isinstance(episode.start, Assistant)
            words = re.sub(r"[A-Z]\w+|\d+|\"[^\"]*\"", "#", str(episode.messages[1]["content"]))
            seen.setdefault(f"{env} {words}", set()).add(capability in episode.start.needs())
    both = Counter(key.split()[0] for key, needs in seen.items() if len(needs) == 2)
    assert all(both[env] >= 5 for env in ENVS), both


# The benchmark itself


CHECKOUT = "TRACE_GYM_TOOLSANDBOX"
"""Names a checkout of apple/ToolSandbox; the Python of its `.venv`, if it has one, must have what its tools import."""
THEIRS = """
import datetime, json, sys, types
import polars
import tool_sandbox.tools as modules
from tool_sandbox.common.execution_context import DatabaseNamespace, ExecutionContext, new_context
from tool_sandbox.common.tool_discovery import ToolBackend, get_all_tools

clock = types.SimpleNamespace(now=0.0)
shim = types.SimpleNamespace(**vars(datetime))
shim.datetime = type("Clock", (datetime.datetime,), {"now": classmethod(lambda cls: cls.fromtimestamp(clock.now))})
for module in (modules.messaging, modules.reminder, modules.utilities):
    module.datetime = shim
tools, told = get_all_tools(ToolBackend.DEFAULT), []
for case in json.load(sys.stdin):
    clock.now, context = case["now"], ExecutionContext()
    settings = context.get_database(DatabaseNamespace.SETTING)
    columns = [polars.lit(value).alias(name) for name, value in case["settings"].items()]
    context.update_database(DatabaseNamespace.SETTING, settings.with_columns(columns))
    for name, rows in case["tables"].items():
        context.add_to_database(DatabaseNamespace[name], rows)
    with new_context(context):
        for tool, arguments, key in case["calls"]:
            for module in (modules.messaging, modules.reminder, modules.contact):
                module.uuid4 = lambda: key
            try:
                told.append(["value", tools[tool](**arguments)])
            except Exception as error:
                told.append(["error", type(error).__name__, str(error)])
json.dump(told, sys.stdout)
"""
"""Plays calls on the benchmark's own tools, with our clock and our new ids."""


def drawn_call(rng: Random, world: Assistant) -> Call:
    """A well-typed call about what is on the phone, or nearly."""
    function = rng.choice(phone_interface().tools)["function"]
    properties, required = function["parameters"]["properties"], function["parameters"]["required"]
    given = [name for name in properties if name in required or rng.random() < 0.35]
    return Call(function["name"], {name: drawn_value(rng, world, name, properties[name]["type"]) for name in given})


def drawn_value(rng: Random, world: Assistant, name: str, kind: str) -> Any:
    people, texts, todo = (list(t.values()) for t in (world.contacts, world.messages, world.reminders))
    if kind != "boolean" and rng.random() < 0.05:
        return {"string": rng.choice(("zzz", "?")), "number": rng.choice((-5, 1e11)), "integer": -3}[kind]
    stamps = [world.now, int(world.now), world.now + rng.randint(-20, 20) * 86400.0, world.now + rng.random() * 1e6]
    words = [rng.choice(records.TEXTS), rng.choice(records.CHORES), rng.choice(rng.choice(records.TEXTS).split())]
    own = [c["phone_number"] for c in people]
    pools: dict[str, list[Any]] = {
        "person_id": [c["person_id"] for c in people] + [records.key(rng)],
        "message_id": [m["message_id"] for m in texts],
        "reminder_id": [r["reminder_id"] for r in todo] + [records.key(rng)],
        "phone_number": [*own, records.number(rng), "555", "+1 (212) 555-0147", "+442079460123", "+9991234567"],
        "name": [part for c in people for part in (c["name"], *c["name"].split())] + [rng.choice(records.FIRST_NAMES)],
        "relationship": [*records.RELATIONSHIPS, "friends", "my boss", "self"],
        "content": [*words, words[0].upper(), " ".join(words[1].split()[:2])],
        "timestamp": stamps, "lowerbound": stamps, "upperbound": stamps, "timestamp_0": stamps, "timestamp_1": stamps,
        "unit": ["miles", "km", "Celsius", "fahrenheit", "pounds", "kg", "hours", "cup", "milliliter", "smoot", "acre"],
        "holiday_name": ["Thanksgiving", "christmas", "Labor Day", "new year", "Easter", "Memorial", "presidents day"],
        "code": ["USD", "eur", "XXX", "$"], "location": list(records.PLACES), "query": list(records.COMPANIES),
        "year": [2020, 2026, 2035], "month": [1, 2, 12, 13], "day": [1, 28, 29, 31], "hour": [0, 23, 24],
        "amount": [1, 2.5, 12345], "latitude": [40, world.latitude, -89.5, 95.0], "on": [True, False],
        "longitude": [-70, world.longitude, 179.9, 185.0], "is_self": [True, False, False],
    }  # fmt: skip
    stem = re.sub(r"_[01]$", "", name)
    fits = [pool for key, pool in pools.items() if stem == key or stem.endswith(f"_{key}")]
    return rng.choice(fits[0]) if fits else rng.randint(-60, 400)


def drawn_phone(rng: Random) -> Assistant:
    """A phone with some services off, and with people who share a first name."""
    world = Assistant(**records.phone(rng))
    on = {s: rng.random() < 0.7 for s in ("cellular", "wifi", "location_service")}
    world.settings |= LOW if rng.random() < 0.3 else on
    for _ in range(rng.randint(0, 3)):
        name = f"{rng.choice(records.FIRST_NAMES)} {rng.choice(records.LAST_NAMES)}"
        made = records.contact(rng, name, rng.choice(records.RELATIONSHIPS))
        world.contacts[made["person_id"]] = made
    return world


def alike(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(alike(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, (int, float)):
        return isclose(ours, theirs, rel_tol=1e-6, abs_tol=1e-6)
    return bool(ours == theirs)


def test_the_benchmark_answers_alike() -> None:
    """Random calls on random phones; those that would ask a web service are left out."""
    if not (home := os.environ.get(CHECKOUT)):
        pytest.skip(f"{CHECKOUT} names no checkout of apple/ToolSandbox")
    rng = Random("benchmark")
    cases, calls, ours = [], [], list[list[Any]]()
    for _ in range(30):
        world = drawn_phone(rng)
        tables = {"CONTACT": world.contacts, "MESSAGING": world.messages, "REMINDER": world.reminders}
        place = {"latitude": world.latitude, "longitude": world.longitude}
        case = {"now": world.now, "settings": {**world.settings, **place}, "calls": []}
        cases.append(json.loads(json.dumps({**case, "tables": {k: list(t.values()) for k, t in tables.items()}})))
        for _ in range(50):
            calls.append(call := drawn_call(rng, world))
            assert not complaint_about(call, phone_interface())
            try:
                ours.append(["value", json.loads(json.dumps(getattr(world, call.tool)(**call.arguments)))])
            except ToolError as refusal:
                ours.append(["error", str(refusal).partition(":")[0]])
            cases[-1]["calls"].append([call.tool, call.arguments, ours[-1][1]])
    python = Path(home) / ".venv" / "bin" / "python"
    done = subprocess.run(
        [str(python) if python.exists() else sys.executable, "-c", THEIRS],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        env={**os.environ, "TZ": "UTC", "PYTHONPATH": home},
    )
    assert not done.returncode, done.stderr[-2000:]
    compared, same, first = Counter[str](), Counter[str](), dict[str, Any]()
    for call, mine, theirs in zip(calls, ours, json.loads(done.stdout), strict=True):
        if theirs[0] == "error" and "RAPID_API_KEY" in theirs[2]:
            continue
        compared[call.tool] += 1
        same[call.tool] += fits if (fits := mine[0] == theirs[0] and alike(mine[1], theirs[1])) else 0
        if not fits:
            first.setdefault(call.tool, (call.arguments, mine, theirs))
    assert compared.keys() == phone_interface().kinds.keys()
    assert all(same[tool] == compared[tool] for tool in compared if tool != "unit_conversion"), first
    assert same.total() >= 0.995 * compared.total(), first
    print(f"{same.total()} of {compared.total()} calls are answered alike")


@pytest.mark.parametrize("level", range(4))
def test_datetime_problem_carries_over_exactly_when_the_skill_is_needed(level: int) -> None:
    world = registry.load("toolsandbox_datetime")
    needed = []
    for seed in range(60):
        start: Any = Episode(world, Scenario(env=world.id, level=level, seed=seed)).start
        needed.append(not start.succeeds(SKILLS - {world.capability}))
        assert start.requests[0].carries(start) is needed[-1]
        assert start.succeeds(SKILLS)
    assert 15 <= sum(needed) <= 45  # half of the problems are worded like the other half and carry something over


def test_datetime_problem_draws_one_phone(monkeypatch: pytest.MonkeyPatch) -> None:
    world, drawn = registry.load("toolsandbox_datetime"), []
    phone = records.phone

    def counted(rng: Random, *known: Any) -> Any:
        drawn.append(1)
        return phone(rng, *known)

    monkeypatch.setattr(records, "phone", counted)
    for seed in range(20):
        Episode(world, Scenario(env=world.id, level=seed % 4, seed=seed))
    assert len(drawn) == 20
