"""TG4, first half: the tools are the target's, and whatever a model writes is answered."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Any

from trace_gym.actions import MAX_TEXT
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError
from trace_gym.targets.user.folder import find
from trace_gym.types import Call, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.draws import Draw, Values
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.world import Random, World, python_name, tool_methods


@prop(
    "TG401",
    statement="The tools are exactly those of the target: names, parameters, types, required and enums.",
    reason="Skill transfers through the interface; a tool that the target lacks teaches what cannot be used there.",
    mend="Inherit the target's base world and leave its tools and `interface` alone; descriptions may differ.",
)
def tools_are_the_targets(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    interface = context.interface
    here = {t["function"]["name"]: t["function"].get("parameters", {}) for t in interface.tools}
    for name, schema in here.items():
        _fits_method(world, name, schema, interface.kinds.get(name))
    if extra := tool_methods(world).keys() - here.keys():
        raise Broken(f"{min(extra)} is marked as a tool and no tool of the interface")
    for scenario in scenarios:
        for expert in ("oracle", "ablated"):
            plan = context.plan(scenario, expert)
            if foreign := [s for s in plan if isinstance(s, Call) and s.tool not in here]:
                raise context.broken(scenario, f"the {expert} calls {foreign[0].tool}, which is no tool here", plan)
    if not world.target:
        return Held(f"{len(here)} tools fit their methods; the world names no target to compare with")
    if (there := target_tools(world.target)) is None:
        raise Broken(f"there is no interface data of a target {world.target!r}; name a known one, or none")
    for name in sorted(here.keys() | there.keys()):
        if bare(here.get(name)) != bare(there.get(name)):
            raise Broken(
                f"{name} differs from the target's: {_told(here.get(name))}, expected {_told(there.get(name))}"
            )
    return Held(f"{len(here)} tools equal those of {world.target}")


def _fits_method(world: type[World], name: str, schema: dict[str, Any], kind: str | None) -> None:
    method = getattr(world, tool_methods(world).get(name, name), None)
    if (marked := getattr(method, "_tool_kind", None)) is None or marked != kind:
        raise Broken(f"{name} is {kind} in the interface, and its method is marked as {marked}")
    parameters = list(inspect.signature(method).parameters.values())[1:]  # type: ignore[arg-type]
    names, needed = {p.name for p in parameters}, {p.name for p in parameters if p.default is p.empty}
    known, required = ({*map(python_name, schema.get(key, ()))} for key in ("properties", "required"))
    if names != known or needed != required:
        raise Broken(
            f"the method {name}({', '.join(sorted(names))}) does not take what its schema says: {_told(schema)}"
        )


def target_tools(target: str) -> dict[str, Any] | None:
    """The parameters of a target's tools by name, as its interface data has them; None for an unknown target.

    A target of the user's own has them in its folder.
    """
    for folder in resources.files("trace_gym.targets").iterdir():
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name.endswith(".json") and (data := json.loads(file.read_text())).get("name") == target:
                return {t["function"]["name"]: t["function"].get("parameters", {}) for t in data["tools"]}
    try:
        return {t["function"]["name"]: t["function"]["parameters"] for t in find(target).tools}
    except ConfigError:
        return None


def bare(schema: Any) -> Any:
    """A JSON Schema without descriptions and titles, and with its sets of names sorted."""
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            made[key] = {name: bare(part) for name, part in value.items()}
        elif key in ("required", "enum"):
            made[key] = sorted(value, key=str)
        elif key not in ("description", "title"):
            made[key] = [bare(v) for v in value] if isinstance(value, list) else bare(value)
    return made


def _told(schema: Any) -> str:
    return "no such tool" if schema is None else json.dumps(bare(schema), sort_keys=True)[:300]


STRANGE_WORDS = (
    "{}", "{user} {0} {code}", "%s %d %(name)s", "\\", "'\"`", "<tool_call", "[[[", "null", "-1", "\u2603" * 500,
    "?" * 5000, "\N{PILE OF POO} \u0130\u0131\u00df", "a" * (MAX_TEXT - 1), "sorry " * 10_000, "shall i? " * 10_000,
)  # fmt: skip
"""Messages to the user that no user expects; each is well-formed."""


@prop(
    "TG402",
    statement="Whatever a model writes is answered: malformed turns change nothing, strange words break nothing.",
    reason="An exception in a rollout loses the whole group, and an untrained model writes all of these.",
    mend="Let `reply` take any text; leave parsing and type checks to the episode and the tools' schemas.",
    raising=True,
)
def malformed_turns_survive(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    tried = 0
    for scenario in {str(s): s for s in (scenarios[0], scenarios[-1])}.values():
        for action in malformed(context, scenario):
            tried += 1
            _refused(context, scenario, action)
        for text in STRANGE_WORDS:
            tried += 1
            context.play(scenario, [{"role": "assistant", "content": text}] * 2)
    return Held(f"{tried} malformed turns and strange messages were answered", {"turns": tried})


def _refused(context: Context, scenario: Scenario, action: Any) -> None:
    """Check that a turn is answered with an error, counted as malformed, and changes nothing."""
    with context.blame(scenario, [action]):
        episode = Episode(context.world, scenario)
        before = episode.state_hash
        answers = episode.step(action)
        if episode.state_hash != before:
            raise context.broken(scenario, "a malformed turn changes the state", [action])
        if not answers or not str(answers[-1]["content"]).startswith("Error"):
            raise context.broken(scenario, "a malformed turn is not answered with an error", [action])
        if episode.malformed != 1 or episode.done:
            raise context.broken(scenario, "a malformed turn is taken for a good one", [action])


def malformed(context: Context, scenario: Scenario) -> Iterator[Any]:
    """Turns that obey no convention: broken text, broken messages, and calls that do not fit their schemas."""
    interface = context.interface
    rng = Random(f"malformed/{scenario}")
    good = Draw(rng, interface, Values.of(context.begin(scenario).start)).call()
    call = json.dumps({"name": good.tool, "arguments": good.arguments})
    yield from (f"<tool_call>{body}</tool_call>" for body in _bodies(good.tool, call))
    yield from ("", " \n", "\x00\x1b\x07", "\ud800", "x" * 1_000_000, "<tool_call>" + "[" * 1_000_000)
    yield from (None, 3, b"text", [], ["text"], {}, {"content": None}, {"content": 5}, {"content": "x" * 1_000_000})
    wired = {"id": "1", "type": "function", "function": {"name": good.tool, "arguments": "{"}}
    broken: tuple[Any, ...] = ("x", [None], [{}], [{"function": None}], [wired])
    yield from ({"content": "", "tool_calls": made} for made in broken)
    if interface.calls_per_turn == 1:
        yield f"<tool_call>{call}</tool_call>" * 2
    if not interface.text_with_call:
        yield f"One moment. <tool_call>{call}</tool_call>"
    yield from (Call("no_such_tool"), Call("verify"), Call("oracle"), Call(good.tool, {**good.arguments, "extra": 1}))
    for tool in interface.tools:
        yield from _misfits(tool["function"]["name"], tool["function"].get("parameters", {}))


def _bodies(tool: str, call: str) -> Iterator[str]:
    """What may stand between the tags of a tool call and is none."""
    yield from ("", "{", call[:-1], f"{call} {call}", "[1, 2]", "null", '{"name": 3}', '{"arguments": {}}')
    for arguments in ("[1]", '"text"', "NaN", "1e999", "9" * 400, "[" * 200 + "]" * 200, '{"a": "\\ud800"}'):
        yield f'{{"name": "{tool}", "arguments": {arguments}}}'
    yield f'{{"name": "{"x" * 5000}", "arguments": {{}}}}'


def _misfits(tool: str, schema: dict[str, Any]) -> Iterator[Call]:
    """Calls of a tool that lack an argument, or hold one of another type."""
    properties = schema.get("properties", {})
    samples = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    fitting = {k: p["enum"][0] if "enum" in p else samples.get(p.get("type")) for k, p in properties.items()}
    for key in schema.get("required", ()):
        yield Call(tool, {k: v for k, v in fitting.items() if k != key})
    for key, part in properties.items():
        if (kind := part.get("type")) in samples:
            wrong = [v for k, v in samples.items() if k != kind and {k, kind} != {"integer", "number"}]
            yield from (Call(tool, {**fitting, key: value}) for value in wrong)
