"""Tests of the ToolSandbox target: interface, generated records, and settings."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from phones import FACTS, kind, only, phone, returns

from trace_gym.episode import Episode
from trace_gym.targets.toolsandbox import random_requests, records
from trace_gym.targets.toolsandbox.assistant import Assistant
from trace_gym.targets.toolsandbox.expert import remedy_for
from trace_gym.targets.toolsandbox.matching import likeness
from trace_gym.targets.toolsandbox.tools import phone_interface
from trace_gym.types import Scenario
from trace_gym.validation.surface import without_descriptions

SHARED = Path(__file__).resolve().parents[2] / "shared"


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
            assert without_descriptions(made["properties"][parameter["name"]]) == {"type": types[first]}


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
        asked = random_requests.lookup(rng, world, "exchange")
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
    assert remedy_for(text) == wanted
