"""Coverage goals for the exploration of a server.

A goal is a kind of call that should be made at least once for a tool: a call with a certain argument, with a known or
an unknown id, a refused call, or a read before or after a write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trace_gym.explore.sample import FRACTIONS, STRANGERS, Sampler, leaves
from trace_gym.nested import parse_if_json
from trace_gym.schemas import resolved
from trace_gym.targets.user.replays import refused
from trace_gym.types import Call, Interface

Made = list[tuple[Call, str]]
"""Calls, each with the text of its result as an agent reads it."""
How = Literal["given", "left out", "is", "fraction", "known id", "unknown id", "before", "after", "answered", "refused"]


@dataclass(frozen=True)
class Goal:
    """A coverage goal: a feature that at least one call of a tool should have."""

    how: How
    """Kind of the goal."""
    parameter: str = ""
    """Name of the parameter to which the goal applies; empty if it applies to the whole call."""
    value: str = ""
    """Argument as JSON or, if the kind is ``after``, the name of a write tool."""

    @property
    def text(self) -> str:
        """Text of the goal in reports."""
        match self.how:
            case "given" | "left out":
                return f"{self.parameter} {self.how}"
            case "is":
                return f"{self.parameter}={self.value}"
            case "fraction":
                return f"{self.parameter} with a fraction"
            case "before":
                return "before any write"
            case "after":
                return f"after {self.value}"
        return self.how


@dataclass(frozen=True)
class Situation:
    """Facts about an episode before a call, which determine the goals that the call reaches."""

    change: str = ""
    """Tool of the last write that was not refused; empty if there was none."""
    strings: frozenset[str] = frozenset()
    """Strings that occur in earlier results."""


def situations(made: Made, kinds: Mapping[str, str]) -> Iterator[Situation]:
    """Yield the situation before each call of an episode, and then the situation after the last call."""
    change, strings = "", set[str]()
    for call, told in made:
        yield Situation(change, frozenset(strings))
        if not refused(told):
            change = call.tool if kinds[call.tool] == "write" else change
            strings |= {value for _, value in leaves(parse_if_json(told)) if isinstance(value, str)}
    yield Situation(change, frozenset(strings))


def goals_of(interface: Interface, tool: str) -> tuple[Goal, ...]:
    """Return the goals of a tool: goals from its JSON Schema and, for a read tool, one goal per write tool."""
    return tuple(dict.fromkeys(_goals(interface, tool)))


def reached(goal: Goal, call: Call, situation: Situation, told: str | None = None) -> bool:
    """Return whether a call reaches a goal of its tool.

    Args:
        goal: The goal.
        call: The call.
        situation: The situation in which the call is made.
        told: Result that the agent read; None for a call that was not made yet. Such a call counts as refused if it
            contains an unknown id.
    """
    given = goal.parameter in call.arguments
    if refused(told) if told is not None else is_strange(call):
        return goal.how == "refused" or (goal.how == "unknown id" and is_strange(call))
    match goal.how:
        case "given" | "left out":
            return given == (goal.how == "given")
        case "is":
            return given and json.dumps(call.arguments[goal.parameter]) == goal.value
        case "fraction":
            value = call.arguments.get(goal.parameter)
            return isinstance(value, float) and not value.is_integer()
        case "known id":
            return any(value in situation.strings for _, value in leaves(call.arguments) if isinstance(value, str))
        case "unknown id":
            return is_strange(call)
        case "before":
            return not situation.change
        case "after":
            return situation.change == goal.value
        case "answered":
            return told is not None
    return False


def call_for(goal: Goal, tool: str, draw: Sampler) -> Call | None:
    """Return a sampled call that was changed to reach a goal, or None if this is not possible."""
    call = draw.call_of(tool)
    given = (draw.given or {}).get(goal.parameter)
    if call is None or (given and goal.how == "fraction") or (given and goal.how == "is" and not _among(goal, given)):
        return None  # if the user has given values for a parameter, no other values are used
    match goal.how:
        case "left out":
            call = Call(tool, {name: value for name, value in call.arguments.items() if name != goal.parameter})
        case "given":
            call = draw.with_drawn(call, goal.parameter)
        case "is":
            call = Call(tool, {**call.arguments, goal.parameter: json.loads(goal.value)})
        case "fraction":
            call = Call(tool, {**call.arguments, goal.parameter: draw.rng.choice(FRACTIONS)})
    return draw.fitting(call)


def choices(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Any]:
    """Return the values that a schema lists: enum values, constants, booleans, null, and bounds of numbers."""
    schema = resolved(schema, root)
    found = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    types = _types(schema)
    found += [True, False] if "boolean" in types and not found else []
    found += [None] if "null" in types and None not in found else []
    if {"integer", "number"} & {*types}:
        found += [schema[bound] for bound in ("minimum", "maximum") if type(schema.get(bound)) in (int, float)]
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        found += choices(part, root)
    return found


def _goals(interface: Interface, tool: str) -> Iterator[Goal]:
    schema = next(t["function"]["parameters"] for t in interface.tools if t["function"]["name"] == tool)
    properties: Mapping[str, Any] = schema.get("properties", {})
    required: Sequence[str] = schema.get("required", ())
    yield Goal("answered")
    for name, own in properties.items():
        if name not in required:
            yield Goal("given", name)
            yield Goal("left out", name)
        yield from (Goal("is", name, json.dumps(value)) for value in choices(own, schema))
        if "number" in _types(own):
            yield Goal("fraction", name)
    if any(_is_free_text(properties[name]) for name in required if name in properties):
        yield from (Goal("known id"), Goal("unknown id"), Goal("refused"))
    if interface.kinds[tool] == "read":
        yield Goal("before")
        yield from (Goal("after", value=write) for write, kind in interface.kinds.items() if kind == "write")


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type", [])
    own = [kind] if isinstance(kind, str) else list(kind)
    return own + [t for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())) for t in _types(part)]


def _is_free_text(schema: Mapping[str, Any]) -> bool:
    return "string" in _types(schema) and not {"enum", "const", "format"} & schema.keys()


def _among(goal: Goal, values: Sequence[Any]) -> bool:
    return goal.value in map(json.dumps, values)


def is_strange(call: Call) -> bool:
    """Return whether a call contains an id that no record has."""
    return any(word in json.dumps(call.arguments) for word in STRANGERS)
