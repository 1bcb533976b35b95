"""Computation of a `Score` from the checks of a verifier, and of a reward from a score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trace_gym.types import Check, NamedCheck, Score


@dataclass(frozen=True)
class RewardWeights:
    """Weights of the parts of a score in the reward.

    With the defaults, a policy that does nothing gets the reward 0, and only a successful episode can get 1.

    reward = (success * w_success + progress * w_progress * (w_broken if a guard is broken else 1))
    * (1 - w_conduct * fraction of conduct checks that fail) - w_malformed * fraction of malformed turns,
    clipped to [0, 1].
    """

    success: float = 0.5
    progress: float = 0.5
    broken: float = 0.25
    """Factor for progress if a guard is broken."""
    malformed: float = 0.1
    """Penalty for malformed turns, multiplied by their fraction."""
    conduct: float = 0.2
    """Fraction of the reward that is lost if every conduct check fails."""


DEFAULT_WEIGHTS = RewardWeights()
SPARSE_WEIGHTS = RewardWeights(success=1.0, progress=0.0, malformed=0.0, conduct=0.0)
"""Weights for a reward of 1 for success and 0 otherwise, as in most benchmarks."""


def fold(checks: Iterable[Check], at_start: Iterable[Check], turns: int, malformed: int) -> Score:
    """Return the score that results from the checks of a verifier.

    Args:
        checks: The verifier's checks of the final state, and conduct checks.
        at_start: The verifier's checks of the start state, before any message.
        turns: Number of assistant turns.
        malformed: Number of assistant turns that violated the protocol.
    """
    start = {c.description: c.passed for c in at_start}
    named = [
        NamedCheck(kind=c.kind, description=c.description, passed=c.passed, at_start=start.get(c.description, False))
        for c in checks
    ]
    goals = [c for c in named if c.kind == "goal" and not c.at_start]
    # A goal that was satisfied at the start gives no reward. If it fails at the end, it counts as a broken guard.
    broken = tuple(c.description for c in named if not c.passed and (c.kind == "guard" or c.at_start))
    progress = sum(c.passed for c in goals) / len(goals) if goals else 0.0
    conduct = [c.passed for c in named if c.kind == "conduct"]
    return Score(
        wellformed=(turns - malformed) / turns if turns else 0.0,
        progress=progress,
        success=bool(goals) and progress == 1.0 and not broken,
        broken=broken,
        conduct=sum(conduct) / len(conduct) if conduct else 1.0,
        checks=tuple(named),
    )


def reward(score: Score, weights: RewardWeights = DEFAULT_WEIGHTS) -> float:
    """Return the reward in [0, 1] for a score. The formula is in `RewardWeights`."""
    progress = score.progress * (weights.broken if score.broken else 1.0)
    proper = 1.0 - weights.conduct * (1.0 - score.conduct)
    # An episode without turns has wellformed 0, but also no success or progress to subtract the penalty from.
    fee = weights.malformed * (1.0 - score.wellformed)
    return min(1.0, max(0.0, (weights.success * score.success + weights.progress * progress) * proper - fee))
