"""Properties TG801 to TG803: different seeds produce problems that differ in structure, not only in names.

The class attribute `alike` of a world lists the levels in which all problems have the same structure on purpose. These
levels are measured, but they cannot fail.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from trace_gym.nested import walk
from trace_gym.types import Bars, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.oracle_rollouts import extend_sample, is_id, oracle_rollouts
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.random_calls import to_plain_data
from trace_gym.world import World

STRUCTURES = 4
"""Minimum number of structures per level in a sample of at least 24 seeds."""
BITS = 0.5
"""Minimum entropy of the oracle's plans over all levels, in bits. Below 0.5 bits, one plan solves about 90% of the
problems."""
NEAR = 0.8
"""Jaccard similarity of word trigrams at which two first user messages count as the same wording."""
MAX_NEAR_SHARE = 0.75
"""Maximum fraction of the pairs of first user messages that have the same wording. It is 0.5 for two equally frequent
wordings and 1 for a single wording."""
CATEGORIES = 4
"""Maximum number of distinct values of a categorical field. Fields with more values are treated as names."""
NGRAM = 3
"""Length of the word n-grams by which messages are compared."""


@property_check(
    "TG801",
    statement="The scenarios of a level differ in structure: in the shape of the records or in the required calls.",
    reason="Problems that differ only in names are one problem, and a policy memorizes its solution.",
    fix="Draw kinds, counts and conditions of records from `rng` in addition to ids, or list the level in the class "
    "attribute `alike`.",
)
def structures_differ(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    judged = judged_levels(world, scenarios)
    rollouts = list(oracle_rollouts(scenarios, context))
    states = [to_plain_data(rollout.episode.start) for rollout in rollouts]
    kinds = _categories(states)
    found: dict[int, Counter[str]] = {}
    for rollout, state in zip(rollouts, states, strict=True):
        structure = json.dumps([_shape(state, kinds), rollout.tools, rollout.pattern])
        found.setdefault(rollout.scenario.level, Counter())[structure] += 1
    metrics = {f"structures_{level}": float(len(count)) for level, count in found.items()}
    exhibit = _bars("Structures by level", "structures", metrics)
    for level in judged:
        if len(found[level]) < STRUCTURES:
            message = f"{found[level].total()} seeds of level {level} have {len(found[level])} different structures"
            message += f"; expected at least {STRUCTURES}"
            first = next(s for s in scenarios if s.level == level)
            raise CheckFailed(
                f"{first}: {message}", context.snippet(first, tail="print(episode.start)"), metrics, (exhibit,)
            )
    each = ", ".join(str(len(count)) for count in found.values())
    return Passed(
        f"the levels have {each} different structures in {len(rollouts) // len(found)} seeds each", metrics, (exhibit,)
    )


def judged_levels(world: type[World], scenarios: Sequence[Scenario]) -> list[int]:
    """Return the levels of the scenarios that are not listed in `alike`.

    Raises:
        Skipped: All levels are listed.
    """
    alike = set(world.alike)
    if not (judged := sorted({s.level for s in scenarios} - alike)):
        raise Skipped("the class attribute `alike` declares that the problems of all levels differ only in names")
    return judged


def _bars(title: str, unit: str, metrics: dict[str, float], bound: float | None = None) -> Bars:
    """Return a chart with one bar per level. The names of the metrics must end with the level number."""
    bars = {f"level {name.rpartition('_')[2]}": value for name, value in metrics.items()}
    return Bars(title=title, unit=unit, bars=bars, bound=bound)


def _categories(states: Sequence[Any]) -> dict[str, set[str]]:
    """Return the categorical fields with their values."""
    seen: dict[str, Counter[str]] = {}
    for state in states:
        for name, text in _texts(state):
            seen.setdefault(name, Counter())[text] += 1
    return {
        name: set(count)
        for name, count in seen.items()
        if len(count) <= CATEGORIES and count.total() >= 2 * len(count) and not re.search(r"\d", "".join(count))
    }


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every string with the name of its field.

    The record ids of a table (a dict from id to record) count as values of the field that contains the table.
    """
    for node in walk(value):
        name = next((step for step in reversed(node.path) if isinstance(step, str) and not is_id(step)), "")
        if node.outer is not None and is_id(node.name):
            yield name, node.name
        if isinstance(node.value, str):
            yield name, node.value


def _shape(value: Any, kinds: dict[str, set[str]], name: str = "") -> Any:
    """Return the structure of a state: names, ids and numbers are masked, and records are sorted."""
    if isinstance(value, dict):
        table = [_shape(part, kinds, name) for key, part in value.items() if is_id(key)]
        fields = {key: _shape(part, kinds, key) for key, part in value.items() if not is_id(key)}
        return {**fields, "*": sorted(table, key=json.dumps)} if table else fields
    if isinstance(value, list):
        return sorted((_shape(part, kinds, name) for part in value), key=json.dumps)
    if isinstance(value, str):
        return value if value in kinds.get(name, ()) else "..."
    return value if isinstance(value, bool) or value is None else "number" if value else 0


