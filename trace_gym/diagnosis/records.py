"""Data classes for the result of a diagnosis."""

from __future__ import annotations

from typing import NamedTuple

from pydantic import field_validator

from trace_gym.types import Capability, Label, Record, Trajectory
from trace_gym.types.base import FORMAT_VERSION, upgraded


class Summary(NamedTuple):
    """The part of a trajectory that a diagnosis keeps in memory."""

    id: str
    task: str
    success: bool | None
    turns: int
    """Number of messages."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> Summary:
        """Return the summary of a trajectory."""
        return cls(trajectory.id, trajectory.task, trajectory.success, len(trajectory.messages))


class Control(Record):
    """Permutation control: distribution of a capability's statistic when outcomes are shuffled among the tasks."""

    mean: float | None
    """Mean of the statistic over the permutations; None if the statistic is undefined. The mean gap is near 0."""
    high: float | None
    """95th percentile of the statistic over the permutations."""
    p: float | None
    """Fraction of permutations in which the statistic is at least as large as the observed value. The observed order
    counts as one of the permutations."""
    permutations: int
    """Number of permutations in which the statistic is defined."""
    statistic: str = "gap"
    """``gap``, or ``coverage`` if no passed trajectory needs the capability."""
    corrected: float | None = None
    """`p`, corrected for the number of capabilities (Holm)."""


class Diagnosis(Record):
    """Capabilities that explain an agent's failures, with the labels and settings of the computation."""

    version: int = FORMAT_VERSION
    """Format version of the file."""
    source: str
    """Names of the results from which the trajectories were read."""
    n: int
    """Number of trajectories."""
    failed: int
    passed: int
    unscored: int
    """Trajectories without an outcome. They are labeled, but not counted elsewhere."""
    delta: float
    """Minimum gap of a selected capability."""
    rho: float
    """Minimum coverage of a selected capability."""
    alpha: float = 1.0
    """Significance level of the permutation test. The value 1 disables the test, as in files of earlier versions."""
    confidence: float = 0.95
    """Confidence level of the intervals. The interval of a selected capability's gap does not contain 0."""
    runs: int = 1
    """Number of label runs."""
    consistent: float = 0.0
    """Minimum fraction of the label runs in which a selected capability reaches `delta` and `rho`."""
    capabilities: tuple[Capability, ...]
    """Capabilities that at least one trajectory needs, sorted by decreasing coverage; empty if no trajectory failed."""
    remarks: dict[str, str]
    """Mapping from capability name to a remark: the reason why the capability was not selected, or why the evidence for
    the selection is weak."""
    control: dict[str, Control]
    """Mapping from capability name to its permutation control."""
    labels: dict[str, dict[str, Label]]
    """Mapping from trajectory id to capability to the most frequent label of all runs."""
    uncovered: tuple[str, ...]
    """Ids of failed trajectories in which no capability is LACKING: the failures that the analyst cannot explain."""
    unlabelled: tuple[str, ...]
    """Ids of trajectories that the analyst could not label, for example because they have no reference. All of their
    labels are NA."""
    analyst: str
    """Name of the analyst that assigned the labels."""
    notes: tuple[str, ...] = ()
    """Notes of the analyst, such as the registered capabilities that it matched, and the number of missing labels."""

    @field_validator("version")
    @classmethod
    def _upgraded(cls, version: int) -> int:
        """Return the current version for a diagnosis that was upgraded while it was read."""
        return upgraded(version)

    @property
    def selected(self) -> tuple[Capability, ...]:
        """Capabilities that were selected for training."""
        return tuple(c for c in self.capabilities if c.selected)
