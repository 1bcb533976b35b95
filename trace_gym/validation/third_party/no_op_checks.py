"""Check TG301 for third-party environments: texts without an answer get no reward."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from statistics import fmean

from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.properties import Passed
from trace_gym.validation.third_party.answer_forms import MARKUP_FORMS, empty_shells, filler
from trace_gym.validation.third_party.black_box_context import BlackBoxContext
from trace_gym.validation.third_party.content_grading import rewards_content_gradually

NO_OP_MESSAGES = ("...", "Hello.", "Done.", "")
"""Messages of a policy that does nothing useful."""
MOST = 24
"""Maximum number of problems, evenly spaced over the sample."""
HALF = 0.5
"""Maximum mean reward of a no-op message in an environment that rewards similarity to the reference."""


def nothing_is_paid_for_nothing(context: BlackBoxContext) -> Passed:
    """No-op messages, garbage, and formats without an answer get no reward, whether sent once or until the end.

    If the reward falls gradually to 0 as the content of the reference is replaced, texts that resemble the reference
    may get a part of the reward.
    """
    metrics: dict[str, float] = {}
    worst: tuple[float, int, tuple[str, ...]] = (0.0, 0, ())
    chosen = evenly_spaced(context.seeds, MOST)
    for name in (*NO_OP_MESSAGES, "garbage", "other letters"):
        rewards = []
        for seed in chosen:
            word = _no_op(context, seed, name)
            for turns in dict.fromkeys(((word,), (word,) * context.box.limit)):
                rewards.append(_finite(context, seed, turns))
                worst = max(worst, (rewards[-1], seed, turns), key=lambda found: found[0])
        metrics[f"paid_for_{name}"] = fmean(rewards)
    unrelated = max(metrics["paid_for_"], metrics["paid_for_other letters"])
    if worst[0] > 1e-9 >= unrelated and max(metrics.values()) <= HALF and rewards_content_gradually(context):
        return Passed(
            f"the reward falls gradually to 0 as the content of the reference is replaced; a no-op message gets at "
            f"most {worst[0]:.2f}, because it resembles a reference",
            metrics,
        )
    share, seed, turns = worst
    if share > 1e-9:
        repeated = f" in {len(turns)} turns" if len(turns) > 1 else ""
        often = ", ".join(f"{k.removeprefix('paid_for_')!r} {v:.3g}" for k, v in metrics.items())
        message = f"the reward is {share * context.box.high:.3g} for {turns[0]!r}{repeated}; on average {often}"
        raise context.failure(seed, message, turns, metrics)
    _check_formats(context, chosen, metrics)
    return Passed(
        f"no reward in {len(chosen)} problems for {', '.join(map(repr, NO_OP_MESSAGES))}, garbage and empty formats",
        metrics,
    )


def _check_formats(context: BlackBoxContext, chosen: list[int], metrics: dict[str, float]) -> None:
    """Check that no format without an answer gets a reward.

    Raises:
        CheckFailed: A format gets a reward.
    """
    rewards = [0.0]
    metrics["paid_for_formats"] = 0.0
    for seed in chosen:
        for description, turns in _formats(context, seed):
            rewards.append(_finite(context, seed, turns))
            metrics["paid_for_formats"] = max(rewards)
            if rewards[-1] > 1e-9:
                raise context.failure(
                    seed,
                    f"the reward is {rewards[-1] * context.box.high:.3g} for {turns[-1]!r}, {description}",
                    turns,
                    metrics,
                )


def _formats(context: BlackBoxContext, seed: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield formats without an answer: the format of the reference, and common formats around meaningless letters."""
    solution = context.solution(seed)
    if solution:
        for description, text in empty_shells(solution[-1]):
            yield f"the reference with only {description}", (*solution[:-1], text)
            yield f"the reference with only {description}", (text,)
    nonsense = _other_letters(context, seed)
    for form in MARKUP_FORMS:
        yield "a format around other letters", (form.format(nonsense),)


def _finite(context: BlackBoxContext, seed: int, turns: tuple[str, ...]) -> float:
    reward = context.reward_fraction(seed, turns)
    if not math.isfinite(reward):
        raise context.failure(seed, f"the reward for {turns[0]!r} is {reward}, not a finite number", turns, {})
    return reward


def _no_op(context: BlackBoxContext, seed: int, name: str) -> str:
    return {"garbage": _garbage(seed), "other letters": _other_letters(context, seed)}.get(name, name)


def _other_letters(context: BlackBoxContext, seed: int) -> str:
    """Return a word whose letters do not occur in the reference solution."""
    return filler(" ".join(context.solution(seed) or ()), 6)


def _garbage(seed: int) -> str:
    rng = Random(f"garbage/{seed}")
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz   ") for _ in range(40))
