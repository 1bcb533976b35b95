"""Calibration of level weights, so that an agent's rewards vary within groups of rollouts of the same problem.

The level weights determine how often each level is sampled. The quantities that the variance property TG501 checks,
such as the mean reward, are means over scenarios. The value of a quantity for a mixture of levels is therefore the
weighted mean of its values on the levels. The weights are found by a grid search. Among the weights for which every
quantity is in its target range, the most uniform weights are selected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from trace_gym.types import Report, Scenario
from trace_gym.validation.learning import recorded_verdicts
from trace_gym.validation.policy_groups import EpisodeSource, open_policy_or_groups, rollout_groups
from trace_gym.validation.variance import RewardGroup
from trace_gym.validation.variance_verdict import (
    LOOKS,
    TARGET_RANGES,
    Quantity,
    VarianceVerdict,
    in_range,
    label,
    sequential_variance_verdict,
)
from trace_gym.world import World

VARIANCE_CODE = "TG501"
"""Code of the variance property. For each level, it measures the range of agent competence with varying rewards."""
WEIGHT_CHOICES = (0, 1, 2, 4)
"""Candidate weights of a level in the grid search."""
QuantityValues = Mapping[Quantity, float]
Direction = Literal["easy", "hard", ""]


@dataclass(frozen=True)
class Calibration:
    """Weights of the levels, and the reward statistics of an agent under these weights."""

    level_weights: tuple[float, ...]
    """Sampling weight of each level. The sum of the weights is 1."""
    fits: bool
    """True if every quantity is in its target range."""
    message: str
    distance: float = 0.0
    """Sum of the distances of the quantities from their target ranges."""
    direction: Direction = ""
    """``easy`` or ``hard`` if the environment is too easy or too hard; empty if it is suitable."""


def calibrate_for_policy(world: type[World] | EpisodeSource, policy: str) -> Calibration:
    """Return level weights that are fitted to a policy, from new rollouts or from recorded rollouts.

    Args:
        world: World of the environment.
        policy: Policy specification, as for `trace_gym.validation.policy_groups.open_policy_or_groups`.

    Raises:
        ConfigError, PolicyError, ReadError, MissingExtra: The policy cannot be loaded or run.
    """
    subject = open_policy_or_groups(policy)
    if isinstance(subject, list):
        found = recorded_verdicts(subject, world.id)
        verdicts = {level: found[f"level {level}"] for level in world.levels if f"level {level}" in found}
    else:

        def draw(level: int) -> Callable[[int, int], list[RewardGroup]]:
            def groups(first: int, last: int) -> list[RewardGroup]:
                return rollout_groups(
                    subject, world, [Scenario(env=world.id, level=level, seed=s) for s in range(first, last)]
                )

            return groups

        verdicts = {level: sequential_variance_verdict(draw(level), looks=LOOKS) for level in world.levels}
    return fit_level_weights({level: _values(v) for level, v in verdicts.items()}, len(world.levels))


def calibrate_from_report(report: Report, count: int) -> Calibration:
    """Return equal weights for the longest run of consecutive levels that are suitable for the same agent competence.

    The other levels get the weight 0. The report contains the result of property TG501: the range of competence in
    which all quantities are in their target ranges, for each level.
    """
    metrics = next(f.metrics for f in report.findings if f.code == VARIANCE_CODE)
    ranges = [(metrics[f"from_{n}"], metrics[f"to_{n}"]) for n in range(count)]
    runs = [(a, b) for a in range(count) for b in range(a + 1, count + 1) if _shared(ranges[a:b])]
    first, last = max(runs, key=lambda run: (run[1] - run[0], -run[0]))
    low, high = max(r[0] for r in ranges[first:last]), min(r[1] for r in ranges[first:last])
    level_weights = tuple((first <= n < last) / (last - first) for n in range(count))
    weighted = "all levels" if last - first == count else f"levels {first} to {last - 1}"
    return Calibration(level_weights, True, f"{weighted} suit an agent of competence {low:.2f} to {high:.2f}")


def fit_level_weights(levels: Mapping[int, QuantityValues], count: int) -> Calibration:
    """Return the most uniform weights for which every quantity is in its target range.

    If there are no such weights, return the weights with the smallest distance from the target ranges.

    Args:
        levels: Quantities of each level that was measured.
        count: Number of levels. Levels that were not measured get the weight 0.
    """
    best = min((_tried(levels, w) for w in product(WEIGHT_CHOICES, repeat=len(levels)) if any(w)), key=lambda t: t[0])
    (distance, *_), weights, values = best
    drawn = dict(zip(levels, weights, strict=True))
    level_weights = tuple(drawn.get(n, 0) / sum(weights) for n in range(count))
    measured = ", ".join(f"{label(q)} {v:.2f}" for q, v in values.items())
    share = ", ".join(f"level {n} {m:.0%}" for n, m in enumerate(level_weights) if m)
    fits = distance == 0.0
    direction: Direction = "" if fits else _direction(values)
    message = f"with {share}: {measured}" + ("" if fits else f"; {_outside(values)}")
    return Calibration(level_weights, fits, message, distance, direction)


def _tried(
    levels: Mapping[int, QuantityValues], weights: Sequence[int]
) -> tuple[tuple[float, float, float], Sequence[int], QuantityValues]:
    """Return a sort key for weights (smaller is better), the weights, and the resulting quantities."""
    shares = [w / sum(weights) for w in weights]
    quantities = [q for q in TARGET_RANGES if all(q in level for level in levels.values())]
    values = {q: sum(s * level[q] for s, level in zip(shares, levels.values(), strict=True)) for q in quantities}
    distance = sum(
        max(0.0, TARGET_RANGES[q][0] - v, v - TARGET_RANGES[q][1])
        for q, v in values.items()
        if not in_range(v, TARGET_RANGES[q])
    )
    uneven = sum(s * s for s in shares)
    return (round(distance, 9), round(uneven, 9), -values["informative"]), weights, values


def _outside(values: QuantityValues) -> str:
    wrong = [q for q, v in values.items() if not in_range(v, TARGET_RANGES[q])]
    return ", ".join(f"{label(q)} should lie in {TARGET_RANGES[q][0]:g} to {TARGET_RANGES[q][1]:g}" for q in wrong)


def _direction(values: QuantityValues) -> Direction:
    """Return ``easy`` if rewards exceed the target ranges by more than they fall short of the ranges, else ``hard``."""
    above = max(0.0, values["mean"] - TARGET_RANGES["mean"][1]) + max(
        0.0, values["all_one"] - TARGET_RANGES["all_one"][1]
    )
    below = max(0.0, TARGET_RANGES["mean"][0] - values["mean"]) + max(
        0.0, values["all_zero"] - TARGET_RANGES["all_zero"][1]
    )
    return "easy" if above > below else "hard"


def _values(verdict: VarianceVerdict) -> QuantityValues:
    return {q: e.value for q, e in verdict.estimates.items()}


def _shared(ranges: Sequence[tuple[float, float]]) -> bool:
    return max(r[0] for r in ranges) <= min(r[1] for r in ranges)
