"""Selection of the capabilities that explain failures.

The label of a capability in a trajectory is PRESENT, LACKING, or NA if the trajectory does not need the capability. Let
`lacking` be the number of trajectories with the label LACKING, and `needed` the number of those with a label other than
NA. The suffix ``-`` denotes failed and ``+`` passed trajectories. The metrics are those of the TRACE paper
(arXiv:2604.05336, section 3.3):

    ER- = lacking- / needed-     ER+ = lacking+ / needed+     gap = ER- - ER+     coverage = lacking- / failed

A capability is selected if

1. gap >= delta and coverage >= rho,
2. if the analyst returns several label runs, this is also true in at least the fraction `consistent` of them,
3. the p-value of the permutation control is below alpha. It is corrected for the number of capabilities that are
   lacking in enough trajectories for a coverage of rho, and
4. the confidence interval of the gap does not contain 0.

A rate with the denominator 0 is None, and so is a gap that depends on it. In the most severe case, an agent lacks a
capability completely and passes no task that needs it, so that ER+ is None. The gap over all trajectories, lacking- /
failed - lacking+ / passed, then equals the coverage. In this case, the coverage must reach both thresholds, the control
tests the coverage, and there is no interval. A remark explains the decision, because a task that no trajectory passes
may be defective.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trace_gym.diagnosis.records import Control, Summary
from trace_gym.diagnosis.resampling import Outcomes, control_and_intervals, holm
from trace_gym.types import Capability, Label

Labels = Mapping[str, Mapping[str, Label]]
"""Mapping from trajectory id to capability to label."""


@dataclass(frozen=True)
class Criteria:
    """Thresholds that a capability must reach to be selected."""

    delta: float
    rho: float
    alpha: float
    consistent: float
    confidence: float
    """Confidence level of the intervals."""


@dataclass(frozen=True)
class Rates:
    """Metrics of one capability. The fields correspond to those of `Capability`."""

    counts: dict[str, int]
    er_failed: float | None
    er_passed: float | None
    gap: float | None
    coverage: float

    @classmethod
    def of(cls, name: str, trajectories: Sequence[Summary], labels: Labels) -> Rates:
        """Compute the metrics of a capability from scored trajectories, at least one of which failed."""
        counts = {f"{label}_{outcome}": 0 for outcome in ("failed", "passed") for label in ("lacking", "present", "na")}
        for t in trajectories:
            counts[f"{labels[t.id][name].lower()}_{'passed' if t.success else 'failed'}"] += 1
        failed = sum(not t.success for t in trajectories)
        er_failed, er_passed = (_error_rate(counts, "failed"), _error_rate(counts, "passed"))
        gap = None if er_failed is None or er_passed is None else er_failed - er_passed
        return cls(counts, er_failed, er_passed, gap, counts["lacking_failed"] / failed)

    def shortfall(self, delta: float, rho: float) -> str:
        """Return the reason why the metrics do not reach the thresholds, or an empty string if they do."""
        if self.er_failed is None:
            return "no failed trajectory needs it"
        # Rounding errors must not reject a rate that equals the threshold.
        short = [f"coverage {self.coverage:.2f} is below {rho:.2f}"] if self.coverage < rho - 1e-9 else []
        if self.gap is not None:
            short += [f"gap {self.gap:.2f} is below {delta:.2f}"] if self.gap < delta - 1e-9 else []
        elif not short and self.coverage < delta - 1e-9:
            short = [f"coverage {self.coverage:.2f} alone is below {max(delta, rho):.2f}"]
        return " and ".join(short)


def _error_rate(counts: Mapping[str, int], outcome: str) -> float | None:
    needed = counts[f"lacking_{outcome}"] + counts[f"present_{outcome}"]
    return counts[f"lacking_{outcome}"] / needed if needed else None


def majority(runs: Sequence[Labels], ids: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, Label]]:
    """Return the most frequent label of each trajectory and capability.

    The label is NA if two labels are equally frequent. Runs in which the label is missing are not counted.
    """
    distinct: dict[tuple[Label, ...], dict[str, Label]] = {}  # most trajectories have the labels of an earlier one
    found: dict[str, dict[str, Label]] = {}
    for i in ids:
        own = tuple(_mode([run[i][name] for run in runs if name in run.get(i, {})]) for name in names)
        found[i] = distinct.setdefault(own, dict(zip(names, own, strict=True)))
    return found


def _mode(values: Sequence[Label]) -> Label:
    ranked = Counter(values).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return "NA"
    return ranked[0][0]


def select(
    descriptions: Mapping[str, str],
    trajectories: Sequence[Summary],
    labels: Labels,
    runs: Sequence[Labels],
    criteria: Criteria,
    *,
    analyst: str,
    permutations: int,
    seed: int,
) -> tuple[list[Capability], dict[str, str], dict[str, Control]]:
    """Return all capabilities sorted by coverage, remarks on their selection, and their permutation controls.

    Args:
        descriptions: Mapping from capability name to description.
        trajectories: Trajectories with an outcome, at least one of which failed.
        labels: The most frequent label of each trajectory and capability.
        runs: Labels of each run of the analyst, for all trajectories and capabilities.
        criteria: Thresholds of the selection.
        analyst: Name of the analyst.
        permutations: Number of permutations in the control.
        seed: Seed of the control.
    """
    rng, outcomes = np.random.default_rng(seed), Outcomes.of(trajectories)
    rates = {name: Rates.of(name, trajectories, labels) for name in descriptions}
    tests = {
        name: control_and_intervals(
            [labels[t.id][name] for t in trajectories], outcomes, rng, permutations, criteria.confidence
        )
        for name in descriptions
    }
    corrected = holm(
        {name: tests[name].control.p for name in descriptions if _can_be_selected(rates[name], criteria.rho)}
    )
    controls = {
        name: test.control.model_copy(update={"corrected": corrected.get(name)}) for name, test in tests.items()
    }
    capabilities, remarks = [], {}
    for name, description in descriptions.items():
        found, interval = rates[name], tests[name].gap
        in_runs = [Rates.of(name, trajectories, run) for run in runs]
        frequency = sum(not r.shortfall(criteria.delta, criteria.rho) for r in in_runs) / len(in_runs)
        reason = _rejection(found, interval, controls[name], frequency, trajectories, criteria)
        evidence = _evidence(name, trajectories, labels)
        if remark := _remark(found, reason):
            remarks[name] = remark
        capabilities.append(
            Capability(
                name=name,
                description=description,
                coverage=found.coverage,
                er_failed=found.er_failed,
                er_passed=found.er_passed,
                gap=found.gap,
                gap_interval=interval,
                coverage_interval=tests[name].coverage,
                er_failed_interval=tests[name].er_failed,
                er_passed_interval=tests[name].er_passed,
                run_coverages=tuple(r.coverage for r in in_runs),
                labels=found.counts,
                selected=not reason,
                frequency=frequency,
                evidence=tuple(t.id for t in evidence),
                contrast=_contrast(name, trajectories, labels, {t.task for t in evidence}),
                analyst=analyst,
            )
        )
    capabilities.sort(key=lambda c: (-c.coverage, c.name))
    return capabilities, {c.name: remarks[c.name] for c in capabilities if c.name in remarks}, controls


def _can_be_selected(rates: Rates, rho: float) -> bool:
    """Return whether enough trajectories lack a capability that its coverage could reach `rho` for some outcomes.

    The correction for the number of tests counts only these capabilities. It remains valid, because the result does not
    depend on how the outcomes are permuted.
    """
    counts = rates.counts
    failed = counts["lacking_failed"] + counts["present_failed"] + counts["na_failed"]
    return counts["lacking_failed"] + counts["lacking_passed"] >= max(1, rho * failed - 1e-9)


def _rejection(
    rates: Rates,
    interval: tuple[float, float] | None,
    control: Control,
    frequency: float,
    trajectories: Sequence[Summary],
    criteria: Criteria,
) -> str:
    """Return the reason why a capability is not selected, or an empty string if it is selected."""
    if rates.gap is None and rates.er_failed is not None and not any(t.success for t in trajectories):
        return "no trajectory passed"
    if short := rates.shortfall(criteria.delta, criteria.rho):
        return short
    if frequency < criteria.consistent - 1e-9:
        return f"reached the thresholds in {frequency:.0%} of the label runs, which is below {criteria.consistent:.0%}"
    if criteria.alpha >= 1:
        return ""
    if control.corrected is None:
        return "it has no p-value, because the outcomes were not permuted"
    if control.corrected >= criteria.alpha:
        found = f"{control.corrected:.3f}"
        return f"corrected p {found} is not below {criteria.alpha:g}, so chance explains the {control.statistic}"
    if interval is not None and interval[0] <= 0:
        return "the confidence interval of its gap contains 0"
    return ""


def _remark(rates: Rates, reason: str) -> str:
    if rates.gap is None and rates.er_failed is not None:
        return f"no successful trajectory needs it, so it has no gap; {reason or 'selected by its coverage alone'}"
    return reason


def lacking_capabilities(labels: Mapping[str, Label]) -> list[str]:
    """Return the capabilities whose label in a trajectory is LACKING."""
    return [name for name, label in labels.items() if label == "LACKING"]


def _evidence(name: str, trajectories: Sequence[Summary], labels: Labels) -> list[Summary]:
    """Return the failed trajectories that lack a capability, starting with those that lack the fewest capabilities."""
    found = [t for t in trajectories if not t.success and labels[t.id][name] == "LACKING"]
    return sorted(found, key=lambda t: (len(lacking_capabilities(labels[t.id])), t.turns, t.id))


def _contrast(name: str, trajectories: Sequence[Summary], labels: Labels, tasks: set[str]) -> tuple[str, ...]:
    """Return the ids of successful trajectories that show a capability.

    Trajectories of `tasks`, which are the tasks of the evidence, come first.
    """
    found = [t for t in trajectories if t.success and labels[t.id][name] == "PRESENT"]
    return tuple(t.id for t in sorted(found, key=lambda t: (t.task not in tasks, t.turns, t.id)))
