"""Properties TG411 and TG412: tool results have the same structure as the target's, and errors have one format."""

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
from trace_gym.nested import parse_if_json
from trace_gym.targets.user.replays import answers, refused
from trace_gym.types import Call, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.input_files import read_recordings
from trace_gym.validation.oracle_rollouts import extend_sample
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.random_calls import CallSampler, StateValues
from trace_gym.validation.shapes import Shape, closed
from trace_gym.world import Random, World

SCENARIOS = 12
"""Number of scenarios in which random calls are made."""
CALLS = 40
"""Number of random calls per scenario."""
UNKNOWN_IDS = ("nobody_0", "ZZZ999", "2031-01-01", "no such thing")
"""Strings that do not occur in any record, for calls with unknown ids."""

AnswerCheck = Callable[[str], str]
"""Function that returns a description of the defect in a tool result, or an empty string if the result is valid."""


@property_check(
    "TG411",
    statement="Tool results have the record shape of the target: the same fields with the same types, and no other "
    "fields.",
    reason="A policy that is trained on other record shapes misreads the records of the target.",
    fix="Return the whole record under the field names of the target, and add no field that the target does not have.",
)
def results_fit_record_shapes(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    tests, known_from = _shape_checks(world, context)
    if not tests:
        why = f"the record shapes of {world.target} are unknown" if world.target else "the world has no target"
        raise Skipped(f"{why}, and no recorded episodes were passed (--recordings)")
    seen: Counter[str] = Counter()
    for scenario, calls, content in _answers(scenarios, context):
        tool = calls[-1].tool
        if tool in tests and not refused(content):
            seen[tool] += 1
            if fault := tests[tool](content):
                raise context.failure(scenario, f"{tool}: {fault}", calls)
    if not seen:
        raise CheckFailed(f"none of {len(tests)} tools with known shapes returned a result")
    metrics = {f"answers_{tool}": float(count) for tool, count in sorted(seen.items())}
    message = f"{seen.total()} results of {len(seen)} of {len(tests)} tools have the shapes of {known_from}"
    if unseen := sorted(tests.keys() & context.interface.kinds.keys() - seen.keys()):
        message += f"; {', '.join(unseen)} returned no result"
    return Passed(message, metrics)


def _shape_checks(world: type[World], context: Context) -> tuple[dict[str, AnswerCheck], str]:
    """Return result checks by tool, and the names of their sources.

    Expected structures come from the target's schemas and, for tools without one, from recorded results.
    """
    known = {tool: _by_schema(schema) for tool, schema in returned(world.target).items()}
    shapes: dict[str, Shape] = {}
    for episode in (t for path in context.inputs.recordings for t in read_recordings(path)):
        for call, recorded_content in answers(episode):
            if call.tool in context.interface.kinds and call.tool not in known and not refused(recorded_content):
                shapes.setdefault(call.tool, Shape()).add(parse_if_json(recorded_content))
    sources = [world.target] if known else []
    sources += ["recorded answers"] if shapes else []
    return known | {tool: _by_shape(shape) for tool, shape in shapes.items()}, " and ".join(sources)


@cache
def returned(target: str) -> dict[str, Any]:
    """Return the JSON Schemas of tool results, by tool, from the target's interface file."""
    for folder in resources.files("trace_gym.targets").iterdir():
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name.endswith(".json") and (data := json.loads(file.read_text())).get("name") == target:
                return dict(data.get("returns", {}))
    return {}


def _by_schema(schema: dict[str, Any]) -> AnswerCheck:
    """Return a check for tool results. The schema describes an object with the result under the key ``returns``."""
    validator = jsonschema.Draft202012Validator(closed(schema))

    def test(content: str) -> str:
        if validator.is_valid({"returns": content}):  # the result is a plain sentence
            return ""
        try:
            answer = json.loads(content)
        except ValueError:
            answer = content
        for error in validator.iter_errors({"returns": answer}):
            where = error.json_path.removeprefix("$.returns").lstrip(".") or "the result"
            return f"{where}: {error.message[:300]}"
        return ""

    return test


def _by_shape(shape: Shape) -> AnswerCheck:
    return lambda content: next(shape.faults(parse_if_json(content)), "")


def _answers(scenarios: Sequence[Scenario], context: Context) -> Iterator[tuple[Scenario, list[Call], str]]:
    """Yield results of the experts' calls and of random calls, each with its scenario and all calls up to it."""
    for scenario in scenarios:
        for expert in ("oracle", "ablated"):
            calls = [s for s in context.plan(scenario, expert) if isinstance(s, Call)]
            recorded_content = [
                str(m["content"]) for m in context.expert(scenario, expert).messages if m["role"] == "tool"
            ]
            for number, content in enumerate(recorded_content[: len(calls)], 1):
                yield scenario, calls[:number], content
    yield from _random(scenarios, context)


def _random(scenarios: Sequence[Scenario], context: Context) -> Iterator[tuple[Scenario, list[Call], str]]:
    """Yield the results of well-typed random calls. Every other call refers to records that do not exist."""
    chosen = extend_sample(scenarios, context)
    if not context.interface.kinds:
        return
    for scenario in chosen[:: max(1, len(chosen) // SCENARIOS)]:
        rng = Random(f"answers/{scenario}")
        calls: list[Call] = []
        with context.catch_failures(scenario):
            episode = Episode(context.world, scenario)
        unknown_sampler = CallSampler(rng, context.interface, StateValues({}, list(UNKNOWN_IDS)))
        for number in range(CALLS):
            if episode.done:
                break
            draw = CallSampler(rng, context.interface, StateValues.of(episode.world)) if number % 2 else unknown_sampler
            calls.append(draw.call(("read", "write", "generic") if number % 10 == 9 else ("read", "write")))
            with context.catch_failures(scenario, calls):
                content = str(episode.step(calls[-1])[-1]["content"])
            yield scenario, list(calls), content


_failure_pattern = re.compile(
    r"\W*(error|exception|traceback|fail(ed|ure)?|invalid|unknown|unauthorized|not found|no such|denied|"
    r"cannot|could not|unable)\b",
    re.I,
)


@property_check(
    "TG412",
    statement="All tools reject calls in one format: ``Error:`` followed by a sentence on one line.",
    reason="A policy recognizes rejected calls by their format, and a second format is easy to miss.",
    fix="Raise ToolError with a sentence wherever a call is rejected, and return no result that reports a failure.",
)
def error_format_is_uniform(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    forms: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for scenario, calls, content in _random(scenarios, context):
        about_unknown = len(calls) % 2 == 1  # other results may contain words such as "error"
        if not (form := _form(content)) or not (about_unknown or refused(content)):
            continue
        forms[form] += 1
        tools[calls[-1].tool] += 1
        if form != _SENTENCE:
            raise context.failure(scenario, f"{calls[-1].tool} rejects a call with {form}: {content[:200]!r}", calls)
    recorded_content = Counter(
        f for e in _recorded(context) for call, text in answers(e) if (f := _form(text)) and refused(text)
    )
    if recorded_content and forms and (other := recorded_content.most_common(1)[0][0]) != _SENTENCE:
        raise CheckFailed(f"errors are {_SENTENCE} here, but {other} in {recorded_content.total()} recorded errors")
    message = f"{forms.total()} errors of {len(tools)} tools are {_SENTENCE}" if forms else "no call was rejected"
    if recorded_content:
        message += f", as are {recorded_content[_SENTENCE]} of {recorded_content.total()} recorded ones"
    return Passed(
        message,
        {"refusals": float(forms.total()), "tools": float(len(tools)), "recorded": float(recorded_content.total())},
    )


def _recorded(context: Context) -> Iterator[Any]:
    return (episode for path in context.inputs.recordings for episode in read_recordings(path))


_SENTENCE = "a sentence after 'Error: '"


def _form(content: str) -> str:
    """Return the format of a result that reports a failure, or an empty string for any other result."""
    if content.startswith("Error: "):
        text = content.removeprefix("Error: ").strip()
        if "\n" in text:
            return "several lines after 'Error: '"
        if text[:1] in ("{", "["):
            return "JSON after 'Error: '"
        return "a second prefix after 'Error: '" if re.match(r"error\b", text, re.I) else _SENTENCE
    answer = parse_if_json(content)
    if isinstance(answer, dict):
        failed = str(answer.get("status")).lower() in ("error", "failed", "failure")
        named = {"error", "errors", "exception"} & answer.keys()
        fails = failed or any(answer[k] for k in named) or answer.get("success") is False or answer.get("ok") is False
        return "a record that reports a failure" if fails else ""
    return (
        "a sentence that does not begin with 'Error: '"
        if isinstance(answer, str) and _failure_pattern.match(answer)
        else ""
    )
