"""Selection of the capabilities that explain failures, with a permutation control.

The label of a capability in a trajectory is PRESENT, LACKING, or NA if the trajectory does not need the capability. Let
`lacking` be the number of trajectories with the label LACKING, and `needed` the number of those with any label but NA.
The suffix ``-`` denotes failed and ``+`` passed trajectories. The metrics are those of the TRACE paper
(arXiv:2604.05336, section 3.3):

    ER- = lacking- / needed-     ER+ = lacking+ / needed+     gap = ER- - ER+     coverage = lacking- / failed

A capability is selected if gap >= delta and coverage >= rho. A rate with the denominator 0 is None. A gap is None if
one of its rates is None.

An agent that lacks a capability completely passes no task that needs the capability, so ER+ is None in the most severe
case. The gap over all trajectories, lacking- / failed - lacking+ / passed, then equals the coverage. The capability is
selected if the coverage reaches both thresholds and at least one trajectory passed. The reported gap is None, and a
remark explains the decision, because a task that no trajectory passes may be defective.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trace_gym.statistics import newcombe
from trace_gym.types import Capability, Label, Record, Trajectory


class Control(Record):
    """Permutation control: distribution of the gap if the outcomes are shuffled among the tasks."""

    mean: float | None
    """Mean gap over the permutations, near 0 by construction; None if no permutation has both rates."""
    high: float | None
    """95th percentile of the gap over the permutations."""
    p: float | None
    """Share of permutations with a gap of at least the observed gap. The observed order counts as a permutation."""
    permutations: int
    """Number of permutations with both rates."""


class Diagnosis(Record):
    """Capabilities that explain an agent's failures, with the labels and settings of the computation."""

    source: str
    n: int
    failed: int
    passed: int
    unscored: int
    """Trajectories without an outcome. They are labeled, but not counted elsewhere."""
    delta: float
    """Minimum gap of a selected capability."""
    rho: float
    """Minimum coverage of a selected capability."""
    capabilities: tuple[Capability, ...]
    """All capabilities, largest coverage first; empty if no trajectory failed."""
    remarks: dict[str, str]
    """Mapping from capability name to a remark: the reason why the capability was not selected, or why the evidence for
    the selection is weak."""
    control: dict[str, Control]
    labels: dict[str, dict[str, Label]]
    """Mapping from trajectory id to capability to label."""
    uncovered: tuple[str, ...]
    """Ids of failed trajectories in which no capability is LACKING."""
    unlabelled: tuple[str, ...]
    """Ids of trajectories that the analyst could not label, for example without a reference. All labels are NA."""
    analyst: str

    @property
    def selected(self) -> tuple[Capability, ...]:
        """Capabilities that were selected for training."""
        return tuple(c for c in self.capabilities if c.selected)


def score_capability(
    name: str,
    description: str,
    trajectories: Sequence[Trajectory],
    labels: Mapping[str, Mapping[str, Label]],
    *,
    delta: float,
    rho: float,
    analyst: str,
) -> tuple[Capability, str]:
    """Compute the metrics of a capability, and a remark on its selection, which may be empty.

    Args:
        name: Name of the capability.
        description: Description of the capability.
        trajectories: Trajectories with an outcome, at least one of which failed.
        labels: Mapping from trajectory id to capability to label, for all trajectories and capabilities.
        delta: Minimum gap of a selected capability.
        rho: Minimum coverage of a selected capability.
        analyst: Name of the analyst.
    """
    counts = {f"{label}_{outcome}": 0 for outcome in ("failed", "passed") for label in ("lacking", "present", "na")}
    for t in trajectories:
        counts[f"{labels[t.id][name].lower()}_{'passed' if t.success else 'failed'}"] += 1
    failed = sum(not t.success for t in trajectories)
    lacking_failed, needed_failed = (counts["lacking_failed"], counts["lacking_failed"] + counts["present_failed"])
    lacking_passed, needed_passed = (counts["lacking_passed"], counts["lacking_passed"] + counts["present_passed"])
    er_failed = lacking_failed / needed_failed if needed_failed else None
    er_passed = lacking_passed / needed_passed if needed_passed else None
    gap = None if er_failed is None or er_passed is None else er_failed - er_passed
    coverage = lacking_failed / failed
    interval = newcombe(lacking_failed, needed_failed, lacking_passed, needed_passed)
    selected, remark = _verdict(er_failed, gap, interval, coverage, delta, rho, any(t.success for t in trajectories))
    evidence = _evidence(name, trajectories, labels)
    capability = Capability(
        name=name,
        description=description,
        coverage=coverage,
        er_failed=er_failed,
        er_passed=er_passed,
        gap=gap,
        gap_interval=interval,
        labels=counts,
        selected=selected,
        evidence=tuple(t.id for t in evidence),
        contrast=_contrast(name, trajectories, labels, {t.task for t in evidence}),
        analyst=analyst,
    )
    return capability, remark


