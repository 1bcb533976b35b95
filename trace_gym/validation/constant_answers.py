"""Property TG804: no fixed recipe solves most problems.

A recipe is a pattern of writes with placeholders, which are filled with the values of each problem.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from trace_gym.statistics import wilson
from trace_gym.types import Bars, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.diversity import judged_levels
from trace_gym.validation.experts import CHECKS
from trace_gym.validation.oracle_rollouts import MIN_SEEDS, OracleRollout, Pattern, extend_sample
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.world import Step, World

MAX_SHARE = 0.7
"""Maximum fraction of the problems that one recipe may solve."""
RECIPES = 3
"""Number of the most frequent patterns that are tried as recipes, in addition to the empty recipe."""
LOOKS = (120, 240, 480, 960)
"""Sample sizes, over all evaluated levels, at which an undecided sequential test is evaluated again."""


@dataclass(slots=True)
class _RecipeResult:
    """Recipe with the scenarios that it solves."""

    pattern: Pattern
    solved: list[Scenario] = field(default_factory=list)


@property_check(
    "TG804",
    statement="No constant recipe of write calls, filled with the ids of each problem, solves most problems.",
    reason='A policy learns "always refuse", "always agree" or "take the first entry" before any other behavior.',
    fix="Balance the cases: include as many requests to refuse as to grant, and put the correct record at a random "
    "position.",
)
def no_constant_answer(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    judged = judged_levels(world, scenarios)
    rollouts = _oracle_rollouts(scenarios, context, judged)
    frequent = [p for p, _ in Counter(rollout.pattern for rollout in rollouts).most_common(RECIPES)]
    tried = [_RecipeResult(pattern) for pattern in dict.fromkeys([*frequent, ()])]
    new_rollouts = rollouts
    while True:
        for recipe in tried:
            recipe.solved += _solved(context, new_rollouts, recipe.pattern)
        best = max(tried, key=lambda t: len(t.solved))
        if (rejected := exceeds_max_share(len(best.solved), len(rollouts))) is not None:
            break
        new_rollouts = _oracle_rollouts(scenarios, context, judged, next(n for n in LOOKS if n > len(rollouts)))[
            len(rollouts) :
        ]
        rollouts += new_rollouts
    metrics = {"best": len(best.solved) / len(rollouts)}
    for level in judged:
        count = Counter(s.level for s in best.solved)[level]
        metrics[f"best_{level}"] = count / sum(g.scenario.level == level for g in rollouts)
    bars = {describe_recipe(t.pattern): len(t.solved) / len(rollouts) for t in tried}
    exhibit = Bars(title="Problems that one recipe solves", unit="share of problems", bars=bars, bound=MAX_SHARE)
    if rejected:
        message = (
            f"the recipe {describe_recipe(best.pattern)!r} solves {metrics['best']:.0%} of {len(rollouts)} problems"
        )
        rollout = next(g for g in rollouts if g.scenario in best.solved)
        snippet = context.snippet(rollout.scenario, _steps(rollout, best.pattern) or (), CHECKS)
        raise CheckFailed(f"{message}; expected at most {MAX_SHARE:.0%}", snippet, metrics, (exhibit,))
    message = f"the best of {len(tried)} recipes, {describe_recipe(best.pattern)!r}, "
    message += f"solves {metrics['best']:.0%} of the problems"
    return Passed(message, metrics, (exhibit,))


def exceeds_max_share(solved: int, count: int) -> bool | None:
    """Return whether a recipe solves too large a fraction of all problems; None if the sample is too small to decide.

    A recipe is rejected if the 95% Wilson interval of its success rate lies above `MAX_SHARE`, and accepted if the
    interval lies below. A recipe that is still undecided after the last of `LOOKS` is accepted. According to the
    binomial distribution, with 100 problems in the first sample, the test rejects 0.9% of the recipes that solve 67% of
    all problems, 95% of the recipes that solve 75%, and 99.9% of the recipes that solve 78%. A single test on 100
    problems would reject 23% of the recipes that solve 67%. Up to four recipes are tried, so the false positive rate
    per environment is at most four times the rate per recipe.
    """
    span = wilson(solved, count)
    assert span is not None  # the number of problems is positive
    if span.low > MAX_SHARE or span.high < MAX_SHARE:
        return span.low > MAX_SHARE
    return False if count >= LOOKS[-1] else None


def _oracle_rollouts(
    scenarios: Sequence[Scenario], context: Context, judged: Sequence[int], count: int = 0
) -> list[OracleRollout]:
    """Return the oracle's rollouts on at least `count` problems of the evaluated levels, interleaved by level."""
    each = extend_sample(scenarios, context, least=max(MIN_SEEDS, ceil(count / len(judged))))
    found = sorted((s for s in each if s.level in judged), key=lambda s: s.seed)
    return [OracleRollout(context.expert(s, "oracle"), context.plan(s, "oracle")) for s in found]


def _solved(context: Context, rollouts: Sequence[OracleRollout], pattern: Pattern) -> list[Scenario]:
    """Return the scenarios that a recipe solves.

    The rollouts use the oracle's read calls and messages, so the result depends only on the writes.
    """
    solved = []
    for rollout in rollouts:
        if rollout.pattern == pattern:
            won = rollout.episode.finish().success
        else:
            steps = _steps(rollout, pattern)
            won = steps is not None and context.run(rollout.scenario, steps).finish().success
        solved += [rollout.scenario] if won else []
    return solved


def _steps(rollout: OracleRollout, pattern: Pattern) -> list[Step] | None:
    """Return the oracle's plan with the writes of a recipe; None if the recipe cannot be applied."""
    if (calls := rollout.calls_for(pattern)) is None:
        return None
    tools = [rollout.steps.index(d) for d in rollout.write_calls]
    reads = [n for n, tool in enumerate(rollout.tools) if tool != "say" and n not in tools]
    here = min(tools, default=reads[-1] + 1 if reads else 0)
    rest = [s for s in rollout.steps[here:] if s not in rollout.write_calls]
    return [*rollout.steps[:here], *calls, *rest]


def describe_recipe(pattern: Pattern) -> str:
    """Return a description of a recipe."""
    return "; ".join(f"{tool} {_sources(arguments)}".strip() for tool, arguments in pattern) or "write nothing"


_WORDS: dict[str, Callable[..., str]] = {
    "opening": lambda name, place: f"no. {int(place) + 1 if place.isdigit() else place} of the first user message",
    "shown": lambda result, *path: f"{result.partition('/')[0]} {'.'.join(path)}",
    "enum": lambda text: text,
    "value": lambda text: text,
    "text": lambda text: "free text",
}


def _sources(arguments: Any) -> str:
    """Return a description of the sources of the arguments of one write."""
    if isinstance(arguments, tuple) and arguments and arguments[0] in _WORDS:
        return _WORDS[arguments[0]](*arguments[1:])
    parts = arguments[1:] if arguments[:1] == ("list",) else [part for _, part in arguments]
    return ", ".join(filter(None, map(_sources, parts)))
