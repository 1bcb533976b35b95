"""Check TG304 for third-party environments: similar but wrong answers do not get the full reward."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from trace_gym.types import Bars
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.properties import CheckFailed, Passed, Skipped
from trace_gym.validation.third_party.answer_forms import AnswerParts, filler
from trace_gym.validation.third_party.black_box_context import BlackBoxContext, quoted
from trace_gym.validation.third_party.content_grading import MARKUP
from trace_gym.validation.third_party.near_misses import kind_of, near_misses

MOST = 24
"""Maximum number of problems, evenly spaced over the sample."""
MIN_ACCEPTED = 2
"""Minimum number of accepted near misses of one kind for a failure, because a problem may have several answers."""
MAX_SHARE = 0.25
"""Share of accepted near misses of one kind at which the property fails."""
MAX_SHARE_OF_CODE = 0.5
"""The same share for code and long texts, in which a change may preserve the meaning."""
MOST_CONVERSATIONS = 8
"""Maximum number of conversations whose numbers are changed."""
MOST_NUMBERS = 8
"""Maximum number of changed numbers in a conversation."""
MAX_LABEL = 3
"""Maximum number of words around a value that is a turn without natural language, such as ``ORDER 12``."""
_whole_number = re.compile(r"(?<![\w.,-])\d{1,6}(?![\w.,-]|\s*[%°])")
LONG = 60
"""Length of an answer in characters above which it counts as a long text."""


@dataclass
class ChangeResult:
    """Results of one kind of near miss."""

    bound: float = MAX_SHARE
    tried: int = 0
    accepted: list[tuple[int, tuple[str, ...], str]] = field(default_factory=list)
    """Seed, turns and reference of each near miss that got the reward of the reference."""

    @property
    def share(self) -> float:
        return len(self.accepted) / self.tried

    @property
    def fails(self) -> bool:
        return len(self.accepted) >= MIN_ACCEPTED and self.share >= self.bound


def rewarded_references(context: BlackBoxContext) -> dict[int, tuple[str, ...]]:
    """Return the reference solutions whose last turn is the answer, for at most `MOST` problems; maybe none.

    The last turn counts as the answer if replacing it with meaningless letters lowers the reward. After other turns, it
    must also have an answer format or be a plain value, because the last message of a conversation may be worded
    freely.
    """
    made = context.solutions()
    found = {}
    for seed in evenly_spaced(list(made), MOST):
        turns = made[seed]
        without = context.reward_fraction(seed, (*turns[:-1], filler(turns[-1], 6)))
        free = len(turns) > 1 and is_free_text(context.split_answer(turns[-1]))
        if not free and context.reward_fraction(seed, turns) > max(0.0, without):
            found[seed] = turns
    return found


def is_free_text(parts: AnswerParts) -> bool:
    """Return whether a text is a message in natural language, without a format or with several words around a value."""
    around = parts.before + parts.after
    if MARKUP & {*around}:
        return False
    return kind_of(parts.core) in ("text", "list", "lines") or len(re.findall(r"[^\W\d_]+", around)) > MAX_LABEL


def wrong_turns(
    context: BlackBoxContext, made: dict[int, tuple[str, ...]]
) -> Iterator[tuple[int, str, str, tuple[str, ...]]]:
    """Yield the seed, the type of the reference, the change, and the turns of each near miss."""
    cores = {seed: context.split_answer(turns[-1]).core for seed, turns in context.solutions().items()}
    for seed, turns in made.items():
        parts = context.split_answer(turns[-1])
        if not parts.core:
            continue
        others = [core for other, core in cores.items() if other != seed]
        for change, core in near_misses(parts.core, others, context.begin(seed), context.box.tolerance):
            yield seed, kind_of(parts.core), change, (*turns[:-1], parts.with_core(core))


def changed_amounts(context: BlackBoxContext) -> dict[str, ChangeResult]:
    """Return the results of changing one number in a multi-turn conversation, such as in ``add 3427 2``.

    A change is only counted if another change of the same number lowers the reward, because a conversation can contain
    numbers that do not matter.
    """
    results: dict[str, ChangeResult] = defaultdict(ChangeResult)
    made = {seed: turns for seed, turns in context.solutions().items() if len(turns) > 1}
    for seed in evenly_spaced(list(made), MOST_CONVERSATIONS):
        turns = made[seed]
        paid = context.reward_fraction(seed, turns)
        if paid <= 0:
            continue
        for n, match in places_of_numbers(turns):
            variants = {
                change: (*turns[:n], turns[n][: match.start()] + number + turns[n][match.end() :], *turns[n + 1 :])
                for change, number in changed_count(int(match[0])).items()
            }
            kept = {c: v for c, v in variants.items() if context.reward_fraction(seed, v) >= paid - 1e-9}
            if len(kept) == len(variants):
                continue
            for change, variant in variants.items():
                result = results[f"number in a turn: {change}"]
                result.tried += 1
                if change in kept:
                    result.accepted.append((seed, variant, turns[n]))
    return results


def places_of_numbers(turns: tuple[str, ...]) -> list[tuple[int, re.Match[str]]]:
    """Return the first whole numbers in the turns of a conversation, with the number of the turn."""
    found = [(n, match) for n, turn in enumerate(turns) for match in _whole_number.finditer(turn)]
    return found[:MOST_NUMBERS]


def changed_count(number: int) -> Mapping[str, str]:
    """Return a mapping from the name of each change to the changed number, which is near the original."""
    made = {"1 more": number + 1, "much more": number * 7 + 100, "1 less": number - 1, "0": 0}
    return {change: str(value) for change, value in made.items() if value != number}


def near_misses_fail(context: BlackBoxContext) -> Passed:
    """A wrong answer that is derived from the reference solution by a small change does not get its full reward.

    The changes depend on the type of the answer: a number gets another sign, another decimal point or other digits; a
    list, a JSON value or code loses or changes an element; a text gets other letters or a negation. In a conversation
    of several turns, the numbers of all turns are changed.
    """
    made = rewarded_references(context)
    results = changed_amounts(context)
    for seed, kind, change, turns in wrong_turns(context, made):
        result = results[f"{kind}: {change}"]
        long = kind == "code" or len(made[seed][-1]) > LONG
        result.bound = MAX_SHARE_OF_CODE if long else MAX_SHARE
        result.tried += 1
        if context.reward_fraction(seed, turns) >= context.reward_fraction(seed, made[seed]) - 1e-9:
            result.accepted.append((seed, turns, made[seed][-1]))
    if not results:
        raise Skipped(
            "no wrong answer can be derived from the reference solutions: the last turn has no format or value, and no "
            "number in an earlier turn affects the reward"
        )
    shares = {name: result.share for name, result in results.items()}
    metrics = {"near_misses": float(sum(r.tried for r in results.values())), "accepted": fmean(shares.values())}
    exhibit = Bars(title="Accepted near misses by kind", unit="share of problems", bars=shares, bound=MAX_SHARE)
    failed = {name: result for name, result in results.items() if result.fails}
    if failed:
        name, worst = max(failed.items(), key=lambda item: (item[1].share, item[1].tried))
        seed, turns, reference = worst.accepted[0]
        changed = next((t for t, right in zip(turns, context.solution(seed) or (), strict=False) if t != right), "")
        message = (
            f"the wrong answer {quoted(changed or turns[-1])} gets the reward of the reference {quoted(reference)} "
            f"({name}); so do {len(worst.accepted)} of {worst.tried} wrong answers of this kind, and too many wrong "
            f"answers of {len(failed)} of {len(results)} kinds"
        )
        broken = context.failure(seed, message, turns)
        raise CheckFailed(broken.message, broken.counterexample, metrics, (exhibit,), broken.replay)
    accepted = [name for name, result in results.items() if result.accepted]
    some = f"; a few were accepted: {', '.join(accepted[:3])}" if accepted else ""
    return Passed(
        f"{metrics['near_misses']:.0f} wrong answers of {len(results)} kinds near the reference solutions "
        f"do not get the full reward{some}",
        metrics,
        (exhibit,),
    )