def permutation_control(
    name: str,
    trajectories: Sequence[Trajectory],
    labels: Mapping[str, Mapping[str, Label]],
    gap: float | None,
    rng: np.random.Generator,
    permutations: int,
) -> Control:
    """Shuffle the outcomes among the tasks, and compute the distribution of the gap.

    The trials of a task are not independent, so their outcomes are moved together, to a task with the same number of
    trials.
    """
    given = [labels[t.id][name] for t in trajectories]
    lacking_N = np.array([label == "LACKING" for label in given])
    needed_N = np.array([label != "NA" for label in given])
    passed_N = np.array([bool(t.success) for t in trajectories])
    blocks, gaps = _blocks(trajectories), []
    for _ in range(permutations):
        order_N = passed_N.copy()
        for block_TK in blocks:
            order_N[block_TK] = passed_N[rng.permutation(block_TK)]
        needed_failed, needed_passed = (int((needed_N & ~order_N).sum()), int((needed_N & order_N).sum()))
        if needed_failed and needed_passed:
            gaps.append((lacking_N & ~order_N).sum() / needed_failed - (lacking_N & order_N).sum() / needed_passed)
    if not gaps:
        return Control(mean=None, high=None, p=None, permutations=0)
    reached = sum(g >= gap - 1e-12 for g in gaps) if gap is not None else None
    return Control(
        mean=float(np.mean(gaps)),
        high=float(np.quantile(gaps, 0.95)),
        p=None if reached is None else (int(reached) + 1) / (len(gaps) + 1),
        permutations=len(gaps),
    )


def _blocks(trajectories: Sequence[Trajectory]) -> list[NDArray[np.int_]]:
    """Group the indices of the trajectories by number of trials per task.

    Each group is an array of the shape (tasks, trials).
    """
    by_task: dict[str, list[int]] = {}
    for n, t in enumerate(trajectories):
        by_task.setdefault(t.task, []).append(n)
    by_size: dict[int, list[list[int]]] = {}
    for positions in by_task.values():
        by_size.setdefault(len(positions), []).append(positions)
    return [np.array(tasks) for tasks in by_size.values()]


def lacking_capabilities(labels: Mapping[str, Label]) -> list[str]:
    """Return the capabilities that are LACKING in one trajectory."""
    return [name for name, label in labels.items() if label == "LACKING"]


def _verdict(
    er_failed: float | None,
    gap: float | None,
    interval: tuple[float, float] | None,
    coverage: float,
    delta: float,
    rho: float,
    something_passed: bool,
) -> tuple[bool, str]:
    """Return whether a capability is selected, and a remark, which may be empty."""
    if er_failed is None:
        return False, "no failed trajectory needs it"
    # Rounding errors must not reject a rate that equals the threshold.
    short = [f"coverage {coverage:.2f} is below {rho:.2f}"] if coverage < rho - 1e-9 else []
    if gap is None or interval is None:
        remark = "no successful trajectory needs it, so it has no gap"
        if not something_passed:
            return False, f"{remark}; no trajectory passed"
        if coverage < delta - 1e-9:
            return (False, f"{remark}; coverage {coverage:.2f} alone is below {max(delta, rho):.2f}")
        return not short, "; ".join([remark, *(short or ["selected by its coverage alone"])])
    short += [f"gap {gap:.2f} is below {delta:.2f}"] if gap < delta - 1e-9 else []
    if short:
        return False, " and ".join(short)
    return True, "selected, although the confidence interval of its gap contains 0" if interval[0] <= 0 else ""


def _evidence(
    name: str, trajectories: Sequence[Trajectory], labels: Mapping[str, Mapping[str, Label]]
) -> list[Trajectory]:
    """Return the failed trajectories that lack the capability, sorted by the number of capabilities that they lack."""
    found = [t for t in trajectories if not t.success and labels[t.id][name] == "LACKING"]
    return sorted(found, key=lambda t: (len(lacking_capabilities(labels[t.id])), len(t.messages), t.id))


def _contrast(
    name: str, trajectories: Sequence[Trajectory], labels: Mapping[str, Mapping[str, Label]], tasks: set[str]
) -> tuple[str, ...]:
    """Return the ids of successful trajectories that show the capability, starting with the tasks of the evidence."""
    found = [t for t in trajectories if t.success and labels[t.id][name] == "PRESENT"]
    return tuple(t.id for t in sorted(found, key=lambda t: (t.task not in tasks, len(t.messages), t.id)))
