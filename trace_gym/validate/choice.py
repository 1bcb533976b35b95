"""TG7, third part: who chooses among what is shown has to look at it.

Where both experts make the same call, and pass other values for an argument, there is a *choice*: which of the values
that stand side by side, in an answer or in the opening, is the right one. A blind rule knows their order, and what the
ablated expert would take, and nothing else. Chance is one in the number of values, so with two of them a half is
nobody's fault; and some values may be plainly out of the question, so a rule may go a part of the way from chance to
certainty. What is shown one value an answer is not judged: how many answers there are may be the oracle's doing. Nor
are the elements of a list of several, most of which may only be handed back as they were found; nor is the rule to do
what the ablated expert does, as how often that is right says how often the capability is needed (TG501).
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
from trace_gym.validate.attempts import EXPERTS, writes
from trace_gym.validate.context import Context
from trace_gym.validate.experts import CHECKS
from trace_gym.validate.gold import Gold, at, is_id, more, paired, scalars, telling, words_of
from trace_gym.validate.guess import DECIDED, ENOUGH
from trace_gym.validate.properties import Broken, Held, Inapplicable, prop
from trace_gym.world import World

PART = 1 / 3
"""How much of the way from chance to certainty a rule may go: as far as who need look at two of four values only."""
ERRORS = 2.0
"""Standard errors that a rule may lie above that."""
SCENARIOS, AGAIN = 8, 4
"""Scenarios of a level for each that the profile samples, and how many times as many before a level is rejected."""
PLACES = 4
"""Values of a list that a rule may name by their number."""

Path = tuple[str, ...]
"""Where values stand side by side: the opening or an answer, then names of fields; ``*`` is any record of a table."""
SCHEMA: Path = ("the schema",)
Argument = tuple[int, str, Path]
"""Level, tool and path of an argument."""


@dataclass(frozen=True, slots=True)
class Case:
    """One choice that the oracle made."""

    scenario: Scenario
    values: tuple[str, ...]
    """Two or more, in the order shown."""
    right: str
    rival: str | None
    """What the ablated expert takes; None where it makes no such call."""

    @property
    def chance(self) -> float:
        return 1 / len(self.values) if self.right in self.values else 0.0


@dataclass(frozen=True)
class Choice:
    """All cases of one argument and one list."""

    argument: Argument
    place: Path
    cases: tuple[Case, ...]

    @property
    def chance(self) -> float:
        """Share that a draw among the values gets right."""
        return fmean(c.chance for c in self.cases)

    @property
    def bound(self) -> float:
        """Share that a rule may get right; the error is that of as many draws."""
        variance = sum(c.chance * (1 - c.chance) for c in self.cases)
        return self.chance + PART * (1 - self.chance) + ERRORS * sqrt(variance) / len(self.cases)

    @cached_property
    def shares(self) -> dict[str, float]:
        """The share that each rule gets right, best first."""
        hits = Counter(rule for case in self.cases for rule, value in guesses(case) if value == case.right)
        return {rule: count / len(self.cases) for rule, count in hits.most_common()} or {"no. 1": 0.0}

    @cached_property
    def nearest(self) -> str:
        """The rule that comes nearest to the bound, or exceeds it most."""
        return next(iter(self.shares))

    @property
    def excess(self) -> float:
        return self.shares[self.nearest] - self.bound

    @property
    def says(self) -> str:
        level, tool, path = self.argument
        where = " ".join([self.place[0].partition("/")[0], ".".join(self.place[1:])]).strip()
        named = f"{tool} {'.'.join(p for p in path if not p.startswith('#'))}"
        often = f"in {self.shares[self.nearest]:.0%} of {len(self.cases)} choices"
        bounds = f"chance would be in {self.chance:.0%}, and the bound is {self.bound:.0%}"
        return f"level {level}: {self.nearest}, of {where}, is right for {named} {often}; {bounds}"

    @property
    def bars(self) -> Bars:
        """The best rules, and chance."""
        title = f"Blind rules for {self.argument[1]} on level {self.argument[0]}"
        bars = {**dict(islice(self.shares.items(), 8)), "chance": self.chance}
        return Bars(title=title, unit="share of choices", bars=bars, bound=self.bound)


@prop(
    "TG705",
    statement="No blind rule chooses among the values shown as the oracle does much more often than chance would.",
    reason="The last of a list, or any but the usual one, is learnt instead of what tells the right one apart.",
    mend="Draw the right one from all that are shown, the one that the ablated expert takes among them, in any order.",
)
def choices_take_a_look(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    """Every choice; those of a level that seems to fail are looked at again in more scenarios, lest luck decide."""
    found = list(choices(scenarios, context))
    if blind := {c.argument[0] for c in found if c.excess > 0}:
        again = choices([s for s in scenarios if s.level in blind], context, SCENARIOS * AGAIN)
        found = [c for c in found if c.argument[0] not in blind] + list(again)
    if not found:
        raise Inapplicable("wherever both experts make a call they pass the same, or there is nothing to choose from")
    figures: dict[str, float] = {}
    for choice in found:
        name, gain = f"gain_{choice.argument[0]}", choice.shares[choice.nearest] - choice.chance
        figures[name] = max(gain, figures.get(name, -1.0))
    worst = max(found, key=lambda c: c.excess)
    if worst.excess <= 0:
        says = f"of {len(found)} choices none is made blindly; the nearest, {worst.says}"
        return Held(says, figures, (worst.bars,))
    case = next(c for c in worst.cases if dict(guesses(c)).get(worst.nearest) == c.right)
    made = context.broken(case.scenario, worst.says, context.plan(case.scenario, "oracle"), CHECKS)
    raise Broken(made.says, made.counterexample, figures, (worst.bars,), made.replay)


def choices(scenarios: Sequence[Scenario], context: Context, factor: int = SCENARIOS) -> Iterator[Choice]:
    """The choices that are judged: those in which the experts differ often enough, and that are made often enough."""
    for level in sorted({s.level for s in scenarios}):
        sample = more([s for s in scenarios if s.level == level], context, factor, least=6 * factor)
        seen = defaultdict[tuple[Argument, Path], list[Case]](list)
        for argument, place, case in _cases(sample, context):
            seen[argument, place].append(case)
        told = set[tuple[Argument, tuple[Case, ...]]]()  # a record may hold the id under which it stands
        for (argument, place), cases in seen.items():
            kept = tuple(_of_one_kind(cases, str if place == SCHEMA else _kind))
            differ = sum(c.rival not in (None, c.right) for c in kept)
            often = len(kept) >= ENOUGH and differ >= DECIDED * len(kept)
            if often and (argument, kept) not in told and any(c.right in c.values for c in kept):
                told.add((argument, kept))
                yield Choice(argument, place, kept)


def guesses(case: Case) -> Iterator[tuple[str, str]]:
    """What each rule takes."""
    values, ordered = case.values, sorted(case.values, key=_order)
    yield from ((f"no. {n}", value) for n, value in enumerate(values[:PLACES], 1))
    yield from (("the last", values[-1]), ("the smallest", ordered[0]), ("the largest", ordered[-1]))
    if case.rival is not None:
        others = [v for v in values if v != case.rival]
        if others:
            yield from (("the first but the ablated expert's", others[0]), ("the last but that", others[-1]))


def _cases(sample: Sequence[Scenario], context: Context) -> Iterator[tuple[Argument, Path, Case]]:
    """Every value that the oracle writes, with each list that was shown before."""
    if not any(_differ(scenario, context) for scenario in sample):
        return  # the plans tell; nothing need be played
    for scenario in sample:
        steps, naive = (context.plan(scenario, expert) for expert in EXPERTS)
        gold = Gold(context.play(scenario, steps), steps)
        for deed, rival in paired(gold.deeds, naive):
            lists = _lists(gold, gold.calls.index(deed))
            taken = dict(scalars(rival.arguments)) if rival else {}
            for path, value in scalars(deed.arguments):
                if value is None or (isinstance(value, str) and " " in value) or _one_of_several(deed.arguments, path):
                    continue
                named = _enumerated(gold.schemas.get(deed.tool, {}), path, value)
                for place, values in ({SCHEMA: named} if named else lists).items():
                    case = Case(scenario, tuple(values), str(value), str(taken[path]) if path in taken else None)
                    yield (scenario.level, deed.tool, path), place, case


def _one_of_several(arguments: dict[str, Any], path: Sequence[str]) -> bool:
    """Whether a value stands in a list with others beside it."""
    around = [at(arguments, path[:n]) for n, _ in enumerate(path)]
    return any(isinstance(part, list) and len(part) > 1 for part in around)


def _differ(scenario: Scenario, context: Context) -> bool:
    """Whether the experts make one write, with other arguments."""
    oracle, ablated = (context.plan(scenario, expert) for expert in EXPERTS)
    written = [s for s in oracle if isinstance(s, Call) and writes(s, context.interface)]
    return any(rival and rival.arguments != deed.arguments for deed, rival in paired(written, ablated))


def _lists(gold: Gold, before: int) -> dict[Path, dict[str, None]]:
    """The values that stand side by side in the opening and in the first `before` answers."""
    found = defaultdict[Path, dict[str, None]](dict)
    for key, result in [("opening", gold.opening), *islice(gold.shown.items(), before)]:
        for path, value in _side_by_side(result, (key,)):
            found[path][value] = None
    return found


def _side_by_side(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every scalar, id of a record and telling word of a text, with its path."""
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
        yield from ((path, word) for word in words_of(value) if telling(word))  # any other may be part of a wording
    elif value is not None:
        yield path, str(value)


