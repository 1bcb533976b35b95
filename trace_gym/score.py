"""From a verifier's sentences to a `Score`, and from a score to a reward: the only place of either."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trace_gym.types import Check, NamedCheck, Score


@dataclass(frozen=True)
class RewardWeights:
    """How levels of a score are paid. The defaults give 0 to the idle and 1 only to success.

    reward = (success * w_success + progress * w_progress * (w_broken if a guard broke else 1))
    * (1 - w_conduct * the share of conduct checks that fail) - w_malformed * the share of malformed turns,
    clipped to [0, 1].
    """

    success: float = 0.5
    progress: float = 0.5
    broken: float = 0.25
    """Factor on progress when a guard broke."""
    malformed: float = 0.1
    """Taken off per share of malformed turns."""
    conduct: float = 0.2
    """Fraction of the reward that is lost if every conduct check fails."""


DEFAULT_WEIGHTS = RewardWeights()
SPARSE_WEIGHTS = RewardWeights(success=1.0, progress=0.0, malformed=0.0, conduct=0.0)
"""Binary success: what a benchmark pays."""


def fold(checks: Iterable[Check], at_start: Iterable[Check], turns: int, malformed: int) -> Score:
    """Fold the sentences of a verifier into a score.

    Args:
        checks: The verifier's sentences over the final state, and conduct checks.
        at_start: The same sentences over the start state, with nothing said.
        turns: Assistant turns taken.
        malformed: How many of them broke the protocol.
    """
    start = {c.says: c.holds for c in at_start}
    named = [NamedCheck(kind=c.kind, says=c.says, holds=c.holds, at_start=start.get(c.says, False)) for c in checks]
    goals = [c for c in named if c.kind == "goal" and not c.at_start]
    # A goal that held at the start pays nothing and, once undone, counts as a broken guard.
    broken = tuple(c.says for c in named if not c.holds and (c.kind == "guard" or c.at_start))
    progress = sum(c.holds for c in goals) / len(goals) if goals else 0.0
    conduct = [c.holds for c in named if c.kind == "conduct"]
    return Score(
        wellformed=(turns - malformed) / turns if turns else 0.0,
        progress=progress,
        success=bool(goals) and progress == 1.0 and not broken,
        broken=broken,
        conduct=sum(conduct) / len(conduct) if conduct else 1.0,
        checks=tuple(named),
    )


def reward(score: Score, weights: RewardWeights = DEFAULT_WEIGHTS) -> float:
    """The reward in [0, 1] that `weights` pay for `score`; a pure function of both."""
    progress = score.progress * (weights.broken if score.broken else 1.0)
    proper = 1.0 - weights.conduct * (1.0 - score.conduct)
    # An episode without a turn has wellformed 0 and nothing to take the fee from.
    fee = weights.malformed * (1.0 - score.wellformed)
    return min(1.0, max(0.0, (weights.success * score.success + weights.progress * progress) * proper - fee))
