"""TG8, second half: no constant answer. A recipe is a pattern of writes, with each problem's own values put in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trace_gym.types import Bars, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.diversity import judged_levels
from trace_gym.validate.experts import CHECKS
from trace_gym.validate.gold import Gold, Pattern, golds
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.world import Step, World

CONSTANT = 0.7
"""Share of the problems that one recipe may solve."""
RECIPES = 3
"""The recipes that are tried besides doing nothing: those of the most frequent patterns."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """A recipe, and the scenarios that it solves."""

    pattern: Pattern
    solved: tuple[Scenario, ...]


@prop(
    "TG804",
    statement="No constant answer solves most problems: one recipe for all, with each problem's own ids put in.",
    reason="Always refusing, always agreeing or always taking the first of a list is learnt before anything else.",
    mend="Balance the cases: as many to refuse as to grant, and the right record at any place of the list.",
)
def no_constant_answer(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    judged = judged_levels(world, scenarios)
    played = [gold for gold in golds(scenarios, context) if gold.scenario.level in judged]
    often = [p for p, _ in Counter(gold.pattern for gold in played).most_common(RECIPES)]
    tried = [_solved(context, played, pattern) for pattern in dict.fromkeys([*often, ()])]
    best = max(tried, key=lambda t: len(t.solved))
    figures = {"best": len(best.solved) / len(played)}
    for level in judged:
        count = Counter(s.level for s in best.solved)[level]
        figures[f"best_{level}"] = count / sum(g.scenario.level == level for g in played)
    bars = {in_words(t.pattern): len(t.solved) / len(played) for t in tried}
    exhibit = Bars(title="Problems that one recipe solves", unit="share of problems", bars=bars, bound=CONSTANT)
    if figures["best"] > CONSTANT:
        says = f"the recipe {in_words(best.pattern)!r} solves {figures['best']:.0%} of {len(played)} problems"
        gold = next(g for g in played if g.scenario in best.solved)
        snippet = context.snippet(gold.scenario, _steps(gold, best.pattern) or (), CHECKS)
        raise Broken(f"{says}; at most {CONSTANT:.0%}", snippet, figures, (exhibit,))
    says = f"the best of {len(tried)} recipes, {in_words(best.pattern)!r}, solves {figures['best']:.0%} of the problems"
    return Held(says, figures, (exhibit,))


def _solved(context: Context, played: Sequence[Gold], pattern: Pattern) -> _Tried:
    """Try a recipe; reads and words are the oracle's own, so that the writes alone decide."""
    solved = []
    for gold in played:
        if gold.pattern == pattern:
            won = gold.episode.finish().success
        else:
            steps = _steps(gold, pattern)
            won = steps is not None and context.play(gold.scenario, steps).finish().success
        solved += [gold.scenario] if won else []
    return _Tried(pattern, tuple(solved))


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
