"""Confidence intervals, paired tests and pass rates for reports.

Unless stated otherwise, the functions apply to binary outcomes of independent units. Trials of the same task are not
independent. If tasks were repeated, average over the trials of each task first and use `paired_bootstrap`.
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
    """Changes between two runs on the same units."""

    gained: int
    """Number of units that failed in the first run and passed in the second run."""
    lost: int
    """Number of units that passed in the first run and failed in the second run."""
    p: float
    """Two-sided p-value of the exact McNemar test."""


class Difference(NamedTuple):
    """A mean difference with its bootstrap confidence interval."""

    mean: float
    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval | None:
    """Return the Wilson score interval of a proportion; None if `n` is 0.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22
    (1927). If z is the normal quantile and p = successes / n, the bounds are
    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).

    Raises:
        ValueError: The counts are not valid, or the confidence is not between 0 and 1.
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
    """Return the interval of the difference a - b of two independent proportions; None if either sample is empty.

    Source: R. G. Newcombe, Interval estimation for the difference between independent proportions,
    Statistics in Medicine 17 (1998), method 10. If d = a - b, and the Wilson intervals are (l_a, u_a) and (l_b, u_b),
    the bounds are d - sqrt((a - l_a)^2 + (u_b - b)^2) and d + sqrt((u_a - a)^2 + (b - l_b)^2).

    Raises:
        ValueError: A count or the confidence is not valid; see `wilson`.
    """
    around_a, around_b = (wilson(successes_a, n_a, confidence), wilson(successes_b, n_b, confidence))
    if around_a is None or around_b is None:
        return None
    a, b = successes_a / n_a, successes_b / n_b
    below = sqrt((a - around_a.low) ** 2 + (around_b.high - b) ** 2)
    above = sqrt((around_a.high - a) ** 2 + (b - around_b.low) ** 2)
    return Interval(a - b - below, a - b + above)


def mcnemar(before: Sequence[bool], after: Sequence[bool]) -> Paired:
    """Return the result of the exact McNemar test for paired binary outcomes.

    Source: Q. McNemar, Psychometrika 12 (1947). Under the null hypothesis, `gained` has a binomial distribution with
    probability 1/2 and gained + lost trials. The p-value is twice the smaller tail, at most 1.

    Args:
        before: Outcome of each unit in the first run.
        after: Outcome of each unit in the second run, in the same order.

    Raises:
        ValueError: The two runs have different numbers of units.
    """
    if len(before) != len(after):
        raise ValueError(
            f"the two runs must have the same number of outcomes, but found {len(before)} and {len(after)}"
        )
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
    """Return the mean of after - before over the units, with the percentile interval of the bootstrap over units.

    Source: B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13. If tasks were
    run several times, pass the mean over the trials of each task.

    Raises:
        ValueError: The two runs have different numbers of units, or no units.
    """
    if len(before) != len(after) or not before or samples < 1:
        raise ValueError(
            f"a paired bootstrap requires two runs with the same number of units and at least one sample, but found "
            f"{len(before)} and {len(after)} units and {samples} samples"
        )
    tail = (1 - confidence) / 2
    _quantile(confidence)
    gain_N = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    # One bootstrap sample at a time, because an array of samples x units would need gigabytes for long runs.
    means = [float(gain_N[rng.integers(0, gain_N.size, gain_N.size)].mean()) for _ in range(samples)]
    low, high = np.quantile(means, [tail, 1 - tail])
    return Difference(float(gain_N.mean()), float(low), float(high))


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Return the unbiased estimate of pass@k, the probability that at least one of k rollouts succeeds.

    The estimate is 1 - C(n - correct, k) / C(n, k). Source: M. Chen et al., Evaluating large language models trained on
    code, arXiv 2107.03374 (2021), equation 1.

    Args:
        n: Number of attempts.
        correct: Number of successful attempts.
        k: Number of attempts in the definition of pass@k.

    Raises:
        ValueError: The counts are not valid, or k is not between 1 and n.
    """
    _check_attempts(n, correct, k)
    return 1.0 - comb(n - correct, k) / comb(n, k)


def pass_hat_k(n: int, correct: int, k: int) -> float:
    """Return the unbiased estimate of pass^k, the probability that all of k rollouts succeed.

    The estimate is C(correct, k) / C(n, k). Source: S. Yao et al., tau-bench, arXiv 2406.12045 (2024), section 4. The
    arguments are those of `pass_at_k`.

    Raises:
        ValueError: `correct` is not between 0 and `n`, or `k` is not between 1 and `n`.
    """
    _check_attempts(n, correct, k)
    return comb(correct, k) / comb(n, k)


def _check_count(successes: int, n: int) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be between 0 and n, but found successes={successes} and n={n}")


def _check_attempts(n: int, correct: int, k: int) -> None:
    _check_count(correct, n)
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and the number of attempts, but found k={k} and {n} attempts")


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be greater than 0 and less than 1, such as 0.95, but found {confidence}")
    return NormalDist().inv_cdf((1 + confidence) / 2)
