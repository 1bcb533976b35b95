"""Diagnose: contrast failed with successful trajectories and find the capabilities that explain the failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from trace_gym.diagnose.rules import RuleAnalyst
from trace_gym.diagnose.select import Control, Diagnosis, lacking, shuffled, weigh
from trace_gym.diagnose.show import markdown, render
from trace_gym.errors import ConfigError
from trace_gym.types import Label, Trajectory

__all__ = ["Analyst", "Control", "Diagnosis", "RuleAnalyst", "diagnose", "markdown", "render"]


class Analyst(Protocol):
    """Who labels trajectories: by rules, or by asking a model."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def descriptions(self) -> Mapping[str, str]:
        """Capability -> its description, in a fixed order."""
        ...

    def label(self, trajectories: Sequence[Trajectory]) -> Mapping[str, Mapping[str, Label]]:
        """Trajectory id -> capability -> label; trajectories that cannot be judged are left out."""
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
        trajectories: One agent's, passed and failed; ids must differ.
        delta: Least contrastive gap of a retained capability.
        rho: Least share of the failures that it must account for.
        analyst: ``"rules"``, or an `Analyst`.
        permutations: How often the control shuffles the outcomes.
        seed: Of the control.

    Raises:
        ConfigError: A threshold is no share, an id occurs twice, or the analyst is unknown.
    """
    _check(trajectories, delta, rho, permutations)
    judge = _analyst(analyst)
    given = judge.label(trajectories)
    labels: dict[str, dict[str, Label]] = {
        t.id: {name: given[t.id].get(name, "NA") if t.id in given else "NA" for name in judge.descriptions}
        for t in trajectories
    }
    scored = [t for t in trajectories if t.success is not None]
    failed = [t for t in scored if not t.success]
    weighed = [
        weigh(name, text, scored, labels, delta=delta, rho=rho, analyst=judge.name)
        for name, text in (judge.descriptions.items() if failed else ())
    ]
    weighed.sort(key=lambda pair: (-pair[0].coverage, pair[0].name))
    rng = np.random.default_rng(seed)
    return Diagnosis(
        source=", ".join(sorted({t.source for t in trajectories} - {""})),
        n=len(trajectories),
        failed=len(failed),
        passed=len(scored) - len(failed),
        unscored=len(trajectories) - len(scored),
        delta=delta,
        rho=rho,
        capabilities=tuple(capability for capability, _ in weighed),
        remarks={capability.name: remark for capability, remark in weighed if remark},
        control={c.name: shuffled(c.name, scored, labels, c.gap, rng, permutations) for c, _ in weighed},
        labels=labels,
        uncovered=tuple(t.id for t in failed if t.id in given and not lacking(labels[t.id])),
        unlabelled=tuple(t.id for t in trajectories if t.id not in given),
        analyst=judge.name,
    )


def _analyst(analyst: Analyst | str) -> Analyst:
    if not isinstance(analyst, str):
        return analyst
    if analyst != "rules":
        raise ConfigError(
            f"there is no analyst {analyst!r}; give 'rules', or an object with `descriptions` and `label`"
        )
    return RuleAnalyst()


def _check(trajectories: Sequence[Trajectory], delta: float, rho: float, permutations: int) -> None:
    for name, value in (("delta", delta), ("rho", rho)):
        if not 0 <= value <= 1:
            raise ConfigError(f"{name} must lie between 0 and 1, such as 0.2, found {value}")
    if permutations < 0:
        raise ConfigError(f"permutations must not be negative, found {permutations}")
    if repeated := [i for i, count in Counter(t.id for t in trajectories).items() if count > 1]:
        raise ConfigError(
            f"{len(repeated)} trajectory ids occur more than once, {repeated[0]!r} first; diagnose one run of one agent"
        )
