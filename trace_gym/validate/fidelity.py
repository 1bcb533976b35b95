"""TG4, answers of the tools: they have the target's shapes, and its one format of refusals."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any

import jsonschema

from trace_gym.episode import Episode
from trace_gym.types import Call, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.draws import Draw, Values
from trace_gym.validate.files import recorded
from trace_gym.validate.gold import more, parsed
from trace_gym.validate.properties import Broken, Held, Inapplicable, prop
from trace_gym.validate.recordings import made, refused
from trace_gym.validate.shapes import Shape, closed
from trace_gym.world import Random, World

SCENARIOS = 12
"""Scenarios whose tools are called at random."""
CALLS = 40
"""Random calls in each."""
STRANGERS = ("nobody_0", "ZZZ999", "2031-01-01", "no such thing")
"""Strings that no record holds."""

Test = Callable[[str], str]
"""What is wrong with an answer, as text; empty when nothing is."""


@prop(
    "TG411",
    statement="What the tools answer has the target's shape: the same fields, of the same types, and no others.",
    reason="A policy that learns to read other records than the target's reads the target's wrongly.",
    mend="Return the whole record under the target's names, and put nothing in it that the target has not.",
)
def results_fit_record_shapes(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    tests, known_from = _tests(world, context)
    if not tests:
        why = f"no shapes of {world.target} are known" if world.target else "the world names no target"
        raise Inapplicable(f"{why}, and no recorded episode is given")
    seen: Counter[str] = Counter()
    for scenario, calls, content in _answers(scenarios, context):
        tool = calls[-1].tool
        if tool in tests and not refused(content):
            seen[tool] += 1
            if fault := tests[tool](content):
                raise context.broken(scenario, f"{tool}: {fault}", calls)
    if not seen:
        raise Broken(f"of {len(tests)} tools whose shapes are known, none gave an answer")
    figures = {f"answers_{tool}": float(count) for tool, count in sorted(seen.items())}
    says = f"{seen.total()} answers of {len(seen)} of {len(tests)} tools have the shapes of {known_from}"
    if unseen := sorted(tests.keys() & context.interface.kinds.keys() - seen.keys()):
        says += f"; {', '.join(unseen)} gave none"
    return Held(says, figures)


def _tests(world: type[World], context: Context) -> tuple[dict[str, Test], str]:
    """A test of the answers of each tool whose shape is known: by the target's data, or by recorded answers."""
    known = {tool: _by_schema(schema) for tool, schema in returned(world.target).items()}
    shapes: dict[str, Shape] = {}
    for episode in (t for path in context.given.recordings for t in recorded(path)):
        for call, told in made(episode):
            if call.tool in context.interface.kinds and call.tool not in known and not refused(told):
                shapes.setdefault(call.tool, Shape()).add(parsed(told))
    sources = [world.target] if known else []
    sources += ["recorded answers"] if shapes else []
    return known | {tool: _by_shape(shape) for tool, shape in shapes.items()}, " and ".join(sources)


@cache
def returned(target: str) -> dict[str, Any]:
    """The JSON Schemas of what a target's tools return, as its interface data has them."""
    for folder in resources.files("trace_gym.targets").iterdir():
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name.endswith(".json") and (data := json.loads(file.read_text())).get("name") == target:
                return dict(data.get("returns", {}))
    return {}


def _by_schema(schema: dict[str, Any]) -> Test:
    """A test by a schema that has the answer under ``returns``, as interface data does."""
    validator = jsonschema.Draft202012Validator(closed(schema))

    def test(content: str) -> str:
        if validator.is_valid({"returns": content}):  # a tool that answers with a sentence
            return ""
        try:
            answer = json.loads(content)
        except ValueError:
            answer = content
        for error in validator.iter_errors({"returns": answer}):
            where = error.json_path.removeprefix("$.returns").lstrip(".") or "the answer"
            return f"{where}: {error.message[:300]}"
        return ""

    return test


def _by_shape(shape: Shape) -> Test:
    return lambda content: next(shape.faults(parsed(content)), "")


