"""Property TG212: plans with a wrong outcome that is close to the correct one do not succeed.

The wrong plans are derived systematically from the oracle's plan:

- the oracle's plan, including its messages, for a variant of the scenario in which one random draw has a different
  value (see `trace_gym.validation.interventions`);
- the oracle's plan together with the additional writes of the plan for a variant;
- the oracle's plan with one argument value of a write replaced, with or without a corresponding change of the messages;
- the oracle's plan with an element of a list argument added, repeated, removed or moved;
- the oracle's plan with an additional call that ends the conversation, such as a transfer to a human;
- the oracle's plan without any mention of a record that the user wants to change and the oracle does not change.

Except for the last kind, a plan counts only if its final state differs from that of the oracle's plan.
"""

from __future__ import annotations

import copy
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from trace_gym.types import Call, Say, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import evenly_spaced, is_write, state_after
from trace_gym.validation.experts import CHECKS
from trace_gym.validation.hidden_information import describe
from trace_gym.validation.oracle_rollouts import scalars_by_path
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.validation.text_cues import mentioned_records
from trace_gym.world import Step, World

SCENARIOS = 6
"""Maximum number of scenarios per level."""
VALUES = 3
"""Maximum number of replacements for one argument value."""
ALLOWED = 0.1
"""Maximum share of a level's scenarios in which a wrong plan may succeed. It is not 0, because two outcomes can happen
to be equally good."""

SILENT = "no word about a record that is left unchanged"

ArgumentPath = tuple[str, ...]
NamedVariant = tuple[str, list[Step]]
"""Description of a plan and the plan."""


