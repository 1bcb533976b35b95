"""Intervals, paired tests and pass rates: every figure that a report compares comes from here.

All are for binary outcomes of independent units unless said otherwise. Trials of one task are not
independent units; where tasks were repeated, average over the trials of a task first (`paired_bootstrap`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


class Paired(NamedTuple):
    """What changed between two runs on the same units."""

    gained: int
    """Units that failed before and pass after."""
    lost: int
    """Units that passed before and fail after."""
    p: float
    """Two-sided p-value of the exact McNemar test."""


class Difference(NamedTuple):
    """A mean difference with its bootstrap interval."""

    mean: float
    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval | None:
    """Score interval of a proportion; None when nothing was counted.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22
    (1927). With z the normal quantile and p = successes / n, the bounds are
    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).

    Raises:
        ValueError: The counts are no counts, or the confidence is not inside (0, 1).
    """
    _check_count(successes, n)
    if n == 0:
        return None
    z = _quantile(confidence)
    p, shift = successes / n, z * z / n
    middle = p + shift / 2
    reach = z * sqrt(p * (1 - p) / n + shift / (4 * n))
    return Interval(max(0.0, (middle - reach) / (1 + shift)), min(1.0, (middle + reach) / (1 + shift)))


def newcombe(successes_a: int, n_a: int, successes_b: int, n_b: int, confidence: float = 0.95) -> Interval | None:
    """Interval of the difference a - b of two independent proportions; None when either counted nothing.

    Source: R. G. Newcombe, Interval estimation for the difference between independent proportions,
    Statistics in Medicine 17 (1998), method 10: with d = a - b and Wilson intervals (l_a, u_a), (l_b, u_b),
    from d - sqrt((a - l_a)^2 + (u_b - b)^2) to d + sqrt((u_a - a)^2 + (b - l_b)^2).

    Raises:
        ValueError: As `wilson`.
    """
    around_a, around_b = (wilson(successes_a, n_a, confidence), wilson(successes_b, n_b, confidence))
    if around_a is None or around_b is None:
        return None
    a, b = successes_a / n_a, successes_b / n_b
    below = sqrt((a - around_a.low) ** 2 + (around_b.high - b) ** 2)
    above = sqrt((around_a.high - a) ** 2 + (b - around_b.low) ** 2)
    return Interval(a - b - below, a - b + above)


def mcnemar(before: Sequence[bool], after: Sequence[bool]) -> Paired:
    """Exact McNemar test of paired binary outcomes, unit by unit.

    Source: Q. McNemar, Psychometrika 12 (1947), in its exact form: of the gained + lost units that changed,
    the number gained is binomial(1/2) if nothing changed on the whole, and p is twice the smaller tail, at most 1.

    Raises:
        ValueError: The two runs do not pair up.
    """
    if len(before) != len(after):
        raise ValueError(f"paired outcomes must be of one length, found {len(before)} and {len(after)}")
    gained = sum(a and not b for b, a in zip(before, after, strict=True))
    lost = sum(b and not a for b, a in zip(before, after, strict=True))
    changed, fewer = gained + lost, min(gained, lost)
    tail = sum(comb(changed, k) for k in range(fewer + 1)) / 2**changed
    return Paired(gained, lost, min(1.0, 2 * tail))


def paired_bootstrap(
    before: Sequence[float],
    after: Sequence[float],
    rng: np.random.Generator,
    *,
    samples: int = 10_000,
    confidence: float = 0.95,
) -> Difference:
    """Mean of after - before over the units, with the percentile interval of resampled units.

    Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13. For tasks run
    several times, give the mean over the trials of each task.

    Raises:
        ValueError: The two runs do not pair up, or there is nothing to resample.
    """
    if len(before) != len(after) or not before or samples < 1:
        raise ValueError(
            f"a paired bootstrap needs two runs of one length and at least one sample, "
            f"found {len(before)} and {len(after)} units, {samples} samples"
        )
    tail = (1 - confidence) / 2
    _quantile(confidence)
    gain_N = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    # One resample at a time: samples x units at once would need gigabytes for long runs.
    means = [float(gain_N[rng.integers(0, gain_N.size, gain_N.size)].mean()) for _ in range(samples)]
    low, high = np.quantile(means, [tail, 1 - tail])
    return Difference(float(gain_N.mean()), float(low), float(high))


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Unbiased chance that at least one of k attempts succeeds: 1 - C(n - correct, k) / C(n, k).

    Source: M. Chen et al., Evaluating large language models trained on code, arXiv 2107.03374 (2021), equation 1.

    Raises:
        ValueError: The counts are no counts, or k is not between 1 and n.
    """
    _check_attempts(n, correct, k)
    return 1.0 - comb(n - correct, k) / comb(n, k)


def pass_hat_k(n: int, correct: int, k: int) -> float:
    """Unbiased chance that all of k attempts succeed (pass^k): C(correct, k) / C(n, k).

    Source: S. Yao et al., tau-bench, arXiv 2406.12045 (2024), section 4.

    Raises:
        ValueError: As `pass_at_k`.
    """
    _check_attempts(n, correct, k)
    return comb(correct, k) / comb(n, k)


def _check_count(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"successes must lie between 0 and n, found {successes} of {n}")


def _check_attempts(n: int, correct: int, k: int) -> None:
    _check_count(correct, n)
    if not 1 <= k <= n:
        raise ValueError(f"k must lie between 1 and the {n} attempts made, found {k}")


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie inside (0, 1), such as 0.95, found {confidence}")
    return NormalDist().inv_cdf((1 + confidence) / 2)
