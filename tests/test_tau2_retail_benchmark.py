"""Tests of the retail target against tau2's own tools."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from enum import Enum
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel
from retail_desk import ENVS

from trace_gym import registry
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.retail import (
    RetailDesk,
)
from trace_gym.targets.tau2.retail_tools import RetailTools, retail_interface
from trace_gym.types import Call
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.world import ToolError

# tau2 itself


class Beside:
    """tau2's own tools beside ours, over the same records."""

    def __init__(self, tools: Any, database: Any, state: Data) -> None:
        self.theirs = tools(database.model_validate(state))
        self.ours = RetailTools(**deepcopy(state))

    def answers(self, call: Call) -> tuple[Any, Any]:
        """Return the result of tau2 and of trace_gym, with refusals as None."""
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
        start = registry.start_episode(scenario).start
        assert isinstance(start, RetailDesk)
        beside = Beside(tools, database, {t: getattr(start, t) for t in ("users", "orders", "products")})
        draw = CallSampler(Random(f"beside/{scenario}"), retail_interface(), StateValues.of(start))
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
        world = registry.load_world("tau2_retail_multi_step").generate(Random(seed), 0)
        world.products.clear()
        world.orders.clear()
        for _ in range(4):
            world.request(Random(seed), "return", True)
        assert len(world.orders) == 4
