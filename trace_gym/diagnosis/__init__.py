"""Diagnosis of an agent: comparison of failed and successful trajectories to find missing capabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from trace_gym.diagnosis.rules import RuleAnalyst
from trace_gym.diagnosis.selection import (
    Control,
    Diagnosis,
    lacking_capabilities,
    permutation_control,
    score_capability,
)
from trace_gym.diagnosis.tables import markdown, render
from trace_gym.errors import ConfigError
from trace_gym.types import Label, Trajectory

__all__ = ["Analyst", "Control", "Diagnosis", "RuleAnalyst", "diagnose", "markdown", "render"]


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

    def label(self, trajectories: Sequence[Trajectory]) -> Mapping[str, Mapping[str, Label]]:
        """Return a mapping from trajectory id to capability to label.

        Trajectories that cannot be labeled are omitted.
        """
        ...


def diagnose(
    trajectories: Sequence[Trajectory],
    *,
    delta: float = 0.20,
    rho: float = 0.10,
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
        analyst: ``"rules"``, or an `Analyst`.
        permutations: Number of permutations of the outcomes in the permutation control.
        seed: Seed of the permutation control.

    Raises:
        ConfigError: A threshold is not between 0 and 1, an id occurs twice, or the analyst is unknown.
    """
    _check(trajectories, delta, rho, permutations)
    chosen_analyst = _analyst(analyst)
    analyst_labels = chosen_analyst.label(trajectories)
    labels: dict[str, dict[str, Label]] = {
        t.id: {
            name: analyst_labels[t.id].get(name, "NA") if t.id in analyst_labels else "NA"
            for name in chosen_analyst.descriptions
        }
        for t in trajectories
    }
    scored = [t for t in trajectories if t.success is not None]
    failed = [t for t in scored if not t.success]
    scored_capabilities = [
        score_capability(name, text, scored, labels, delta=delta, rho=rho, analyst=chosen_analyst.name)
        for name, text in (chosen_analyst.descriptions.items() if failed else ())
    ]
    scored_capabilities.sort(key=lambda pair: (-pair[0].coverage, pair[0].name))
    rng = np.random.default_rng(seed)
    return Diagnosis(
        source=", ".join(sorted({t.source for t in trajectories} - {""})),
        n=len(trajectories),
        failed=len(failed),
        passed=len(scored) - len(failed),
        unscored=len(trajectories) - len(scored),
        delta=delta,
        rho=rho,
        capabilities=tuple(capability for capability, _ in scored_capabilities),
        remarks={capability.name: remark for capability, remark in scored_capabilities if remark},
        control={
            c.name: permutation_control(c.name, scored, labels, c.gap, rng, permutations)
            for c, _ in scored_capabilities
        },
        labels=labels,
        uncovered=tuple(t.id for t in failed if t.id in analyst_labels and not lacking_capabilities(labels[t.id])),
        unlabelled=tuple(t.id for t in trajectories if t.id not in analyst_labels),
        analyst=chosen_analyst.name,
    )


def _analyst(analyst: Analyst | str) -> Analyst:
    if not isinstance(analyst, str):
        return analyst
    if analyst != "rules":
        raise ConfigError(
            f"unknown analyst: found {analyst!r}, expected 'rules' or an object with `descriptions` and `label`"
        )
    return RuleAnalyst()


def _check(trajectories: Sequence[Trajectory], delta: float, rho: float, permutations: int) -> None:
    for name, value in (("delta", delta), ("rho", rho)):
        if not 0 <= value <= 1:
            raise ConfigError(f"invalid {name}: found {value}, expected a number from 0 to 1, such as 0.2")
    if permutations < 0:
        raise ConfigError(f"invalid permutations: found {permutations}, expected 0 or more")
    if repeated := [i for i, count in Counter(t.id for t in trajectories).items() if count > 1]:
        raise ConfigError(
            f"{len(repeated)} trajectory ids occur more than once, for example {repeated[0]!r}. Pass the "
            "trajectories of one run of one agent"
        )