@property_check(
    "TG802",
    statement="The oracle's plans vary in the sequence of tools or in the sources of their argument values.",
    reason="If one plan solves all problems, a policy learns one sequence of calls and ignores the request.",
    fix="Let the required calls depend on the values that `generate` draws, or list the levels in the class attribute "
    "`alike`.",
)
def oracle_plans_vary(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    judged = judged_levels(world, scenarios)
    plans: dict[int, Counter[Any]] = {}
    tools: Counter[Any] = Counter()
    for rollout in oracle_rollouts(scenarios, context):
        plans.setdefault(rollout.scenario.level, Counter())[rollout.tools, rollout.pattern] += 1
        if rollout.scenario.level in judged:
            tools[rollout.tools] += 1
    levels = {f"bits_{level}": _bits(count) for level, count in plans.items()}
    together = sum((plans[level] for level in judged), Counter[Any]())
    bits = _bits(together)
    exhibit = _bars("Entropy of the oracle's plans by level", "bits", levels)
    metrics = {"bits": bits, "bits_of_tools": _bits(tools), **levels}
    if bits < BITS:
        (names, _), times = together.most_common(1)[0]
        message = f"{times} of {together.total()} plans of the oracle are identical: {', '.join(names)}"
        snippet = context.snippet(scenarios[0], tail="print(*episode.start.oracle(), sep='\\n')")
        raise CheckFailed(f"{message} ({bits:.2f} bits; expected at least {BITS})", snippet, metrics, (exhibit,))
    return Passed(
        f"the entropy of the oracle's plans is {bits:.1f} bits, that of their tool sequences {_bits(tools):.1f} bits",
        metrics,
        (exhibit,),
    )


def _bits(count: Counter[Any]) -> float:
    """Return the entropy of an empirical distribution in bits."""
    total = count.total()
    return sum(n / total * math.log2(total / n) for n in count.values())


@property_check(
    "TG803",
    statement="The first user messages of a level use more than one wording.",
    reason="A policy that has seen one wording learns the positions of the values instead of the meaning of the "
    "request.",
    fix="Write several wordings and orders of the request and draw one of them, or list the level in the class "
    "attribute `alike`.",
)
def first_messages_vary(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    judged = judged_levels(world, scenarios)
    episodes = [context.begin(scenario) for scenario in extend_sample(scenarios, context, factor=2)]
    states = [to_plain_data(episode.start) for episode in episodes]
    kinds = _categories(states)
    names = {text for state in states for name, text in _texts(state) if name not in kinds and len(text) < 40}
    wordings: dict[int, list[frozenset[tuple[str, ...]]]] = {}
    for episode in episodes:
        wording = _wording(str(episode.messages[-1]["content"]), names)
        wordings.setdefault(episode.scenario.level, []).append(wording)
    metrics = {f"near_{level}": _near(found) for level, found in wordings.items()}
    metrics |= {f"wordings_{level}": float(len(set(found))) for level, found in wordings.items()}
    shares = {k: v for k, v in metrics.items() if k.startswith("near")}
    exhibit = _bars(
        "Pairs of first user messages with the same wording, by level", "share of pairs", shares, MAX_NEAR_SHARE
    )
    for level in judged:
        if metrics[f"near_{level}"] > MAX_NEAR_SHARE:
            first = next(s for s in scenarios if s.level == level)
            message = (
                f"{metrics[f'near_{level}']:.0%} of the pairs of first user messages of level {level} have the "
                f"same wording"
            )
            tail = "print(episode.messages[-1]['content'])"
            raise CheckFailed(
                f"{first}: {message}; expected at most {MAX_NEAR_SHARE:.0%}",
                context.snippet(first, tail=tail),
                metrics,
                (exhibit,),
            )
    worst = max(metrics[f"near_{level}"] for level in judged)
    return Passed(
        f"at most {worst:.0%} of the pairs of first user messages of a level have the same wording", metrics, (exhibit,)
    )


def _wording(text: str, names: set[str]) -> frozenset[tuple[str, ...]]:
    """Return the word trigrams of a message, with a placeholder for names, ids and numbers."""
    words = [w.strip(".-'") for w in re.findall(r"[\w.@'-]+", text)]
    normalized = ["#" if w in names or re.search(r"\d", w) else w.lower() for w in words]
    return frozenset(tuple(normalized[n : n + NGRAM]) for n in range(max(1, len(normalized) - NGRAM + 1)))


def _near(wordings: Sequence[frozenset[tuple[str, ...]]]) -> float:
    """Return the fraction of pairs that count as the same wording."""
    count = Counter(wordings)  # comparing distinct wordings only is faster, because there are few of them
    pairs = sum(n * (n - 1) // 2 for n in count.values())
    pairs += sum(count[a] * count[b] for a, b in combinations(count, 2) if len(a & b) >= NEAR * len(a | b))
    return pairs / max(1, math.comb(len(wordings), 2))
