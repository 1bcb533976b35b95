"""Answers that name many candidates instead of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import NamedTuple

from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.third_party.answer_forms import FORMS, split_answer
from trace_gym.validation.third_party.black_box_context import BlackBoxContext, is_full_reward
from trace_gym.validation.third_party.near_misses import kind_of, near_misses

Heuristic = Callable[[str], str]
"""Function that returns a turn for a prompt."""

MOST = 16
"""Maximum number of problems for which two answers are tried."""
MAX_OPTIONS = 30
"""Maximum number of different answers that count as a closed set of options."""
MAX_NUMBERS = 1000
"""Maximum number of integers that are listed."""
MAX_EITHER = 0.5
"""Maximum fraction of problems with numeric answers in which a wrong number next to the correct one gets the full
reward."""
_OPTION = re.compile(r"^\s*\(?([A-Z])[).:]\s", re.MULTILINE)


class EitherOrder(NamedTuple):
    """Fraction of problems in which a response with a correct and a wrong answer gets the full reward in any order."""

    numbers: float
    """Fraction among the problems whose answer is a number; 0 if there are none."""
    others: float
    example: tuple[int, tuple[str, ...]]
    """Seed and turns of a problem whose answer is a number."""


def listings(context: BlackBoxContext) -> dict[str, Heuristic]:
    """Return heuristics that list every option, in several formats.

    The options are the letters in the prompt, the references if only a few of them exist, and the integers between the
    smallest and the largest reference. An agent can learn to list them without solving a problem.
    """
    found: dict[str, Heuristic] = {}
    cores = [split_answer(turns[-1]).core for seed in context.seeds if (turns := context.solution(seed))]
    forms = list(dict.fromkeys(["{}", *_own_forms(context), *FORMS[:4]]))
    for form in forms:
        found[f"options {form}"] = lambda prompt, form=form: _listed(form, _OPTION.findall(prompt))  # type: ignore[misc]
        for name, options in _closed_sets(cores):
            found[f"{name} {form}"] = lambda prompt, form=form, options=options: _listed(form, options)  # type: ignore[misc]
    for name, options in _closed_sets(cores):
        found[f"{name} in a sentence"] = lambda prompt, options=options: f"It is {' or '.join(options)}."  # type: ignore[misc]
    return found


def _own_forms(context: BlackBoxContext) -> Iterator[str]:
    """Yield the format of a reference solution with ``{}`` in place of the answer."""
    for seed in context.seeds[:1]:
        if turns := context.solution(seed):
            parts = split_answer(turns[-1])
            if len(parts.before) + len(parts.after) < 100:
                yield "{}".join(side.replace("{", "{{").replace("}", "}}") for side in (parts.before, parts.after))


def _closed_sets(cores: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield closed sets of options, each with a name. They are known without reading the prompt of a problem."""
    options = sorted(set(cores))
    if 2 <= len(options) <= min(MAX_OPTIONS, len(cores) // 2):
        yield "every reference", options
    if options and all(re.fullmatch(r"-?\d{1,9}", core) for core in options):
        numbers = [int(core) for core in options]
        if max(numbers) - min(numbers) < MAX_NUMBERS:
            yield "every integer", [str(n) for n in range(min(numbers) - 1, max(numbers) + 2)]


def _listed(form: str, options: list[str]) -> str:
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
        parts = split_answer(turns[-1])
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
