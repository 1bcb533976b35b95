"""Permutation test and cluster bootstrap for the gap and the coverage of a capability.

The trajectories of one task are not independent. Both methods therefore resample whole tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trace_gym.diagnosis.records import Control, Summary
from trace_gym.statistics import Interval, newcombe, wilson
from trace_gym.types import Label

Bounds = tuple[float, float] | None
"""Lower and upper bound of a confidence interval."""
CHUNK = 2_000_000
"""Maximum number of outcomes that are permuted at once, which limits the memory usage."""


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of N trajectories, and the tasks to which they belong."""

    passed_N: NDArray[np.bool_]
    task_N: NDArray[np.int_]
    """Index of the task of each trajectory, starting at 0."""

    @classmethod
    def of(cls, trajectories: Sequence[Summary]) -> Outcomes:
        """Create the outcomes from trajectories, all of which must be scored."""
        numbers: dict[str, int] = {}
        tasks = [numbers.setdefault(t.task, len(numbers)) for t in trajectories]
        return cls(np.array([bool(t.success) for t in trajectories], bool), np.array(tasks, int))

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return int(self.task_N.max(initial=-1)) + 1

    @cached_property
    def _members(self) -> list[NDArray[np.int_]]:
        """Indices of the trajectories of each task."""
        order = np.argsort(self.task_N, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.task_N))[:-1])

    def permuted(self, rng: np.random.Generator, count: int) -> NDArray[np.bool_]:
        """Return `count` permutations of the outcomes, as an array of the shape (count, N).

        All outcomes of a task are moved together to a task with the same number of trajectories.
        """
        members = self._members
        permuted_PN = np.repeat(self.passed_N[None], count, axis=0)
        for size in {len(m) for m in members}:
            block_TK = np.array([m for m in members if len(m) == size])
            order_PT = np.argsort(rng.random((count, len(block_TK))), axis=1)
            permuted_PN[:, block_TK.ravel()] = self.passed_N[block_TK][order_PT].reshape(count, -1)
        return permuted_PN

    def redrawn(self, rng: np.random.Generator, count: int) -> NDArray[np.int_]:
        """Return how often each trajectory occurs in `count` bootstrap samples of the tasks, with shape (count, N)."""
        drawn_CT = rng.multinomial(self.tasks, np.full(self.tasks, 1 / self.tasks), size=count)
        return np.asarray(drawn_CT[:, self.task_N])


@dataclass(frozen=True)
class Tests:
    """Permutation control of a capability, and the confidence intervals of its metrics, None for undefined metrics."""

    control: Control
    gap: Bounds
    coverage: Bounds
    er_failed: Bounds
    er_passed: Bounds


def control_and_intervals(
    labels: Sequence[Label], outcomes: Outcomes, rng: np.random.Generator, permutations: int, confidence: float
) -> Tests:
    """Return the permutation control of a capability, and its confidence intervals.

    If no passed trajectory needs the capability, the gap is undefined. The control then tests the coverage.

    Args:
        labels: Label of the capability in each trajectory.
        outcomes: Outcomes of the trajectories, in the same order.
        rng: Source of randomness.
        permutations: Number of permutations and of bootstrap samples.
        confidence: Confidence level of the intervals.
    """
    lacking_N, needed_N = (np.array([v == "LACKING" for v in labels]), np.array([v != "NA" for v in labels]))
    passed_N = outcomes.passed_N
    statistic = "gap" if (needed_N & passed_N).any() else "coverage"
    values = []
    for count in _chunks(permutations, len(passed_N)):
        gaps, coverages = _rates(lacking_N, needed_N, ~outcomes.permuted(rng, count))
        values.append(gaps if statistic == "gap" else coverages)
    (gap,), (coverage,) = _rates(lacking_N, needed_N, ~passed_N[None])
    control = _control(np.concatenate(values or [np.empty(0)]), gap if statistic == "gap" else coverage, statistic)
    return Tests(control, **_intervals(lacking_N, needed_N, outcomes, rng, permutations, confidence))


