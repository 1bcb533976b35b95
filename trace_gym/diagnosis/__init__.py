"""Diagnosis of an agent: comparison of failed and successful trajectories to find missing capabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from trace_gym.diagnosis.given import GivenLabels
from trace_gym.diagnosis.records import Control, Diagnosis
from trace_gym.diagnosis.rule_analyst import RuleAnalyst
from trace_gym.diagnosis.selection import Criteria, Labels, lacking_capabilities, majority, select
from trace_gym.diagnosis.tables import markdown, render
from trace_gym.errors import ConfigError
from trace_gym.types import Trajectory

__all__ = ["Analyst", "Control", "Diagnosis", "GivenLabels", "RuleAnalyst", "diagnose", "markdown", "render"]


class Analyst(Protocol):
    """Interface for labeling trajectories, by rules or with a language model."""

    @property
    def name(self) -> str:
        """Name of the analyst in reports."""
        ...

    @property
    def descriptions(self) -> Mapping[str, str]:
        """Mapping from capability name to description, in a fixed order."""
        ...

    def label(self, trajectories: Sequence[Trajectory]) -> Sequence[Labels]:
        """Return one or more label runs: mappings from trajectory id to capability to label.

        Rules label once. A language model can label several times, because its answers vary. Trajectories that cannot
        be labeled are omitted from a run.
        """
        ...


def diagnose(
    trajectories: Sequence[Trajectory],
    *,
    delta: float = 0.20,
    rho: float = 0.10,
    alpha: float = 0.05,
    consistent: float = 0.8,
    analyst: Analyst | str = "rules",
    permutations: int = 1000,
    seed: int = 0,
) -> Diagnosis:
    """Find the capabilities whose lack explains an agent's failures.

    Args:
        trajectories: Passed and failed trajectories of one agent, with unique ids.
        delta: Minimum gap of a selected capability. The gap is the difference between the error rates of failed and
            passed trajectories.
        rho: Minimum coverage of a selected capability. The coverage is the share of failures that lack the capability.
        alpha: Level of the permutation test: a selected capability has a p-value below `alpha`, corrected for the
            number of capabilities, and the confidence interval of its gap does not contain 0. 1 disables both.
        consistent: Minimum share of the label runs in which a selected capability reaches `delta` and `rho`.
        analyst: ``"rules"``, or an `Analyst`.
        permutations: Number of permutations of the outcomes in the permutation control.
        seed: Seed of the permutation control.

    Raises:
        ConfigError: A threshold is not between 0 and 1, an id occurs twice, or the analyst is unknown.
    """
    _check(trajectories, {"delta": delta, "rho": rho, "alpha": alpha, "consistent": consistent}, permutations)
    chosen = _analyst(analyst)
    given = chosen.label(trajectories)
    ids, names = [t.id for t in trajectories], list(chosen.descriptions)
    labels = majority(given, ids, names)
    runs = [majority([run], ids, names) for run in given]
    labeled = {i for run in given for i in run}
    scored = [t for t in trajectories if t.success is not None]
    failed = [t for t in scored if not t.success]
    needed = {name for own in labels.values() for name, label in own.items() if label != "NA"}
    capabilities, remarks, control = select(
        {name: text for name, text in chosen.descriptions.items() if name in needed} if failed else {},
        scored,
        labels,
        runs,
        Criteria(delta, rho, alpha, consistent),
        analyst=chosen.name,
        permutations=permutations,
        seed=seed,
    )
    return Diagnosis(
        source=", ".join(sorted({t.source for t in trajectories} - {""})),
        n=len(trajectories),
        failed=len(failed),
        passed=len(scored) - len(failed),
        unscored=len(trajectories) - len(scored),
        delta=delta,
        rho=rho,
        alpha=alpha,
        runs=len(runs),
        consistent=consistent,
        capabilities=tuple(capabilities),
        remarks=remarks,
        control=control,
        labels=labels,
        uncovered=tuple(t.id for t in failed if t.id in labeled and not lacking_capabilities(labels[t.id])),
        unlabelled=tuple(t.id for t in trajectories if t.id not in labeled),
        analyst=chosen.name,
    )


def _analyst(analyst: Analyst | str) -> Analyst:
    if not isinstance(analyst, str):
        return analyst
    if analyst != "rules":
        raise ConfigError(
            f"unknown analyst: found {analyst!r}, expected 'rules' or an object with `descriptions` and `label`"
        )
    return RuleAnalyst()


def _check(trajectories: Sequence[Trajectory], shares: Mapping[str, float], permutations: int) -> None:
    for name, value in shares.items():
        if not 0 <= value <= 1:
            raise ConfigError(f"invalid {name}: found {value}, expected a number from 0 to 1, such as 0.2")
    if permutations < 0:
        raise ConfigError(f"invalid permutations: found {permutations}, expected 0 or more")
    if repeated := [i for i, count in Counter(t.id for t in trajectories).items() if count > 1]:
        raise ConfigError(
            f"{len(repeated)} trajectory ids occur more than once, for example {repeated[0]!r}. Pass the "
            "trajectories of one run of one agent"
        )
