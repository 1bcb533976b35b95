"""TG8, second half: no constant answer. A recipe is a pattern of writes, with each problem's own values put in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from trace_gym.statistics import wilson
from trace_gym.types import Bars, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.diversity import judged_levels
from trace_gym.validate.experts import CHECKS
from trace_gym.validate.gold import LEAST, Gold, Pattern, more
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.world import Step, World

CONSTANT = 0.7
"""Share of the problems that one recipe may solve."""
RECIPES = 3
"""The recipes that are tried besides doing nothing: those of the most frequent patterns."""
LOOKS = (120, 240, 480, 960)
"""Numbers of problems, on all judged levels together, after which an open verdict is looked at again."""


@dataclass(slots=True)
class _Tried:
    """A recipe, and the scenarios that it solves."""

    pattern: Pattern
    solved: list[Scenario] = field(default_factory=list)


@prop(
    "TG804",
    statement="No constant answer solves most problems: one recipe for all, with each problem's own ids put in.",
    reason="Always refusing, always agreeing or always taking the first of a list is learnt before anything else.",
    mend="Balance the cases: as many to refuse as to grant, and the right record at any place of the list.",
)
def no_constant_answer(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    judged = judged_levels(world, scenarios)
    played = _played(scenarios, context, judged)
    often = [p for p, _ in Counter(gold.pattern for gold in played).most_common(RECIPES)]
    tried = [_Tried(pattern) for pattern in dict.fromkeys([*often, ()])]
    fresh = played
    while True:
        for recipe in tried:
            recipe.solved += _solved(context, fresh, recipe.pattern)
        best = max(tried, key=lambda t: len(t.solved))
        if (rejected := too_constant(len(best.solved), len(played))) is not None:
            break
        fresh = _played(scenarios, context, judged, next(n for n in LOOKS if n > len(played)))[len(played) :]
        played += fresh
    figures = {"best": len(best.solved) / len(played)}
    for level in judged:
        count = Counter(s.level for s in best.solved)[level]
        figures[f"best_{level}"] = count / sum(g.scenario.level == level for g in played)
    bars = {in_words(t.pattern): len(t.solved) / len(played) for t in tried}
    exhibit = Bars(title="Problems that one recipe solves", unit="share of problems", bars=bars, bound=CONSTANT)
    if rejected:
        says = f"the recipe {in_words(best.pattern)!r} solves {figures['best']:.0%} of {len(played)} problems"
        gold = next(g for g in played if g.scenario in best.solved)
        snippet = context.snippet(gold.scenario, _steps(gold, best.pattern) or (), CHECKS)
        raise Broken(f"{says}; at most {CONSTANT:.0%}", snippet, figures, (exhibit,))
    says = f"the best of {len(tried)} recipes, {in_words(best.pattern)!r}, solves {figures['best']:.0%} of the problems"
    return Held(says, figures, (exhibit,))


def too_constant(solved: int, count: int) -> bool | None:
    """Whether a recipe solves too large a share of all problems; None where more problems have to show it.

    A recipe is rejected once the 95 % interval (Wilson's) of its share lies above `CONSTANT`, and accepted once it lies
    below. After the last of `LOOKS` an open verdict is an acceptance. By the binomial distribution, with 100 problems
    at first, 0.9 % of the recipes that solve 67 % of all problems are rejected, 95 % of those that solve 75 %, and
    99.9 % of those that solve 78 %; a single look at 100 problems would reject 23 % of the first. As up to four recipes
    are tried, the rate of false alarms of an environment is at most four times that of a recipe.
    """
    span = wilson(solved, count)
    assert span is not None  # there is a problem
    if span.low > CONSTANT or span.high < CONSTANT:
        return span.low > CONSTANT
    return False if count >= LOOKS[-1] else None


def _played(scenarios: Sequence[Scenario], context: Context, judged: Sequence[int], count: int = 0) -> list[Gold]:
    """The oracle's plays on the judged levels by turns, on `count` problems or a few more."""
    each = more(scenarios, context, least=max(LEAST, ceil(count / len(judged))))
    found = sorted((s for s in each if s.level in judged), key=lambda s: s.seed)
    return [Gold(context.expert(s, "oracle"), context.plan(s, "oracle")) for s in found]


def _solved(context: Context, played: Sequence[Gold], pattern: Pattern) -> list[Scenario]:
    """Try a recipe; reads and words are the oracle's own, so that the writes alone decide."""
    solved = []
    for gold in played:
        if gold.pattern == pattern:
            won = gold.episode.finish().success
        else:
            steps = _steps(gold, pattern)
            won = steps is not None and context.play(gold.scenario, steps).finish().success
        solved += [gold.scenario] if won else []
    return solved


def _steps(gold: Gold, pattern: Pattern) -> list[Step] | None:
    """The oracle's plan with a recipe's writes in place of its own; None where the recipe does not fit."""
    if (calls := gold.resolved(pattern)) is None:
        return None
    tools = [gold.steps.index(d) for d in gold.deeds]
    reads = [n for n, tool in enumerate(gold.tools) if tool != "say" and n not in tools]
    here = min(tools, default=reads[-1] + 1 if reads else 0)
    rest = [s for s in gold.steps[here:] if s not in gold.deeds]
    return [*gold.steps[:here], *calls, *rest]


def in_words(pattern: Pattern) -> str:
    """A recipe in words."""
    return "; ".join(f"{tool} {_sources(arguments)}".strip() for tool, arguments in pattern) or "write nothing"


_WORDS: dict[str, Callable[..., str]] = {
    "opening": lambda name, place: f"no. {int(place) + 1 if place.isdigit() else place} of the opening",
    "shown": lambda result, *path: f"{result.partition('/')[0]} {'.'.join(path)}",
    "enum": lambda text: text,
    "value": lambda text: text,
    "text": lambda text: "in words",
}


def _sources(arguments: Any) -> str:
    """Where the arguments of one write come from, in words."""
    if isinstance(arguments, tuple) and arguments and arguments[0] in _WORDS:
        return _WORDS[arguments[0]](*arguments[1:])
    parts = arguments[1:] if arguments[:1] == ("list",) else [part for _, part in arguments]
    return ", ".join(filter(None, map(_sources, parts)))