def _chunks(count: int, width: int) -> list[int]:
    size = max(1, CHUNK // max(1, width))
    return [min(size, count - start) for start in range(0, count, size)]


def _rates(
    lacking_N: NDArray[np.bool_], needed_N: NDArray[np.bool_], failed_PN: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gap and the coverage for each row of outcomes. Undefined values are NaN."""
    failed = failed_PN.astype(np.float64)
    lacking_failed, needed_failed = failed @ lacking_N, failed @ needed_N
    lacking_passed, needed_passed = lacking_N.sum() - lacking_failed, needed_N.sum() - needed_failed
    with np.errstate(divide="ignore", invalid="ignore"):
        return lacking_failed / needed_failed - lacking_passed / needed_passed, lacking_failed / failed.sum(axis=1)


def _control(values: NDArray[np.float64], observed: float, statistic: str) -> Control:
    values = values[~np.isnan(values)]
    if not len(values) or np.isnan(observed):
        return Control(mean=None, high=None, p=None, permutations=0, statistic=statistic)
    reached = int((values >= observed - 1e-12).sum())
    return Control(
        mean=float(values.mean()),
        high=float(np.quantile(values, 0.95)),
        p=(reached + 1) / (len(values) + 1),
        permutations=len(values),
        statistic=statistic,
    )


def _intervals(
    lacking_N: NDArray[np.bool_],
    needed_N: NDArray[np.bool_],
    outcomes: Outcomes,
    rng: np.random.Generator,
    samples: int,
    confidence: float,
) -> dict[str, Bounds]:
    """Return the confidence intervals of the metrics, by the names of the fields of `Tests`.

    Each is the smallest interval that contains two others. The first one is a bootstrap interval over tasks, which
    accounts for the dependence between the trajectories of a task, but has no width if a rate is 0 or 1. The second one
    handles such rates: the interval of Newcombe's method 10 for the gap, and the Wilson score interval for the others
    (see `trace_gym.statistics`).
    """
    failed_N, passed_N = ~outcomes.passed_N, outcomes.passed_N
    sums = [lacking_N & failed_N, needed_N & failed_N, lacking_N & passed_N, needed_N & passed_N, failed_N]
    lacked_failed, need_failed, lacked_passed, need_passed, all_failed = (int(own_N.sum()) for own_N in sums)
    exact = {
        "gap": newcombe(lacked_failed, need_failed, lacked_passed, need_passed, confidence),
        "coverage": wilson(lacked_failed, all_failed, confidence),
        "er_failed": wilson(lacked_failed, need_failed, confidence),
        "er_passed": wilson(lacked_passed, need_passed, confidence),
    }
    drawn: dict[str, list[NDArray[np.float64]]] = {name: [np.empty(0)] for name in exact}
    for count in _chunks(samples, len(failed_N)):
        times_CN = outcomes.redrawn(rng, count).astype(np.float64)
        lacking_failed, needed_failed, lacking_passed, needed_passed, failed = (times_CN @ own_N for own_N in sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn["er_failed"].append(lacking_failed / needed_failed)
            drawn["er_passed"].append(lacking_passed / needed_passed)
            drawn["coverage"].append(lacking_failed / failed)
        drawn["gap"].append(drawn["er_failed"][-1] - drawn["er_passed"][-1])
    return {name: _hull(exact[name], np.concatenate(values), confidence) for name, values in drawn.items()}


def _hull(exact: Interval | None, drawn: NDArray[np.float64], confidence: float) -> Bounds:
    """Return the smallest interval that contains `exact` and the percentile interval of bootstrap samples."""
    drawn = drawn[~np.isnan(drawn)]
    if exact is None or not len(drawn):
        return exact
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return min(exact.low, float(low)), max(exact.high, float(high))


def holm(p_values: dict[str, float | None]) -> dict[str, float | None]:
    """Correct p-values for the number of tests by Holm's method.

    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979).

    Args:
        p_values: Mapping from name to p-value. Tests without a p-value are not counted.
    """
    tested = sorted((p, name) for name, p in p_values.items() if p is not None)
    corrected: dict[str, float | None] = dict.fromkeys(p_values)
    largest = 0.0
    for done, (p, name) in enumerate(tested):
        corrected[name] = largest = max(largest, min(1.0, p * (len(tested) - done)))
    return corrected
