"""Names, templates and tables that a generated module passes to worlds and experts of the targets."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Self

import pytest

from trace_gym.episode import Episode
from trace_gym.sandbox.module_names import exported
from trace_gym.targets.catalogue import TARGETS
from trace_gym.targets.constants import filled, frozen
from trace_gym.targets.toolsandbox.assistant import Assistant, Expert
from trace_gym.types import Scenario
from trace_gym.world import Call, ToolError, World, call_tool, tool

ROOT = Path(__file__).resolve().parents[1] / "trace_gym"
IN_WORLDS = [ROOT / "world.py", ROOT / "episode.py", *sorted((ROOT / "targets").rglob("*.py"))]
"""Code that runs with objects and names of generated modules."""
BY_NAME = {"getattr", "setattr", "delattr", "attrgetter", "methodcaller", "eval", "exec", "__import__", "format_map"}
EXEMPT = {
    ("episode.py", "getattr(value, f.name)"),  # the fields of a dataclass, as the class declares them
    ("world.py", "getattr(cls, n)"),  # the methods of a class, each by its own name
    ("world.py", "getattr(cls, n, None)"),
    ("catalogue.py", "getattr(importlib.import_module(f'{self.package}.{self.open[0]}'), self.base)"),
}
"""Look-ups whose names are not the module's."""


@dataclass
class Drawer(World):
    """You keep a drawer."""

    id = "drawer"
    capability = "none"
    look: Any = field(default=None, init=False)
    thing: Any = "key"
    helper = staticmethod(print)

    @tool
    def peek(self, where: str = "drawer") -> str:
        if where != "drawer":
            raise ToolError(f"there is no {where}")
        return f"a {self.thing}"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls()

    def opening(self) -> str:
        return "What lies in it?"


class Unmarked(Drawer):
    """A world whose tool is written anew, without the mark of the tool that it replaces."""

    def peek(self, where: str = "drawer") -> str:
        return "nothing"


# Tools


def test_a_tool_is_called_by_its_name() -> None:
    assert call_tool(Drawer(), "peek", {}) == "a key"
    assert call_tool(Unmarked(), "peek", {"where": "drawer"}) == "nothing"
    with pytest.raises(ToolError, match="no shelf"):
        call_tool(Drawer(), "peek", {"where": "shelf"})


@pytest.mark.parametrize("name", [*(n for n in dir(Drawer) if n != "peek"), "nothing", "", "peek.__globals__"])
def test_nothing_but_a_tool_is_called(name: str) -> None:
    with pytest.raises(ValueError, match="the tool .* does not exist"):
        call_tool(Drawer(), name, {})


def test_a_value_in_the_state_does_not_take_the_place_of_a_tool() -> None:
    world = Drawer()
    vars(world)["peek"] = vars(world)["look"] = lambda **_: pytest.fail("a value of a field was called")
    assert call_tool(world, "peek", {}) == "a key"
    with pytest.raises(ValueError, match="the tool 'look' does not exist"):
        call_tool(world, "look", {})


@pytest.mark.parametrize("thing", [Drawer, World, object(), print, "text", None, ast, (n for n in ())])
def test_tools_of_other_objects_are_not_called(thing: Any) -> None:
    with pytest.raises(ValueError, match="expected a World"):
        call_tool(thing, "peek", {})
    plan = Expert(thing, frozenset()).do("mro")
    assert next(plan) == Call("mro", {})
    with pytest.raises(ValueError, match="expected a World"):
        next(plan)


def test_an_expert_calls_tools_of_the_phone_only() -> None:
    assert call_tool(Assistant(), "get_wifi_status", {}) is True
    for name in ("_switch", "copy", "__reduce__", "requests", "oracle"):
        with pytest.raises(ValueError, match="the tool .* does not exist"):
            list(Expert(Assistant(), frozenset()).do(name))


