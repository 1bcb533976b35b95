"""Tests of whether a policy's rewards vary enough within groups of rollouts for GRPO to learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from trace_gym.errors import ConfigError
from trace_gym.statistics import Interval, wilson
from trace_gym.types import Record
from trace_gym.validation.variance import SAME, GroupStatistics, RewardGroup, group_statistics

LOOKS = (16, 32, 64, 128)
"""Sample sizes (numbers of groups) at which the sequential test is evaluated."""
CONFIDENCE = 0.95

Quantity = Literal["mean", "success", "informative", "all_zero", "all_one"]
TARGET_RANGES: dict[Quantity, tuple[float, float]] = {
    "mean": (0.2, 0.6),
    "success": (0.2, 0.6),
    "informative": (0.5, 1.0),
    "all_zero": (0.0, 0.2),
    "all_one": (0.0, 0.2),
}
"""Target ranges for a policy before GRPO training: the success rate is neither too low nor too high, and rewards vary
within most groups."""


class IntervalEstimate(Record):
    """Estimate of one quantity with its confidence interval and its target range."""

    value: float
    low: float
    high: float
    target_range: tuple[float, float]

    @property
    def fits(self) -> bool:
        """True if the value is in the target range."""
        return in_range(self.value, self.target_range)

    @property
    def clear(self) -> bool:
        """True if the confidence interval lies completely inside or completely outside the target range."""
        low, high = self.target_range
        return (
            self.high < low
            or self.low > high
            or (in_range(self.low, self.target_range) and in_range(self.high, self.target_range))
        )


class VarianceVerdict(Record):
    """Group statistics of a policy, and whether they are suitable for GRPO."""

    groups: int
    attempts: int
    statistics: GroupStatistics
    estimates: dict[Quantity, IntervalEstimate]

    @property
    def passed(self) -> bool:
        """True if every quantity is in its target range."""
        return all(e.fits for e in self.estimates.values())

    @property
    def clear(self) -> bool:
        """True if the verdict is statistically clear.

        The verdict is clear if one quantity is clearly outside its range, or if all quantities are clearly inside.
        """
        outside = any(e.clear and not e.fits for e in self.estimates.values())
        return outside or all(e.clear for e in self.estimates.values())

    @property
    def message(self) -> str:
        """Short description of the verdict."""
        wrong = [f"{label(q)} {e.value:.2f} {_side(e)}" for q, e in self.estimates.items() if not e.fits]
        found = ", ".join(wrong) or ", ".join(f"{label(q)} {e.value:.2f}" for q, e in self.estimates.items())
        doubtful = [f"{label(q)} {e.low:.2f} to {e.high:.2f}" for q, e in self.estimates.items() if not e.clear]
        doubt = f"; undecided: {', '.join(doubtful)}" if doubtful and not self.clear else ""
        return f"{found} over {self.groups} groups{doubt}"


def label(quantity: str) -> str:
    """Return the display name of a quantity."""
    return quantity.replace("_", "-")


def in_range(value: float, target_range: tuple[float, float]) -> bool:
    """Return whether a value is in a closed range, with a small tolerance."""
    return target_range[0] - SAME <= value <= target_range[1] + SAME


def variance_verdict(
    groups: Iterable[RewardGroup],
    target_ranges: Mapping[Quantity, tuple[float, float]] = TARGET_RANGES,
    *,
    confidence: float = CONFIDENCE,
) -> VarianceVerdict:
    """Return a verdict on a policy from the rewards in recorded or sampled groups.

    The groups, not the single rollouts, are treated as independent samples. The confidence intervals are Wilson
    intervals. For mean rewards, these are conservative, because among variables in [0, 1] with the same mean, a binary
    variable has the largest variance.

    Args:
        groups: Groups of rollouts. Groups with fewer than two rollouts are ignored.
        target_ranges: Target range of each quantity. Quantities that are unknown for the groups are ignored.
        confidence: Confidence level of each interval.

    Raises:
        ConfigError: No group has two rollouts.
    """
    kept = [g for g in groups if len(g.rewards) > 1]
    if not kept:
        raise ConfigError(
            "no problem has two or more rollouts, but GRPO compares rollouts of the same problem. Record several "
            "rollouts for each problem"
        )
    found = group_statistics(kept)
    values = {q: value for q in target_ranges if (value := getattr(found, q)) is not None}
    estimates = {}
    for quantity, value in values.items():
        low, high = interval(value, len(kept), confidence)
        estimates[quantity] = IntervalEstimate(value=value, low=low, high=high, target_range=target_ranges[quantity])
    attempts = sum(len(g.rewards) for g in kept)
    return VarianceVerdict(groups=len(kept), attempts=attempts, statistics=found, estimates=estimates)


def sequential_variance_verdict(
    draw: Callable[[int, int], Iterable[RewardGroup]],
    target_ranges: Mapping[Quantity, tuple[float, float]] = TARGET_RANGES,
    *,
    looks: Sequence[int] = LOOKS,
    confidence: float = CONFIDENCE,
) -> VarianceVerdict:
    """Return a verdict on a policy from as few groups as possible, with a sequential test.

    Repeated evaluation of ordinary 95% intervals would increase the error rate. The test is therefore evaluated only at
    a few fixed sample sizes, and the error probability is divided equally among the evaluations and the quantities
    (Bonferroni correction). All intervals together have the confidence level `confidence`. Sharper methods are known:
    S. J. Pocock, Biometrika 64 (1977), for a single quantity, and K. K. G. Lan and D. L. DeMets, Biometrika 70 (1983),
    for an unequal division of the error probability.

    Args:
        draw: Function that returns groups by index. Its arguments are the first index and the last (exclusive).
        target_ranges: Target range of each quantity, as for `variance_verdict`.
        looks: Ascending sample sizes. At each of them, the test stops if the verdict is clear. It always stops at the
            last sample size.
        confidence: Joint confidence level of all intervals.
    """
    each = 1 - (1 - confidence) / (len(looks) * len(target_ranges))
    groups: list[RewardGroup] = []
    for before, count in zip((0, *looks), looks, strict=False):
        groups += draw(before, count)
        verdict = variance_verdict(groups, target_ranges, confidence=each)
        if verdict.clear:
            break
    return verdict


def interval(value: float, n: int, confidence: float) -> Interval:
    """Return the Wilson interval of a mean of `n` values.

    If ``value * n`` is not an integer, the result covers the intervals for both neighboring integers.
    """
    low = wilson(max(0, math.floor(value * n + SAME)), n, confidence)
    high = wilson(min(n, math.ceil(value * n - SAME)), n, confidence)
    assert low is not None and high is not None  # n is at least 1
    return Interval(low.low, high.high)


def _side(estimate: IntervalEstimate) -> str:
    low, high = estimate.target_range
    return f"is below {low:g}" if estimate.value < low else f"is above {high:g}"