def _answers(scenarios: Sequence[Scenario], context: Context) -> Iterator[tuple[Scenario, list[Call], str]]:
    """Answers to both experts' calls and to random ones, each with the calls that led to it in its scenario."""
    for scenario in scenarios:
        for expert in ("oracle", "ablated"):
            calls = [s for s in context.plan(scenario, expert) if isinstance(s, Call)]
            told = [str(m["content"]) for m in context.expert(scenario, expert).messages if m["role"] == "tool"]
            for number, content in enumerate(told[: len(calls)], 1):
                yield scenario, calls[:number], content
    yield from _random(scenarios, context)


def _random(scenarios: Sequence[Scenario], context: Context) -> Iterator[tuple[Scenario, list[Call], str]]:
    """Answers to well-typed calls, every other one about records that there are not."""
    chosen = more(scenarios, context)
    if not context.interface.kinds:
        return
    for scenario in chosen[:: max(1, len(chosen) // SCENARIOS)]:
        rng = Random(f"answers/{scenario}")
        calls: list[Call] = []
        with context.blame(scenario):
            episode = Episode(context.world, scenario)
        strangers = Draw(rng, context.interface, Values({}, list(STRANGERS)))
        for number in range(CALLS):
            if episode.done:
                break
            draw = Draw(rng, context.interface, Values.of(episode.world)) if number % 2 else strangers
            calls.append(draw.call(("read", "write", "generic") if number % 10 == 9 else ("read", "write")))
            with context.blame(scenario, calls):
                content = str(episode.step(calls[-1])[-1]["content"])
            yield scenario, list(calls), content


_complaint = re.compile(
    r"\W*(error|exception|traceback|fail(ed|ure)?|invalid|unknown|unauthorized|not found|no such|denied|"
    r"cannot|could not|unable)\b",
    re.I,
)


@prop(
    "TG412",
    statement="Refusals of all tools look alike: ``Error:`` and a sentence on one line.",
    reason="A policy learns to tell a refusal from an answer by its form; a second form goes unnoticed.",
    mend="Raise ToolError with a sentence wherever a call is refused, and return nothing that reports a failure.",
)
def errors_look_alike(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    forms: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for scenario, calls, content in _random(scenarios, context):
        about_strangers = len(calls) % 2 == 1  # any other answer may hold such words of its own
        if not (form := _form(content)) or not (about_strangers or refused(content)):
            continue
        forms[form] += 1
        tools[calls[-1].tool] += 1
        if form != _SENTENCE:
            raise context.broken(scenario, f"{calls[-1].tool} refuses with {form}: {content[:200]!r}", calls)
    told = Counter(f for e in _recorded(context) for call, text in made(e) if (f := _form(text)) and refused(text))
    if told and forms and (other := told.most_common(1)[0][0]) != _SENTENCE:
        raise Broken(f"refusals are {_SENTENCE} here, and {other} in {told.total()} recorded refusals")
    says = f"{forms.total()} refusals of {len(tools)} tools are {_SENTENCE}" if forms else "no call was refused"
    if told:
        says += f", as are {told[_SENTENCE]} of {told.total()} recorded ones"
    return Held(says, {"refusals": float(forms.total()), "tools": float(len(tools)), "recorded": float(told.total())})


def _recorded(context: Context) -> Iterator[Any]:
    return (episode for path in context.given.recordings for episode in recorded(path))


_SENTENCE = "a sentence after 'Error: '"


def _form(content: str) -> str:
    """The form of an answer that reports a failure; empty for any other answer."""
    if content.startswith("Error: "):
        text = content.removeprefix("Error: ").strip()
        if "\n" in text:
            return "several lines after 'Error: '"
        if text[:1] in ("{", "["):
            return "JSON after 'Error: '"
        return "a second prefix after 'Error: '" if re.match(r"error\b", text, re.I) else _SENTENCE
    answer = parsed(content)
    if isinstance(answer, dict):
        failed = str(answer.get("status")).lower() in ("error", "failed", "failure")
        named = {"error", "errors", "exception"} & answer.keys()
        fails = failed or any(answer[k] for k in named) or answer.get("success") is False or answer.get("ok") is False
        return "a record that reports a failure" if fails else ""
    return "a sentence of another beginning" if isinstance(answer, str) and _complaint.match(answer) else ""
