"""Cross-validated prediction of the oracle's decisions from superficial features of a text.

The oracle decides whether it carries out a write of the *naive plan*, which follows the text literally. The decision
must depend on facts that the agent looks up or asks for. Therefore no *cue* in the text may predict it. Cues are words,
pairs of words, punctuation, capital letters and length. For every record that the text mentions, cues are also the
surrounding words, its position among the mentioned records, and the form of its id.

A predictor uses one cue, or one cue and then a second cue for each of its two values (a decision tree of depth two). It
is fitted on the scenarios with even seeds and evaluated on those with odd seeds, and vice versa, so that cues that fit
by coincidence do not count.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np

from trace_gym.types import Call, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.oracle_rollouts import extend_sample, is_effective, is_id
from trace_gym.validation.properties import CheckFailed
from trace_gym.validation.random_calls import to_plain_data
from trace_gym.world import Step, World

GAIN = 0.15
"""Maximum difference between the accuracy of a prediction with cues and that of a constant prediction."""
ERRORS = 3.0
"""Number of standard errors that the difference must exceed as well. With independent cues, the difference exceeds it
in about 0.1% of the groups."""
MIN_SHARE = 0.1
"""Minimum relative frequency of the rarer of the two decisions. Below it, scenarios are not evaluated, because almost
all of them have the same decision."""
MIN_SCENARIOS = 20
"""Minimum number of cases in an evaluated group. All cases of a group have the same naive plan."""
FACTOR, LEAST = 8, 48
"""Scenarios per level as a multiple of the profile's, and their minimum number."""
OPENING = "print(episode.messages[-1]['content'])"
_clause_ends = re.compile(r"[.;:!?\n]|,| and | but | or ")
_marks = re.compile(r"[^\w\s]")

TextSource = Callable[[World, str], str]
"""Function that returns the text to evaluate. Its arguments are the start state and the first user message."""


@dataclass(frozen=True, slots=True)
class CueCase:
    """One decision of the oracle and the cues of the text; `drops` is True if the oracle does not follow the text."""

    scenario: Scenario
    cues: frozenset[str]
    drops: bool


@dataclass(frozen=True, slots=True)
class Prediction:
    """Result of a predictor on held-out cases."""

    correct: int
    rule: str


def prediction_gains(context: Context, scenarios: Sequence[Scenario], text: TextSource) -> dict[str, float]:
    """Return, by level, the gain in accuracy from predicting the oracle's decisions with cues of a text.

    The gain is relative to a constant prediction.

    Raises:
        CheckFailed: The gain exceeds both `GAIN` and `ERRORS` standard errors.
    """
    gains: dict[str, float] = {}
    for level in sorted({s.level for s in scenarios}):
        groups = defaultdict[tuple[str, ...], list[CueCase]](list)
        for scenario in extend_sample([s for s in scenarios if s.level == level], context, FACTOR, LEAST):
            for naive, case in _cases(context, scenario, text):
                groups[naive].append(case)
        for naive, cases in sorted(groups.items()):
            share = sum(c.drops for c in cases) / len(cases)
            if len(cases) < MIN_SCENARIOS or not MIN_SHARE <= share <= 1 - MIN_SHARE:
                continue
            constant = max(share, 1 - share)
            found = cross_validated(cases)
            gain = found.correct / len(cases) - constant
            gains[f"gain_{level}"] = max(gain, gains.get(f"gain_{level}", -1.0))
            if gain > max(GAIN, ERRORS * (0.25 / len(cases)) ** 0.5):
                message = (
                    f"{found.rule} in the text predicts in {found.correct / len(cases):.0%} of {len(cases)} cases "
                    f"whether {' '.join(naive)} is correct; a constant prediction is correct in {constant:.0%}"
                )
                example = cases[0].scenario
                raise CheckFailed(f"{example}: {message}", context.snippet(example, tail=OPENING), gains)
    return gains


def _cases(context: Context, scenario: Scenario, text: TextSource) -> Iterator[tuple[tuple[str, ...], CueCase]]:
    """Yield the decision about the naive plan as a whole, and one decision for every record that the text mentions."""
    episode = context.begin(scenario)
    with context.catch_failures(scenario):
        read = text(episode.start, str(episode.messages[1]["content"]))
        naive, oracle = (_written(context, plan) for plan in (episode.start.ablated(), episode.start.oracle()))
    cues = text_cues(read)
    dropped = Counter(c.tool for c in naive) - Counter(c.tool for c in oracle)
    yield tuple(c.tool for c in naive), CueCase(scenario, cues, bool(dropped))
    for table, keys in mentioned_records(episode.start, read).items():
        for position, key in enumerate(keys):
            done = any(_uses(call, key) for call in oracle)
            case = CueCase(scenario, cues | record_cues(read, key, position, len(keys)), not done)
            yield ("a write to one of several mentioned", table), case


def _written(context: Context, steps: Iterator[Step]) -> list[Call]:
    """Return the write calls, and the final call if it ends the conversation (a transfer to a human)."""
    calls = [s for s in islice(steps, context.world.max_turns) if isinstance(s, Call)]
    return [c for c in calls if is_effective(c, context.interface, ended=c is calls[-1])]


