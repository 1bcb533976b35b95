"""Answers that name many candidates instead of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import NamedTuple

from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.third_party.answer_forms import FORMS
from trace_gym.validation.third_party.black_box_context import BlackBoxContext, is_full_reward, quoted
from trace_gym.validation.third_party.near_misses import kind_of, near_misses
from trace_gym.validation.third_party.reference_format import AnswerFormat

Heuristic = Callable[[str], str]
"""Function that returns a turn for a prompt."""

MOST = 16
"""Maximum number of problems for which two answers are tried."""
MAX_NUMBERS = 1000
"""Maximum number of integers that are listed."""
MAX_EITHER = 0.5
"""Maximum fraction of problems with numeric answers in which a wrong number next to the correct one gets the full
reward."""
_OPTION = re.compile(r"^\s*\(?([A-Z])[).:]\s", re.MULTILINE)


class EitherOrder(NamedTuple):
    """Fraction of problems in which a correct and a wrong answer together get the full reward, in either order."""

    numbers: float
    """Fraction among the problems whose answer is a number; 0 if there are none."""
    others: float
    example: tuple[int, tuple[str, ...]]
    """Seed and turns of a problem whose answer is a number."""


def listings(context: BlackBoxContext) -> dict[str, Heuristic]:
    """Return heuristics that list every option, in several formats.

    The options are the letters that the prompt lists, or all values that the references take. An agent can learn to
    list them without solving a problem.
    """
    found: dict[str, Heuristic] = {}
    shared = context.answer_format
    name, options = candidates(shared)
    own = shared.templates if shared else []
    for form in dict.fromkeys(["{}", *own, *FORMS[:4]]):
        each = "" if form == "{}" else f", each as {form.format('n')}"
        found[f"list of the options{each}"] = lambda prompt, form=form: _listed(form, _OPTION.findall(prompt))  # type: ignore[misc]
        if options:
            found[f"list of {name}{each}"] = _constant(_listed(form, options))
    if options:
        found |= {f"list of {name} in {form.format('n')}": _constant(form.format(", ".join(options))) for form in own}
        found[f"list of {name} in a sentence"] = _constant(f"It is {' or '.join(options)}.")
    return found


def candidates(shared: AnswerFormat | None) -> tuple[str, list[str]]:
    """Return the answers that may be correct, with the name of this set; an empty list if they cannot be listed.

    They are all integers between the smallest and the largest answer, or all answers of the references.
    """
    if shared is None or shared.kind == "text":
        return "", []
    if shared.kind == "integer":
        numbers = [int(answer) for answer in shared.answers]
        if max(numbers) - min(numbers) < MAX_NUMBERS:
            return "all integers", [str(n) for n in range(min(numbers) - 1, max(numbers) + 2)]
    return "all reference answers", list(shared.answers[:MAX_NUMBERS])


def describe_format(context: BlackBoxContext) -> str:
    """Return which answer format was recognized, and how many candidates are listed in it."""
    shared = context.answer_format
    if shared is None:
        return "answer format not recognized: no lists of answers tried"
    if not (options := candidates(shared)[1]):
        return f"answer format {quoted(str(shared))}: its answers cannot be listed"
    return f"answer format {quoted(str(shared))}: lists of {len(options)} answers tried"


def _constant(text: str) -> Heuristic:
    return lambda prompt: text


def _listed(form: str, options: Sequence[str]) -> str:
    return "\n".join(form.format(option) for option in options)


def either_order(context: BlackBoxContext) -> EitherOrder:
    """Measure how often a response with a correct and a wrong answer gets the full reward, whichever comes first.

    If only the first or only the last answer counts, one of the two orders fails.
    """
    accepted: dict[bool, list[bool]] = {True: [], False: []}
    example: tuple[int, tuple[str, ...]] = (0, ())
    made = {seed: turns for seed in context.seeds if (turns := context.solution(seed))}
    for seed in evenly_spaced(list(made), MOST):
        turns = made[seed]
        parts = context.split_answer(turns[-1])
        misses = near_misses(parts.core, (), context.begin(seed), context.box.tolerance) if parts.core else iter(())
        if (miss := next(misses, None)) is None or not is_full_reward(context.reward_fraction(seed, turns)):
            continue
        texts = (turns[-1], parts.with_core(miss[1]))
        both = [(*turns[:-1], "\n".join(order)) for order in (texts, texts[::-1])]
        number = kind_of(parts.core) == "number"
        accepted[number].append(all(is_full_reward(context.reward_fraction(seed, answer)) for answer in both))
        if number and accepted[number][-1]:
            example = (seed, both[0])
    numbers, others = (fmean(accepted[number]) if accepted[number] else 0.0 for number in (True, False))
    return EitherOrder(numbers, others, example)
