"""Detection of graded rewards, which increase with the fraction of the answer that is correct."""

from __future__ import annotations

from itertools import pairwise

from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.third_party.answer_forms import filler, split_answer
from trace_gym.validation.third_party.black_box_context import BlackBoxContext

STEPS = 8
"""Number of steps in which the letters of an answer are replaced by different letters."""
MOST = 8
"""Maximum number of problems."""
MIN_LEVELS = 2
"""Minimum number of different rewards between no reward and the reward of the reference."""
MARKUP = frozenset("<>{}#:`\\")
"""Characters of which at least one occurs in a format, as opposed to a sentence."""


def rewards_content_gradually(context: BlackBoxContext) -> bool:
    """Return whether the reward falls gradually to 0 as the letters of the reference are replaced by different ones.

    Such an environment rewards similarity on purpose. A text gets some reward if it resembles the reference, although
    it solves nothing. A reward for the format, the length or any answer remains when all of the content is replaced,
    so it does not count as gradual.
    """
    made = {seed: turns for seed in context.seeds if (turns := context.solution(seed))}
    chosen = evenly_spaced(list(made), MOST)
    gradual = 0
    for seed in chosen:
        rewards = [context.reward_fraction(seed, made[seed])]
        rewards += [context.reward_fraction(seed, (*made[seed][:-1], text)) for text in replaced(made[seed][-1])]
        falling = all(later <= earlier + 1e-9 for earlier, later in pairwise(rewards))
        levels = {round(reward, 6) for reward in rewards if 1e-9 < reward < rewards[0] - 1e-9}
        if rewards[-1] > 1e-9:
            return False
        gradual += falling and len(levels) >= MIN_LEVELS
    return bool(chosen) and 2 * gradual >= len(chosen)


def replaced(text: str) -> list[str]:
    """Return copies of a reference in which an increasing part of the content is replaced by different letters."""
    before, core, after = split_answer(text)
    if not MARKUP & {*before, *after}:
        before, core, after = "", text, ""
    other = "".join(filler(text, 2 * len(core) + 8).split())
    copies = []
    for step in range(1, STEPS + 1):
        start = len(core) * (STEPS - step) // STEPS
        tail = "".join(other[n] if letter.isalnum() else letter for n, letter in enumerate(core[start:]))
        copies.append(before + core[:start] + (tail if step < STEPS else other[: len(core)]) + after)
    return copies
