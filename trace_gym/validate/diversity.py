"""TG8, first half: distinct seeds are distinct problems in their structure, and not in their names alone.

A world may name, in the class attribute `alike`, levels whose problems are meant to be one problem under other names;
they are measured and not judged.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from trace_gym.types import Bars, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.draws import plain
from trace_gym.validate.gold import golds, is_id, more
from trace_gym.validate.properties import Broken, Held, Inapplicable, prop
from trace_gym.world import World

STRUCTURES = 4
"""Structures that a level must show in 24 seeds or more."""
BITS = 0.5
"""Entropy of the oracle's plans over all levels; below half a bit one plan serves nine problems in ten."""
NEAR = 0.8
"""Overlap of two openings' triples of words (Jaccard) from which on they are one wording."""
ALIKE = 0.75
"""Share of the pairs of openings that may be one wording; two wordings by turns make a half, and one makes all."""
CATEGORIES = 4
"""A field with at most so many values in all samples says of what kind a record is; any other holds names."""
SAMPLE = 3
"""Words in a row that two openings are compared by."""


@prop(
    "TG801",
    statement="Seeds of a level differ in structure: in the shape of the records, or in what is to be done.",
    reason="Problems that differ in names alone are one problem, and are learnt by heart as one.",
    mend="Draw kinds, counts and conditions of records from `rng`, not only ids; or name the level in `alike`.",
)
def structures_differ(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    judged = judged_levels(world, scenarios)
    played = list(golds(scenarios, context))
    states = [plain(gold.episode.start) for gold in played]
    kinds = _categories(states)
    found: dict[int, Counter[str]] = {}
    for gold, state in zip(played, states, strict=True):
        structure = json.dumps([_shape(state, kinds), gold.tools, gold.pattern])
        found.setdefault(gold.scenario.level, Counter())[structure] += 1
    figures = {f"structures_{level}": float(len(count)) for level, count in found.items()}
    exhibit = _bars("Structures by level", "structures", figures)
    for level in judged:
        if len(found[level]) < STRUCTURES:
            says = f"{found[level].total()} seeds of level {level} have {len(found[level])} structures"
            says += f"; expected at least {STRUCTURES}"
            first = next(s for s in scenarios if s.level == level)
            raise Broken(f"{first}: {says}", context.snippet(first, tail="print(episode.start)"), figures, (exhibit,))
    each = ", ".join(str(len(count)) for count in found.values())
    return Held(f"of {len(played) // len(found)} seeds a level, {each} differ in structure", figures, (exhibit,))


def judged_levels(world: type[World], scenarios: Sequence[Scenario]) -> list[int]:
    """The levels of these scenarios that are not meant to be alike.

    Raises:
        Inapplicable: All of them are.
    """
    alike = set(getattr(world, "alike", ()))
    if not (judged := sorted({s.level for s in scenarios} - alike)):
        raise Inapplicable("all problems are meant to be alike but for names: the world says so in `alike`")
    return judged


def _bars(title: str, unit: str, figures: dict[str, float], bound: float | None = None) -> Bars:
    """One bar a level, from figures whose names end in its number."""
    bars = {f"level {name.rpartition('_')[2]}": value for name, value in figures.items()}
    return Bars(title=title, unit=unit, bars=bars, bound=bound)


def _categories(states: Sequence[Any]) -> dict[str, set[str]]:
    """The fields that say of what kind a record is, with their values."""
    seen: dict[str, Counter[str]] = {}
    for state in states:
        for name, text in _texts(state):
            seen.setdefault(name, Counter())[text] += 1
    return {
        name: set(count)
        for name, count in seen.items()
        if len(count) <= CATEGORIES and count.total() >= 2 * len(count) and not re.search(r"\d", "".join(count))
    }


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every string with the name of its field; the keys of a table count as its values."""
    if isinstance(value, dict):
        for key, part in value.items():
            if is_id(key):
                yield name, key
            yield from _texts(part, name if is_id(key) else key)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, name)
    elif isinstance(value, str):
        yield name, value


def _shape(value: Any, kinds: dict[str, set[str]], name: str = "") -> Any:
    """A state without its names, ids and numbers, and without the order of its records."""
    if isinstance(value, dict):
        table = [_shape(part, kinds, name) for key, part in value.items() if is_id(key)]
        fields = {key: _shape(part, kinds, key) for key, part in value.items() if not is_id(key)}
        return {**fields, "*": sorted(table, key=json.dumps)} if table else fields
    if isinstance(value, list):
        return sorted((_shape(part, kinds, name) for part in value), key=json.dumps)
    if isinstance(value, str):
        return value if value in kinds.get(name, ()) else "..."
    return value if isinstance(value, bool) or value is None else "number" if value else 0


@prop(
    "TG802",
    statement="The oracle's plans vary: in the sequence of tools, or in where their values come from.",
    reason="One plan for all problems is learnt as one sequence, whatever the request says.",
    mend="Let what is to be done depend on what `generate` draws; or name the levels in `alike`.",
)
def gold_sequences_vary(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    judged = judged_levels(world, scenarios)
    plans: dict[int, Counter[Any]] = {}
    tools: Counter[Any] = Counter()
    for gold in golds(scenarios, context):
        plans.setdefault(gold.scenario.level, Counter())[gold.tools, gold.pattern] += 1
        if gold.scenario.level in judged:
            tools[gold.tools] += 1
    levels = {f"bits_{level}": _bits(count) for level, count in plans.items()}
    together = sum((plans[level] for level in judged), Counter[Any]())
    bits = _bits(together)
    exhibit = _bars("Entropy of the oracle's plans by level", "bits", levels)
    figures = {"bits": bits, "bits_of_tools": _bits(tools), **levels}
    if bits < BITS:
        (names, _), times = together.most_common(1)[0]
        says = f"{times} of {together.total()} plans of the oracle are one: {', '.join(names)}"
        snippet = context.snippet(scenarios[0], tail="print(*episode.start.oracle(), sep='\\n')")
        raise Broken(f"{says} ({bits:.2f} bits; expected at least {BITS})", snippet, figures, (exhibit,))
    return Held(f"the oracle's plans have {bits:.1f} bits, their tools alone {_bits(tools):.1f}", figures, (exhibit,))


def _bits(count: Counter[Any]) -> float:
    """Entropy in bits, of the observed shares."""
    total = count.total()
    return sum(n / total * math.log2(total / n) for n in count.values())


@prop(
    "TG803",
    statement="Openings are worded in more than one way.",
    reason="A policy that has seen one wording reads the slots and not the request.",
    mend="Write several wordings and orders of the request, and draw one of them; or name the level in `alike`.",
)
def openings_differ(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    judged = judged_levels(world, scenarios)
    begun = [context.begin(scenario) for scenario in more(scenarios, context, factor=2)]
    states = [plain(episode.start) for episode in begun]
    kinds = _categories(states)
    names = {text for state in states for name, text in _texts(state) if name not in kinds and len(text) < 40}
    wordings: dict[int, list[frozenset[tuple[str, ...]]]] = {}
    for episode in begun:
        wording = _wording(str(episode.messages[-1]["content"]), names)
        wordings.setdefault(episode.scenario.level, []).append(wording)
    figures = {f"near_{level}": _near(found) for level, found in wordings.items()}
    figures |= {f"wordings_{level}": float(len(set(found))) for level, found in wordings.items()}
    shares = {k: v for k, v in figures.items() if k.startswith("near")}
    exhibit = _bars("Pairs of openings in one wording, by level", "share of pairs", shares, ALIKE)
    for level in judged:
        if figures[f"near_{level}"] > ALIKE:
            first = next(s for s in scenarios if s.level == level)
            says = f"{figures[f'near_{level}']:.0%} of the pairs of openings of level {level} are one wording"
            tail = "print(episode.messages[-1]['content'])"
            raise Broken(
                f"{first}: {says}; at most {ALIKE:.0%}", context.snippet(first, tail=tail), figures, (exhibit,)
            )
    worst = max(figures[f"near_{level}"] for level in judged)
    return Held(f"at most {worst:.0%} of the pairs of openings of a level are one wording", figures, (exhibit,))


def _wording(text: str, names: set[str]) -> frozenset[tuple[str, ...]]:
    """The triples of words of an opening, with one sign for names, ids and numbers."""
    words = [w.strip(".-'") for w in re.findall(r"[\w.@'-]+", text)]
    plainly = ["#" if w in names or re.search(r"\d", w) else w.lower() for w in words]
    return frozenset(tuple(plainly[n : n + SAMPLE]) for n in range(max(1, len(plainly) - SAMPLE + 1)))


def _near(wordings: Sequence[frozenset[tuple[str, ...]]]) -> float:
    """The share of pairs that are nearly the same."""
    count = Counter(wordings)  # few wordings, many openings
    pairs = sum(n * (n - 1) // 2 for n in count.values())
    pairs += sum(count[a] * count[b] for a, b in combinations(count, 2) if len(a & b) >= NEAR * len(a | b))
    return pairs / max(1, math.comb(len(wordings), 2))
