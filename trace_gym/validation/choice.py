"""Property TG705: heuristics based on order do not predict the oracle's choice among displayed values.

The oracle is the scripted expert that solves a scenario. The ablated expert is the same script without the capability
that the environment trains. If both make the same call with different values for an argument, the oracle has made a
*choice* among the values that the conversation has displayed next to each other. A heuristic uses only the order of
these values and the ablated expert's value. With n values, chance accuracy is 1/n. A heuristic may be somewhat more
accurate than chance, because some values can be implausible.

Three cases are excluded: results that display a single value each, because the number of results may depend on the
oracle; elements of lists, because most lists are passed on unchanged; and the heuristic that copies the ablated expert,
because its accuracy only measures how often the capability is needed (see TG501).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import sqrt
from statistics import fmean
from typing import Any

from trace_gym.types import Bars, Call, Scenario
from trace_gym.validation.choice_exploit import exploit_success
from trace_gym.validation.choice_heuristics import ChoiceCase, heuristic_picks
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import EXPERTS, is_write
from trace_gym.validation.experts import CHECKS
from trace_gym.validation.oracle_rollouts import (
    OracleRollout,
    extend_sample,
    get_path,
    is_id,
    is_identifying,
    paired_writes,
    scalars_by_path,
    words_of,
)
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.text_cues import MIN_SCENARIOS, MIN_SHARE
from trace_gym.world import World

ALLOWED_GAIN = 1 / 3
"""Maximum accuracy of a heuristic, on a scale from 0 (chance) to 1 (perfect accuracy). The value is the gain from
excluding two implausible values out of four."""
ERRORS = 2.0
"""Number of standard errors by which a heuristic may exceed the allowed accuracy."""
SCENARIOS, RETRY_FACTOR = 8, 4
"""Sample size per level, as a multiple of the profile's, and the factor by which the sample is enlarged to confirm a
failure."""
KeyPath = tuple[str, ...]
"""Location of a list of values: the initial observation or a tool result, followed by field names; ``*`` is any record
of a table."""
SCHEMA: KeyPath = ("the schema",)
ArgumentSlot = tuple[int, str, KeyPath]
"""Level, tool and path of an argument."""


@dataclass(frozen=True)
class ArgumentChoice:
    """All cases of one argument and one list of values."""

    argument: ArgumentSlot
    location: KeyPath
    cases: tuple[ChoiceCase, ...]

    @property
    def chance(self) -> float:
        """Expected accuracy of a random choice among the values."""
        return fmean(c.chance for c in self.cases)

    @property
    def bound(self) -> float:
        """Maximum fraction of correct cases that a heuristic may have, including a margin for sampling error."""
        variance = sum(c.chance * (1 - c.chance) for c in self.cases)
        return self.chance + ALLOWED_GAIN * (1 - self.chance) + ERRORS * sqrt(variance) / len(self.cases)

    @cached_property
    def shares(self) -> dict[str, float]:
        """Mapping from the name of each heuristic to its fraction of correct cases, in descending order."""
        hits = Counter(rule for case in self.cases for rule, value in heuristic_picks(case) if value == case.right)
        return {rule: count / len(self.cases) for rule, count in hits.most_common()} or {"no. 1": 0.0}

    @cached_property
    def nearest(self) -> str:
        """Name of the heuristic with the highest fraction of correct cases."""
        return next(iter(self.shares))

    @property
    def excess(self) -> float:
        return self.shares[self.nearest] - self.bound

    @property
    def message(self) -> str:
        level, tool, path = self.argument
        where = " ".join([self.location[0].partition("/")[0], ".".join(self.location[1:])]).strip()
        named = f"{tool} {'.'.join(p for p in path if not p.startswith('#'))}"
        often = f"in {self.shares[self.nearest]:.0%} of {len(self.cases)} choices"
        bounds = f"a random choice is correct in {self.chance:.0%}, and the bound is {self.bound:.0%}"
        return (
            f"level {level}: the heuristic {self.nearest!r}, applied to {where}, is correct for {named} "
            f"{often}; {bounds}"
        )

    @property
    def bars(self) -> Bars:
        """Chart of the best heuristics and of chance."""
        title = f"Heuristics for {self.argument[1]} on level {self.argument[0]}"
        bars = {**dict(islice(self.shares.items(), 8)), "chance": self.chance}
        return Bars(title=title, unit="share of choices", bars=bars, bound=self.bound)


@property_check(
    "TG705",
    statement="No positional or ordering heuristic matches the oracle's choice among the displayed values much more "
    "often than chance.",
    reason='Otherwise a policy learns a rule such as "take the last value" instead of the reason for the correct '
    "choice.",
    fix="Draw the correct value from all displayed values, include the value that the ablated expert takes, and "
    "shuffle the order.",
)
def choices_match_no_heuristic(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    """Evaluate every choice; levels that seem to fail are evaluated again on a larger sample."""
    found = list(argument_choices(scenarios, context))
    if blind := {c.argument[0] for c in found if c.excess > 0}:
        again = argument_choices([s for s in scenarios if s.level in blind], context, SCENARIOS * RETRY_FACTOR)
        found = [c for c in found if c.argument[0] not in blind] + list(again)
    if not found:
        raise Skipped("there are no choices: both experts pass the same arguments, or only one value is displayed")
    metrics: dict[str, float] = {}
    for choice in found:
        name, gain = f"gain_{choice.argument[0]}", choice.shares[choice.nearest] - choice.chance
        metrics[name] = max(gain, metrics.get(name, -1.0))
    worst = max(found, key=lambda c: c.excess)
    if worst.excess <= 0:
        message = f"no heuristic exceeds its bound in {len(found)} choices; the nearest one: {worst.message}"
        return Passed(message, metrics, (worst.bars,))
    case = next(c for c in worst.cases if dict(heuristic_picks(c)).get(worst.nearest) == c.right)
    message = f"{worst.message}; {exploit_success(worst.cases, worst.nearest, context)}"
    made = context.failure(case.scenario, message, context.plan(case.scenario, "oracle"), CHECKS)
    raise CheckFailed(made.message, made.counterexample, metrics, (worst.bars,), made.replay)


def argument_choices(
    scenarios: Sequence[Scenario], context: Context, factor: int = SCENARIOS
) -> Iterator[ArgumentChoice]:
    """Yield the choices that have enough cases for an evaluation, and enough cases in which the experts differ."""
    for level in sorted({s.level for s in scenarios}):
        sample = extend_sample([s for s in scenarios if s.level == level], context, factor, least=6 * factor)
        seen = defaultdict[tuple[ArgumentSlot, KeyPath], list[ChoiceCase]](list)
        for argument, location, case in _cases(sample, context):
            seen[argument, location].append(case)
        reported = set[tuple[ArgumentSlot, tuple[ChoiceCase, ...]]]()  # different locations may have the same cases
        for (argument, location), cases in seen.items():
            kept = tuple(_of_one_kind(cases, str if location == SCHEMA else _kind))
            differ = sum(c.rival not in (None, c.right) for c in kept)
            often = len(kept) >= MIN_SCENARIOS and differ >= MIN_SHARE * len(kept)
            if often and (argument, kept) not in reported and any(c.right in c.values for c in kept):
                reported.add((argument, kept))
                yield ArgumentChoice(argument, location, kept)


def _cases(sample: Sequence[Scenario], context: Context) -> Iterator[tuple[ArgumentSlot, KeyPath, ChoiceCase]]:
    """Yield one case per argument value that the oracle writes and per list of values displayed before the write."""
    if not any(_differ(scenario, context) for scenario in sample):
        return  # both experts make the same writes, so there are no choices
    for scenario in sample:
        steps, naive = (context.plan(scenario, expert) for expert in EXPERTS)
        rollout = OracleRollout(context.run(scenario, steps), steps)
        for write, rival in paired_writes(rollout.write_calls, naive):
            lists = _lists(rollout, rollout.calls.index(write))
            taken = dict(scalars_by_path(rival.arguments)) if rival else {}
            for path, value in scalars_by_path(write.arguments):
                if (
                    value is None
                    or (isinstance(value, str) and " " in value)
                    or _is_list_element(write.arguments, path)
                ):
                    continue
                named = _enumerated(rollout.schemas.get(write.tool, {}), path, value)
                for location, values in ({SCHEMA: named} if named else lists).items():
                    case = ChoiceCase(scenario, tuple(values), str(value), str(taken[path]) if path in taken else None)
                    yield (scenario.level, write.tool, path), location, case


def _is_list_element(arguments: dict[str, Any], path: Sequence[str]) -> bool:
    """Return whether the value at a path is an element of a list with several elements."""
    around = [get_path(arguments, path[:n]) for n, _ in enumerate(path)]
    return any(isinstance(part, list) and len(part) > 1 for part in around)


def _differ(scenario: Scenario, context: Context) -> bool:
    """Return whether the experts make the same write with different arguments."""
    oracle, ablated = (context.plan(scenario, expert) for expert in EXPERTS)
    written = [s for s in oracle if isinstance(s, Call) and is_write(s, context.interface)]
    return any(rival and rival.arguments != write.arguments for write, rival in paired_writes(written, ablated))


def _lists(rollout: OracleRollout, before: int) -> dict[KeyPath, dict[str, None]]:
    """Return the lists of values in the initial observation and in the first `before` tool results."""
    found = defaultdict[KeyPath, dict[str, None]](dict)
    for key, result in [("opening", rollout.opening), *islice(rollout.shown.items(), before)]:
        for path, value in _side_by_side(result, (key,)):
            found[path][value] = None
    return found


def _side_by_side(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield every scalar, record id and id-like word in a nested value, each with its path."""
    if isinstance(value, dict):
        for key, part in value.items():
            record = is_id(str(key))
            if record:
                yield (*path, "*"), str(key)
            yield from _side_by_side(part, (*path, "*" if record else str(key)))
    elif isinstance(value, list):
        for part in value:
            yield from _side_by_side(part, (*path, "*"))
    elif isinstance(value, str) and " " in value:
        yield from (
            (path, word) for word in words_of(value) if is_identifying(word)
        )  # other words may belong to the phrasing of the text
    elif value is not None:
        yield path, str(value)


def _enumerated(schema: Any, path: KeyPath, value: Any) -> tuple[str, ...]:
    """Return the enum values of an argument's schema, or an empty tuple if there are none."""
    for step in path:
        part = "items" if step.startswith("#") else "properties"
        schema = schema.get(part) if isinstance(schema, dict) else None
        schema = schema.get(step) if part == "properties" and isinstance(schema, dict) else schema
    named = schema.get("enum", ()) if isinstance(schema, dict) else ()
    return tuple(map(str, (False, True) if isinstance(value, bool) else named))


def _of_one_kind(cases: Sequence[ChoiceCase], kind: Callable[[str], str]) -> list[ChoiceCase]:
    """Restrict each case to values of the kinds that experts pass; return the cases with at least two such values."""
    taken = {kind(v) for c in cases for v in (c.right, c.rival) if v is not None}
    kept = [replace(c, values=tuple(v for v in c.values if kind(v) in taken)) for c in cases]
    return [c for c in kept if len(c.values) > 1]


def _kind(value: str) -> str:
    """Return a value with its letters and digits masked, as an identifier of its kind.

    For example, ``credit_card_4711`` and ``gift_card_12`` have the same form.
    """
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"[^\W_]*\d[^\W_]*", "0", value))