@pytest.mark.parametrize("path", IN_WORLDS, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_attribute_is_looked_up_by_a_name_that_is_data(path: Path) -> None:
    """Whoever needs to: `call_tool` calls a tool, and `vars(world)[table]` reads a field."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call) or (path.name, ast.unparse(node)) in EXEMPT:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        constant = name == "getattr" and isinstance(node.args[1], ast.Constant)
        assert name not in BY_NAME or constant, f"{path}:{node.lineno}: {ast.unparse(node)}"
        if name == "format" and isinstance(node.func, ast.Attribute):
            template = node.func.value
            plain = isinstance(template, ast.Constant) or (isinstance(template, ast.Name) and template.id.isupper())
            assert plain or ast.unparse(template) == "_FORM", f"{path}:{node.lineno}: use filled"


# Tables


def tables() -> Iterator[tuple[str, Any]]:
    """Everything but code that the modules and classes of the targets offer to environments."""
    for target in TARGETS.values():
        for name in target.modules:
            module = importlib.import_module(name)
            for key in sorted(exported(module)):
                value = getattr(module, key)
                yield f"{name}.{key}", value
                for attr in dir(value) if inspect.isclass(value) else ():
                    if not attr.startswith("_"):
                        yield f"{name}.{key}.{attr}", inspect.getattr_static(value, attr)


def test_tables_of_targets_cannot_be_changed() -> None:
    def changeable(value: Any) -> bool:
        if isinstance(value, Mapping):
            return hasattr(value, "__setitem__") or any(map(changeable, value.values()))
        if isinstance(value, (tuple, frozenset)):
            return any(map(changeable, value))
        return isinstance(value, (list, set, bytearray))

    found = dict(tables())
    assert len(found) > 300 and any(isinstance(v, Mapping) for v in found.values())
    assert [name for name, value in found.items() if changeable(value)] == []


def test_a_world_that_keeps_a_table_gets_a_copy_of_its_own() -> None:
    table = frozen({"a": {"b": 1}})
    copied = Drawer(thing=table).copy().thing
    assert copied == {"a": {"b": 1}} and copied is not table
    copied["a"]["b"] = 2
    assert table["a"]["b"] == 1
    for change in (lambda: table.update(c=1), lambda: table["a"].clear()):  # type: ignore[attr-defined]
        with pytest.raises(AttributeError):
            change()


def test_a_kept_table_counts_in_the_state_as_what_it_holds() -> None:
    hashes = []
    for thing in (frozen({"a": 1}), {"a": 1}, frozen({"a": 2})):
        episode = Episode(Drawer, Scenario(env="drawer", level=0, seed=0))
        episode.world = Drawer(thing=thing)
        hashes.append(episode.state_hash)
    assert hashes[0] == hashes[1] != hashes[2]


# Templates


def test_a_template_is_filled_in() -> None:
    assert filled("{{I}} am {user}, {user}.", user="ada") == "{I} am ada, ada."
    assert filled("No field", user="ada") == "No field"


@pytest.mark.parametrize(
    "template",
    ["{user.real}", "{user[0]}", "{user!r}", "{user:>9}", "{user:{user}}", "{}", "{0}", "{other}", "{user", "user}"],
)
def test_a_template_does_not_look_into_values(template: str) -> None:
    with pytest.raises(ValueError, match="."):
        filled(template, user="ada")


@pytest.mark.parametrize("name", ["tau2_airline", "tau2_retail"])
def test_openings_do_not_look_into_values(name: str) -> None:
    base: Any = TARGETS[name].world
    field_of = {"tau2_airline": "user", "tau2_retail": "who"}[name]
    world = base(customer="u", users={"u": {"email": "a@b.c"}}, wording=f"Hello. {{{field_of}}}")
    assert re.match(r"Hello\. .+", world.opening())
    world.wording = f"Hello. {{{field_of}.__class__}}"
    with pytest.raises(ValueError, match="cannot be filled in"):
        world.opening()