def _uses(call: Call, key: str) -> bool:
    """Return whether a record id is a complete argument of a write, and not only a part of an argument."""
    return key in (value for value in call.arguments.values() if isinstance(value, str))


def mentioned_records(start: World, text: str) -> dict[str, list[str]]:
    """Return the ids of the records that a text mentions, in order of appearance, by the name of their table."""
    found: dict[str, list[str]] = {}
    state: dict[str, Any] = to_plain_data(start)
    for table, records in state.items():
        if isinstance(records, dict):
            places = {
                k: m.start()
                for k in records
                if k and is_id(k) and (m := re.search(rf"(?<!\w){re.escape(k)}(?!\w)", text))
            }
            if len(places) > 1:
                found[table] = sorted(places, key=places.__getitem__)
    return found


def text_cues(text: str) -> frozenset[str]:
    """Return the cues of a whole text."""
    words = _words(text)
    lengths = (f"at least {n} words" for n in range(6, len(words) + 1, 3))
    marks = (f"{count} of {mark!r}" for mark, count in Counter(_marks.findall(text)).items() if mark not in ".,")
    return frozenset((*_terms(text), *lengths, *marks))


def record_cues(text: str, key: str, position: int, count: int) -> frozenset[str]:
    """Return the cues about one record that a text mentions: its position, its id, and the clause around it."""
    match = re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text)
    assert match is not None
    start = max((m.end() for m in _clause_ends.finditer(text, 0, match.start())), default=0)
    end = _clause_ends.search(text, match.end())
    clause = text[start : end.start() if end else len(text)]
    digits = re.findall(r"\d", key)
    places = (
        f"the record mentioned as no. {position + 1}",
        f"the record mentioned as no. {position - count} (from the end)",
    )
    form = [f"an {'even' if int(digits[-1]) % 2 == 0 else 'odd'} last digit of its id"] if digits else []
    form += [f"an id that begins with {'a digit' if key[0].isdigit() else 'a letter'}"]
    near = (f"{term} next to the record" for term in _terms(clause))
    return frozenset((*places, *form, *near))


def _words(text: str) -> list[str]:
    return [w for w in re.findall(r"\w+", text.lower()) if not re.search(r"\d", w)]  # ids rarely occur repeatedly


def _terms(text: str) -> Iterator[str]:
    words = _words(text)
    yield from map(repr, (*words, *(" ".join(pair) for pair in pairwise(words))))


def cross_validated(cases: Sequence[CueCase]) -> Prediction:
    """Return the result of the better predictor (depth one or two), evaluated on the half that it was not fitted on."""
    best = Prediction(-1, "")
    halves = [[c for c in cases if c.scenario.seed % 2 == half] for half in (0, 1)]
    if not all(halves):
        return Prediction(0, "nothing")
    for depth in (1, 2):
        parts = [_evaluate(halves[0], halves[1], depth), _evaluate(halves[1], halves[0], depth)]
        correct = sum(p.correct for p in parts)
        if correct > best.correct:
            best = Prediction(correct, parts[0].rule)
    return best


def _evaluate(training: Sequence[CueCase], held_out: Sequence[CueCase], depth: int) -> Prediction:
    """Fit a decision tree of the given depth on one half and return its result on the other half."""
    names = sorted({cue for case in training for cue in case.cues})
    has = {id(case): {cue: True for cue in case.cues} for case in training}
    table = np.array([[cue in has[id(case)] for cue in names] for case in training], dtype=bool)
    labels = np.array([case.drops for case in training], dtype=bool)
    root = _stump(table, labels)
    majority = 2 * labels.sum() > len(labels)

    def branch(rows: Any) -> tuple[str, bool, bool]:
        return _named(_stump(table[rows], labels[rows]), names) if rows.any() and depth > 1 else ("", *_leaf(rows))

    def _leaf(rows: Any) -> tuple[bool, bool]:
        value = bool(2 * labels[rows].sum() > rows.sum()) if rows.any() else bool(majority)
        return value, value

    cue, *_ = _named(root, names)
    present = table[:, root[0]]
    leaves = {True: branch(present), False: branch(~present)}
    correct = 0
    for case in held_out:
        inner, with_cue, without = leaves[cue in case.cues]
        correct += (with_cue if inner in case.cues else without) == case.drops
    more = {inner for inner, with_cue, without in leaves.values() if inner and with_cue != without}
    return Prediction(correct, " with ".join([cue, *sorted(more)]))


def _stump(table: Any, labels: Any) -> tuple[int, bool, bool]:
    """Return the index of the cue that predicts best, and the predictions for cases with and without it."""
    total, size = labels.sum(), len(labels)
    seen, drops = table.sum(axis=0), (table & labels[:, None]).sum(axis=0)
    without, left = total - drops, size - seen
    correct = np.maximum(drops, seen - drops) + np.maximum(without, left - without)
    index = int(correct.argmax())
    usual = 2 * total > size
    present = 2 * drops[index] > seen[index] if seen[index] else usual
    absent = 2 * without[index] > left[index] if left[index] else usual
    return index, bool(present), bool(absent)


def _named(stump: tuple[int, bool, bool], names: Sequence[str]) -> tuple[str, bool, bool]:
    return (names[stump[0]], stump[1], stump[2])
