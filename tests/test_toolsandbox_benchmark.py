"""Tests of the ToolSandbox target against the benchmark's own code, and of its date problems."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from math import isclose
from pathlib import Path
from random import Random
from typing import Any

import pytest
from phones import LOW

from trace_gym import registry
from trace_gym.episode import Episode, complaint_about
from trace_gym.targets.toolsandbox import records
from trace_gym.targets.toolsandbox.assistant import SKILLS, Assistant
from trace_gym.targets.toolsandbox.tools import phone_interface
from trace_gym.types import Call, Scenario
from trace_gym.world import ToolError

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
    world = registry.load_world("toolsandbox_datetime")
    needed = []
    for seed in range(60):
        start: Any = Episode(world, Scenario(env=world.id, level=level, seed=seed)).start
        needed.append(not start.succeeds(SKILLS - {world.capability}))
        assert start.requests[0].carries(start) is needed[-1]
        assert start.succeeds(SKILLS)
    assert 15 <= sum(needed) <= 45  # half of the problems are worded like the other half and carry something over


def test_datetime_problem_draws_one_phone(monkeypatch: pytest.MonkeyPatch) -> None:
    world, sample = registry.load_world("toolsandbox_datetime"), []
    phone = records.phone

    def counted(rng: Random, *known: Any) -> Any:
        sample.append(1)
        return phone(rng, *known)

    monkeypatch.setattr(records, "phone", counted)
    for seed in range(20):
        Episode(world, Scenario(env=world.id, level=seed % 4, seed=seed))
    assert len(sample) == 20