def _enumerated(schema: Any, path: Path, value: Any) -> tuple[str, ...]:
    """The values that the schema of an argument names, if it does."""
    for step in path:
        part = "items" if step.startswith("#") else "properties"
        schema = schema.get(part) if isinstance(schema, dict) else None
        schema = schema.get(step) if part == "properties" and isinstance(schema, dict) else schema
    named = schema.get("enum", ()) if isinstance(schema, dict) else ()
    return tuple(map(str, (False, True) if isinstance(value, bool) else named))


def _of_one_kind(cases: Sequence[Case], kind: Callable[[str], str]) -> list[Case]:
    """The cases with those of their values that look like any that an expert takes; two of them at least."""
    taken = {kind(v) for c in cases for v in (c.right, c.rival) if v is not None}
    kept = [replace(c, values=tuple(v for v in c.values if kind(v) in taken)) for c in cases]
    return [c for c in kept if len(c.values) > 1]


def _kind(value: str) -> str:
    """A value without its letters and digits: ``credit_card_4711`` and ``gift_card_12`` are of one kind."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"[^\W_]*\d[^\W_]*", "0", value))


def _order(value: str) -> tuple[float, str]:
    """Numbers by their size, all else by its letters; dates are in order then."""
    return (float(value), "") if re.fullmatch(r"-?\d+(\.\d+)?", value) else (float("inf"), value)