@property_check(
    "TG212",
    statement="Plans close to the oracle's plan with another final state do not succeed.",
    reason="A verifier that accepts a neighboring outcome rewards agents that skip the decision between the two.",
    fix="Derive expected values from `start`, not from the final state, and compare whole records and lists. If both "
    "outcomes are equally good, let the oracle reach the state that every correct plan reaches.",
)
def wrong_outcomes_fail(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    tried: Counter[str] = Counter()
    accepted = defaultdict[int, list[CheckFailed]](list)
    sampled: Counter[int] = Counter()
    for level in sorted({s.level for s in scenarios}):
        for scenario in evenly_spaced([s for s in scenarios if s.level == level], SCENARIOS):
            sampled[level] += 1
            if failure := _accepted(context, scenario, tried):
                accepted[level].append(failure)
    metrics = {f"accepted_{level}": len(accepted[level]) / count for level, count in sampled.items()}
    metrics |= {"plans": float(tried.total())}
    for level, failures in accepted.items():
        if len(failures) > ALLOWED * sampled[level]:
            first = failures[0]
            message = f"{first.message} (a wrong plan succeeds in {len(failures)} of {sampled[level]} scenarios)"
            raise CheckFailed(message, first.counterexample, metrics, (), first.replay)
    shares = ", ".join(f"{count} with {name}" for name, count in tried.most_common())
    return Passed(f"{tried.total()} plans with another final state fail: {shares or 'none exist'}", metrics)


def _accepted(context: Context, scenario: Scenario, tried: Counter[str]) -> CheckFailed | None:
    """Return a failure for the first wrong plan that succeeds in a scenario."""
    oracle = context.expert(scenario, "oracle")
    if not oracle.finish().success:
        return None  # TG201 reports it
    correct = state_after(oracle)
    for name, plan in wrong_plans(context, scenario):
        episode = context.run(scenario, plan)
        if name != SILENT and episode.finish().success and state_after(episode) == correct:
            continue
        tried[name] += 1
        if episode.finish().success:
            changed = next(
                (pair for pair in zip(context.plan(scenario, "oracle"), plan, strict=False) if _differ(*pair)), None
            )
            instead = f": {describe(changed[1])} instead of {describe(changed[0])}" if changed else ""
            if _writes(plan, context) == _writes(context.plan(scenario, "oracle"), context):
                name, instead = "its writes in another order", ""
            message = f"the oracle's plan with {name} succeeds with another final state{instead}"
            if path := first_difference(correct, state_after(episode)):
                message += f" ({path} differs)"
            if name == SILENT:
                message = (
                    f"the oracle's plan succeeds with {name}: {' '.join(s.text for s in plan if isinstance(s, Say))}"
                )
            return context.failure(scenario, message, plan, CHECKS)
    return None


def _writes(plan: Sequence[Step], context: Context) -> list[str]:
    """Return the write calls of a plan in alphabetical order."""
    return sorted(str(step) for step in plan if is_write(step, context.interface))


def first_difference(one: Any, other: Any) -> str:
    """Return the path of the first value that differs between two states, or `""` if the states are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        inside = [(str(k), one.get(k), other.get(k)) for k in {**one, **other}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        inside = [(str(n), a, b) for n, (a, b) in enumerate(zip(one, other, strict=True))]
    else:
        inside = []
    key, a, b = next((found for found in inside if found[1] != found[2]), ("", None, None))
    return f"{key}.{first_difference(a, b)}".rstrip(".") if key else ""


def _differ(one: Step, other: Step) -> bool:
    return one != other and (isinstance(one, Call) or isinstance(other, Call))


def wrong_plans(context: Context, scenario: Scenario) -> Iterator[NamedVariant]:
    """Yield all wrong plans, each with a description. Some of them may have the oracle's final state."""
    plan = context.plan(scenario, "oracle")
    others = [v.oracle for v in context.variants(scenario) if len(v.oracle) <= context.world.max_turns]
    last = max((n for n, step in enumerate(plan) if isinstance(step, Call)), default=-1) + 1
    for other in others:
        yield "all steps for another scenario", other
        if more := [s for s in other if is_write(s, context.interface) and s not in plan]:
            yield "additional writes for another scenario", [*plan[:last], *more, *plan[last:]]
    pool = _values(others, context)
    for n, step in enumerate(plan):
        if isinstance(step, Call) and is_write(step, context.interface):
            for name, old, new, call in _changed(step, pool):
                yield name, [*plan[:n], call, *plan[n + 1 :]]
                if name == "another value" and (said := _restated(plan, str(old), str(new))) != plan:
                    yield "another value, which is also stated", [*said[:n], call, *said[n + 1 :]]
    yield from _silent(context, scenario, plan)
    for call in _endings(context, scenario, plan):
        yield "an additional call that ends the conversation", [*plan[:last], call, *plan[last:]]


def _values(plans: Sequence[Sequence[Step]], context: Context) -> dict[tuple[str, ArgumentPath], dict[str, Any]]:
    """Return the values of each argument, and the elements of each list, in the writes of several plans."""
    pool = defaultdict[tuple[str, ArgumentPath], dict[str, Any]](dict)
    for step in (s for plan in plans for s in plan):
        if isinstance(step, Call) and is_write(step, context.interface):
            for path, value in scalars_by_path(step.arguments):
                pool[step.tool, path].setdefault(repr(value), value)
            for key, values in step.arguments.items():
                for element in values if isinstance(values, list) else ():
                    pool[step.tool, (key, "*")].setdefault(repr(element), element)
    return pool


def _changed(call: Call, pool: dict[tuple[str, ArgumentPath], dict[str, Any]]) -> Iterator[tuple[str, Any, Any, Call]]:
    """Yield calls with one changed argument, each with a description, the old value and the new value."""
    for path, value in scalars_by_path(call.arguments):
        known = [v for v in pool[call.tool, path].values() if v != value][:VALUES]
        if isinstance(value, int) and not isinstance(value, bool):
            known += [value + 1]
        for new in known:
            yield "another value", value, new, Call(call.tool, replaced(call.arguments, path, new))
    for key, values in call.arguments.items():
        if isinstance(values, list) and values:
            more = [v for v in pool[call.tool, (key, "*")].values() if v not in values][:VALUES]
            lists = [("an added element", [*values, v]) for v in more] + [("a repeated element", [*values, values[-1]])]
            if len(values) > 1:
                lists += [("a missing element", values[:-1]), ("another order", [*values[1:], values[0]])]
            for name, changed in lists:
                yield name, values, changed, Call(call.tool, {**call.arguments, key: changed})


def replaced(arguments: dict[str, Any], path: ArgumentPath, value: Any) -> dict[str, Any]:
    """Return a copy of arguments with a different value at a path from `scalars_by_path`."""
    made = copy.deepcopy(arguments)
    inner: Any = made
    for step in path[:-1]:
        inner = inner[_key(inner, step)]
    inner[_key(inner, path[-1])] = value
    return made


def _key(inner: Any, step: str) -> Any:
    if not step.startswith("#"):
        return step
    return int(step[1:]) if isinstance(inner, list) else list(inner)[int(step[1:])]


def _restated(plan: Sequence[Step], old: str, new: str) -> list[Step]:
    """Return the plan with the new value in place of the old one in all messages."""
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
    return [Say(pattern.sub(lambda _: new, s.text)) if isinstance(s, Say) else s for s in plan]


def _silent(context: Context, scenario: Scenario, plan: Sequence[Step]) -> Iterator[NamedVariant]:
    """Yield the plan without any mention of a record, for each record in the first message that it does not change.

    Only tables with records that the plan changes are considered.
    """
    episode = context.begin(scenario)
    writes = [s for s in plan if isinstance(s, Call) and is_write(s, context.interface)]
    objects = {str(value) for call in writes for value in call.arguments.values()}
    for table, keys in mentioned_records(episode.start, str(episode.messages[1]["content"])).items():
        if not objects & set(getattr(episode.start, table)):
            continue
        for key in keys:
            if key not in objects and any(isinstance(s, Say) and key in s.text for s in plan):
                kept = [_without(step, key) for step in plan]
                yield SILENT, [step for step in kept if step != Say("")]


def _without(step: Step, key: str) -> Step:
    """Return a message without the sentences that contain a value, and any other step unchanged."""
    if not isinstance(step, Say):
        return step
    return Say(" ".join(part for part in re.split(r"(?<=[.!?]) ", step.text) if key not in part))


def _endings(context: Context, scenario: Scenario, plan: Sequence[Step]) -> Iterator[Call]:
    """Yield a call of each tool that is neither a read nor a write and that ends the conversation."""
    used = {s.tool for s in plan if isinstance(s, Call)}
    for tool in context.interface.tools:
        function = tool["function"]
        if context.interface.kinds.get(function["name"]) != "generic" or function["name"] in used:
            continue
        needed = function.get("parameters", {}).get("required", ())
        call = Call(function["name"], dict.fromkeys(needed, "as asked"))
        if context.run(scenario, [call]).world.ended:
            yield call
