"""Properties TG401 and TG402: the tools are the same as the target's, and every turn of a model gets a response."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from typing import Any

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError
from trace_gym.model_text import MAX_TEXT
from trace_gym.targets.catalogue import registered
from trace_gym.targets.user.folder import find
from trace_gym.tool_schema import python_name
from trace_gym.types import Call, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.world import Random, World, tool_methods


@property_check(
    "TG401",
    statement="The tools equal those of the target in names, parameters, types, required parameters and enums.",
    reason="Skills transfer through the interface, and a policy cannot use a tool that the target does not have.",
    fix="Inherit the base world of the target, and do not change its tools or `interface`. Descriptions may differ.",
)
def tools_are_the_targets(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    interface = context.interface
    here = {t["function"]["name"]: t["function"].get("parameters", {}) for t in interface.tools}
    for name, schema in here.items():
        _fits_method(world, name, schema, interface.kinds.get(name))
    if extra := tool_methods(world).keys() - here.keys():
        raise CheckFailed(f"{min(extra)} is decorated as a tool but missing from the interface")
    for scenario in scenarios:
        for expert in ("oracle", "ablated"):
            plan = context.plan(scenario, expert)
            if unknown := [s for s in plan if isinstance(s, Call) and s.tool not in here]:
                raise context.failure(
                    scenario, f"the {expert} calls {unknown[0].tool}, which is not a tool of the environment", plan
                )
    if not world.target:
        return Passed(f"{len(here)} tools match their methods; the world has no target to compare with")
    if (there := target_tools(world.target)) is None:
        raise CheckFailed(f"no interface data for the target {world.target!r}. Set `target` to a known target or to ''")
    for name in sorted(here.keys() | there.keys()):
        if without_descriptions(here.get(name)) != without_descriptions(there.get(name)):
            raise CheckFailed(
                f"{name} differs from the target's tool: found {_describe_schema(here.get(name))}, "
                f"expected {_describe_schema(there.get(name))}"
            )
    return Passed(f"{len(here)} tools equal those of {world.target}")


def _fits_method(world: type[World], name: str, schema: dict[str, Any], kind: str | None) -> None:
    method = getattr(world, tool_methods(world).get(name, name), None)
    if (marked := getattr(method, "_tool_kind", None)) is None or marked != kind:
        raise CheckFailed(f"{name} is declared as {kind} in the interface, but its method is decorated as {marked}")
    parameters = list(inspect.signature(method).parameters.values())[1:]  # type: ignore[arg-type]
    names, needed = {p.name for p in parameters}, {p.name for p in parameters if p.default is p.empty}
    known, required = ({*map(python_name, schema.get(key, ()))} for key in ("properties", "required"))
    if names != known or needed != required:
        raise CheckFailed(
            f"the method {name}({', '.join(sorted(names))}) does not accept the parameters of its schema: "
            f"{_describe_schema(schema)}"
        )


def target_tools(target: str) -> dict[str, Any] | None:
    """Return the parameter schemas of a target's tools by name; None for an unknown target.

    The schemas of a custom target are read from its folder, because its base world may not have passed validation yet.
    """
    if (known := registered().get(target)) is not None:
        tools = known.interface.tools
    else:
        try:
            tools = find(target).tools
        except ConfigError:
            return None
    return {t["function"]["name"]: t["function"].get("parameters", {}) for t in tools}


def without_descriptions(schema: Any) -> Any:
    """Return a JSON Schema without descriptions and titles, and with sorted ``required`` and ``enum`` lists."""
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            made[key] = {name: without_descriptions(part) for name, part in value.items()}
        elif key in ("required", "enum"):
            made[key] = sorted(value, key=str)
        elif key not in ("description", "title"):
            made[key] = (
                [without_descriptions(v) for v in value] if isinstance(value, list) else without_descriptions(value)
            )
    return made


def _describe_schema(schema: Any) -> str:
    return "no such tool" if schema is None else json.dumps(without_descriptions(schema), sort_keys=True)[:300]


STRANGE_WORDS = (
    "{}", "{user} {0} {code}", "%s %d %(name)s", "\\", "'\"`", "<tool_call", "[[[", "null", "-1", "\u2603" * 500,
    "?" * 5000, "\N{PILE OF POO} \u0130\u0131\u00df", "a" * (MAX_TEXT - 1), "sorry " * 10_000, "shall i? " * 10_000,
)  # fmt: skip
"""Unexpected but well-formed messages to the user."""


@property_check(
    "TG402",
    statement="Every turn of a model gets an answer: malformed turns change no state, and unexpected messages raise no "
    "exception.",
    reason="An exception in a rollout loses the whole group, and untrained models write malformed turns often.",
    fix="Let `reply` accept any text, and leave parsing and type checks to the episode and the tool schemas.",
    raising=True,
)
def malformed_turns_survive(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    tried = 0
    for scenario in {str(s): s for s in (scenarios[0], scenarios[-1])}.values():
        for action in malformed(context, scenario):
            tried += 1
            _refused(context, scenario, action)
        for text in STRANGE_WORDS:
            tried += 1
            context.run(scenario, [{"role": "assistant", "content": text}] * 2)
    return Passed(f"{tried} malformed turns and unexpected messages got an answer", {"turns": tried})


def _refused(context: Context, scenario: Scenario, action: Any) -> None:
    """Check that a malformed turn gets an error, is counted as malformed, and changes no state."""
    with context.catch_failures(scenario, [action]):
        episode = Episode(context.world, scenario)
        before = episode.state_hash
        answers = episode.step(action)
        if episode.state_hash != before:
            raise context.failure(scenario, "a malformed turn changes the state", [action])
        if not answers or not str(answers[-1]["content"]).startswith("Error"):
            raise context.failure(scenario, "a malformed turn does not get an error", [action])
        if episode.malformed != 1 or episode.done:
            raise context.failure(scenario, "a malformed turn is not counted as malformed", [action])


def malformed(context: Context, scenario: Scenario) -> Iterator[Any]:
    """Yield malformed turns: invalid text, invalid messages, and calls that violate the tool schemas."""
    interface = context.interface
    rng = Random(f"malformed/{scenario}")
    good = CallSampler(rng, interface, StateValues.of(context.begin(scenario).start)).call()
    call = json.dumps({"name": good.tool, "arguments": good.arguments})
    yield from (f"<tool_call>{body}</tool_call>" for body in _bodies(good.tool, call))
    yield from ("", " \n", "\x00\x1b\x07", "\ud800", "x" * 1_000_000, "<tool_call>" + "[" * 1_000_000)
    yield from (None, 3, b"text", [], ["text"], {}, {"content": None}, {"content": 5}, {"content": "x" * 1_000_000})
    raw_call = {"id": "1", "type": "function", "function": {"name": good.tool, "arguments": "{"}}
    broken: tuple[Any, ...] = ("x", [None], [{}], [{"function": None}], [raw_call])
    yield from ({"content": "", "tool_calls": made} for made in broken)
    if interface.calls_per_turn == 1:
        yield f"<tool_call>{call}</tool_call>" * 2
    if not interface.text_with_call:
        yield f"One moment. <tool_call>{call}</tool_call>"
    yield from (Call("no_such_tool"), Call("verify"), Call("oracle"), Call(good.tool, {**good.arguments, "extra": 1}))
    for tool in interface.tools:
        yield from _misfits(tool["function"]["name"], tool["function"].get("parameters", {}))


def _bodies(tool: str, call: str) -> Iterator[str]:
    """Yield invalid contents for a ``<tool_call>`` tag."""
    yield from ("", "{", call[:-1], f"{call} {call}", "[1, 2]", "null", '{"name": 3}', '{"arguments": {}}')
    for arguments in ("[1]", '"text"', "NaN", "1e999", "9" * 400, "[" * 200 + "]" * 200, '{"a": "\\ud800"}'):
        yield f'{{"name": "{tool}", "arguments": {arguments}}}'
    yield f'{{"name": "{"x" * 5000}", "arguments": {{}}}}'


def _misfits(tool: str, schema: dict[str, Any]) -> Iterator[Call]:
    """Yield calls of a tool with a missing argument or an argument of the wrong type."""
    properties = schema.get("properties", {})
    samples = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    fitting = {k: p["enum"][0] if "enum" in p else samples.get(p.get("type")) for k, p in properties.items()}
    for key in schema.get("required", ()):
        yield Call(tool, {k: v for k, v in fitting.items() if k != key})
    for key, part in properties.items():
        if (kind := part.get("type")) in samples:
            wrong = [v for k, v in samples.items() if k != kind and {k, kind} != {"integer", "number"}]
            yield from (Call(tool, {**fitting, key: value}) for value in wrong)
