"""From labels to capabilities: error rates, contrast, coverage, and a control (paper, section 3.3).

With LACKING and needed (not NA) counted among the failed (-) and the passed (+) trajectories,

    ER- = lacking- / needed-     ER+ = lacking+ / needed+     gap = ER- - ER+     coverage = lacking- / failed

and a capability is retained when gap >= delta and coverage >= rho. A rate without a denominator is None,
never 0, and so is a gap that lacks a rate.

An agent that lacks a capability altogether passes no task that needs it, so ER+ has no denominator just where
the deficit is greatest. Then the contrast falls back on all trajectories, lacking- / failed - lacking+ / passed,
which is the coverage: the capability is retained when the coverage reaches both thresholds and something passed.
Its gap stays None and a remark says what the decision rests on, since tasks that nobody passes may be broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trace_gym.statistics import newcombe
from trace_gym.types import Capability, Label, Record, Trajectory


class Control(Record):
    """The gap with outcomes shuffled among the tasks: what chance alone would show."""

    mean: float | None
    """Mean gap over the permutations, near 0 by construction; None when no permutation has both rates."""
    high: float | None
    """The gap that 95 % of the permutations stay below."""
    p: float | None
    """Share of the permutations whose gap reaches the observed one, counting the observed order as one of them."""
    permutations: int
    """How many had both rates."""


class Diagnosis(Record):
    """The capabilities that explain an agent's failures, with everything they were computed from."""

    source: str
    n: int
    failed: int
    passed: int
    unscored: int
    """Neither passed nor failed; labelled, and counted nowhere else."""
    delta: float
    """Least gap of a retained capability."""
    rho: float
    """Least coverage of a retained capability."""
    capabilities: tuple[Capability, ...]
    """Every candidate, largest coverage first; empty when nothing failed."""
    remarks: dict[str, str]
    """Capability -> why it was not retained, or what makes its retention weak."""
    control: dict[str, Control]
    labels: dict[str, dict[str, Label]]
    """Trajectory id -> capability -> label."""
    uncovered: tuple[str, ...]
    """Failures in which no capability is LACKING."""
    unlabelled: tuple[str, ...]
    """Trajectories that the analyst could not judge (no reference, say): NA throughout."""
    analyst: str

    @property
    def retained(self) -> tuple[Capability, ...]:
        """The capabilities to train."""
        return tuple(c for c in self.capabilities if c.retained)


def weigh(
    name: str,
    description: str,
    trajectories: Sequence[Trajectory],
    labels: Mapping[str, Mapping[str, Label]],
    *,
    delta: float,
    rho: float,
    analyst: str,
) -> tuple[Capability, str]:
    """One capability's figures, and a remark on its retention ('' when there is none to make).

    Args:
        trajectories: Scored ones only, at least one of them failed.
        labels: Trajectory id -> capability -> label, complete.
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
    retained, remark = _verdict(er_failed, gap, interval, coverage, delta, rho, any(t.success for t in trajectories))
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
        retained=retained,
        evidence=tuple(t.id for t in evidence),
        contrast=_contrast(name, trajectories, labels, {t.task for t in evidence}),
        analyst=analyst,
    )
    return capability, remark


def shuffled(
    name: str,
    trajectories: Sequence[Trajectory],
    labels: Mapping[str, Mapping[str, Label]],
    gap: float | None,
    rng: np.random.Generator,
    permutations: int,
) -> Control:
    """Shuffle the outcomes among the tasks and look at the gap again.

    The trials of a task keep their outcomes together, since they are not independent; outcomes change places
    among tasks with as many trials.
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
    """Positions of the trajectories, one array (tasks x trials) for each number of trials."""
    by_task: dict[str, list[int]] = {}
    for n, t in enumerate(trajectories):
        by_task.setdefault(t.task, []).append(n)
    by_size: dict[int, list[list[int]]] = {}
    for positions in by_task.values():
        by_size.setdefault(len(positions), []).append(positions)
    return [np.array(tasks) for tasks in by_size.values()]


def lacking(labels: Mapping[str, Label]) -> list[str]:
    """The capabilities that are LACKING in one trajectory."""
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
    """Whether a capability is retained, and what to say about it."""
    if er_failed is None:
        return False, "no failed trajectory needs it"
    # Rates are ratios of counts; a threshold met exactly must not be missed by rounding.
    short = [f"coverage {coverage:.2f} is below {rho:.2f}"] if coverage < rho - 1e-9 else []
    if gap is None or interval is None:
        remark = "no successful trajectory needs it, so it has no gap"
        if not something_passed:
            return False, f"{remark}; nothing passed"
        if coverage < delta - 1e-9:
            return (False, f"{remark}; coverage {coverage:.2f} alone is below {max(delta, rho):.2f}")
        return not short, "; ".join([remark, *(short or ["kept on its coverage alone"])])
    short += [f"gap {gap:.2f} is below {delta:.2f}"] if gap < delta - 1e-9 else []
    if short:
        return False, " and ".join(short)
    return True, "kept, though the interval of its gap reaches 0" if interval[0] <= 0 else ""


def _evidence(
    name: str, trajectories: Sequence[Trajectory], labels: Mapping[str, Mapping[str, Label]]
) -> list[Trajectory]:
    """Failures that lack it, those that lack the fewest other capabilities first, then the shortest."""
    found = [t for t in trajectories if not t.success and labels[t.id][name] == "LACKING"]
    return sorted(found, key=lambda t: (len(lacking(labels[t.id])), len(t.messages), t.id))


def _contrast(
    name: str, trajectories: Sequence[Trajectory], labels: Mapping[str, Mapping[str, Label]], tasks: set[str]
) -> tuple[str, ...]:
    """Successes that exercise it, those on a task of the evidence first."""
    found = [t for t in trajectories if t.success and labels[t.id][name] == "PRESENT"]
    return tuple(t.id for t in sorted(found, key=lambda t: (t.task not in tasks, len(t.messages), t.id)))
