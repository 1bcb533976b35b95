"""Outcomes of several policies on the same tasks, and paired comparisons of the policies.

The unit of every interval and test is the scenario. If a policy has several training seeds, its outcomes are first
averaged per scenario, because rollouts of one scenario are not independent. Therefore the intervals describe the
uncertainty from the choice of tasks, and not the variation between training seeds. `PolicyResult.by_seed` shows that
variation. Rollouts that could not be scored are excluded and counted separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from trace_gym.errors import ConfigError
from trace_gym.files import write
from trace_gym.parsing import read_model
from trace_gym.statistics import Interval, mcnemar, paired_bootstrap, wilson
from trace_gym.types import Record


class PolicyResult(Record):
    """Outcomes of one policy."""

    name: str
    """``base``, ``routed``, ``oracle_routed``, ``random_routed``, ``mixture``, ``grpo_target``, or a capability.

    An adapter is named after its capability. A policy of a rollout file is named after the file.
    """
    label: str = ""
    """Label in tables; if empty, a default label for `name` is used."""
    scenarios: tuple[str, ...]
    successes: tuple[bool | None, ...]
    """Outcome of each rollout, ordered by seed, then by sample, then as in `scenarios`. None means not scored."""
    reward_mean: float | None = None
    """Mean reward of the scored rollouts."""
    seeds: tuple[int, ...] = (0,)
    """Training seeds of the policy. A policy that was not trained has one seed."""
    samples: int = Field(default=1, ge=1)
    """Number of rollouts per scenario and seed."""
    rollouts_trained: int = Field(default=0, ge=0)
    """Number of training rollouts. For several seeds, this is the mean over the seeds."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if len(self.successes) != len(self.seeds) * self.samples * len(self.scenarios) or not self.seeds:
            raise ValueError(
                f"the policy {self.name} has {len(self.successes)} outcomes for {len(self.scenarios)} scenarios, "
                f"{len(self.seeds)} seeds and {self.samples} samples, expected one outcome per scenario, seed and "
                "sample"
            )
        return self

    @property
    def by_seed(self) -> list[float | None]:
        """Success rate of each seed, or None if no rollout was scored."""
        n = len(self.scenarios) * self.samples
        return [mean(self.successes[k * n : (k + 1) * n]) for k in range(len(self.seeds))]

    @property
    def by_scenario(self) -> list[float | None]:
        """Success rate of each scenario over seeds and samples, or None if no rollout was scored."""
        n = len(self.scenarios)
        return [mean(self.successes[k::n]) for k in range(n)]

    @property
    def rate(self) -> float | None:
        """Mean success rate over scenarios, or None if no rollout was scored."""
        return mean(self.by_scenario)

    @property
    def interval(self) -> Interval | None:
        """95 % Wilson interval of `rate` with scenarios as units. For several seeds, the interval is conservative."""
        scored = [r for r in self.by_scenario if r is not None]
        return wilson(round(sum(scored)), len(scored))

    @property
    def unscored(self) -> int:
        """Number of rollouts that could not be scored."""
        return self.successes.count(None)


class Comparison(NamedTuple):
    """Comparison of a policy with the baseline on the scenarios that are scored for both policies."""

    name: str
    gain: float
    """Difference between the success rates."""
    low: float
    high: float
    """95 % interval of `gain` from a paired bootstrap over the scenarios."""
    gained: int
    """Number of scenarios with a higher success rate than the baseline."""
    lost: int
    """Number of scenarios with a lower success rate than the baseline."""
    both: int
    """Number of scenarios on which all rollouts of both policies succeed."""
    p: float
    """p-value of the exact two-sided sign test of `gained` and `lost`. For one seed, it is McNemar's exact test."""
    pairs: int
    """Number of scenarios that are scored for both policies."""
    left_out: int
    """Number of scenarios that are not scored for at least one of the two policies."""


class Evaluation(Record):
    """Results of several policies on the same scenarios. The first result is the baseline."""

    rows: tuple[PolicyResult, ...] = Field(min_length=1)
    split: str = "test"
    env: str
    levels: tuple[int, ...]
    temperature: float | Literal["mixed", "unknown"] = 0.0
    """``mixed`` if the policies differ, ``unknown`` if the records do not contain the temperature."""
    note: str = ""
    """Note for readers, such as the model and the selection of the tasks."""

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len({row.scenarios for row in self.rows}) > 1:
            raise ValueError(
                "the policies were evaluated on different scenarios, but a paired comparison requires the same "
                "scenarios"
            )
        if len({row.name for row in self.rows}) < len(self.rows):
            raise ValueError(
                f"several policies have the same name: found {', '.join(row.name for row in self.rows)}. To combine "
                "evaluations of several training seeds, use merge"
            )
        return self

    @property
    def base(self) -> PolicyResult:
        """The result of the baseline."""
        return self.rows[0]

    def row(self, name: str) -> PolicyResult:
        """Return the result of a policy.

        Raises:
            ConfigError: The policy does not exist.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise ConfigError(f"unknown policy: found {name!r}, expected one of {', '.join(row.name for row in self.rows)}")

    def compare(self, name: str, base: str | None = None) -> Comparison | None:
        """Compare a policy with the baseline or another policy. Return None if no scenario is scored for both."""
        return _comparison(self.row(base) if base else self.base, self.row(name))

    def write(self, path: Path) -> None:
        """Write the evaluation to a JSON file atomically."""
        write(path, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file that `write` has written.

        Raises:
            ReadError: The file is missing or is not an evaluation.
        """
        return read_model(path, cls, "an evaluation", "Create an evaluation with trace-gym evaluate")


def merge(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Combine evaluations of different training seeds into one.

    Raises:
        ConfigError: The evaluations have different policies or scenarios, or share a seed.
    """
    if not evaluations:
        raise ConfigError("there are no evaluations to merge. Pass at least one evaluation")
    first = evaluations[0]
    for other in evaluations[1:]:
        if _identity(other) != _identity(first):
            raise ConfigError(
                "evaluations can be merged only if they have the same policies, scenarios and temperature. Evaluate "
                "each training seed in the same way"
            )
    rows = tuple(_merged([e.row(row.name) for e in evaluations]) for row in first.rows)
    return first.model_copy(update={"rows": rows})


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None, or None if there are none."""
    there = [float(v) for v in values if v is not None]
    return fmean(there) if there else None


@lru_cache(maxsize=256)  # tables and plots use the same comparisons, and the bootstrap is slow
def _comparison(base: PolicyResult, row: PolicyResult) -> Comparison | None:
    pairs = [(b, a) for b, a in zip(base.by_scenario, row.by_scenario, strict=True) if b is not None and a is not None]
    if not pairs:
        return None
    gain = paired_bootstrap([b for b, _ in pairs], [a for _, a in pairs], np.random.default_rng(0))
    # The test uses only the direction of change of each scenario.
    change = mcnemar([a < b for b, a in pairs], [a > b for b, a in pairs])
    both = sum(b == a == 1 for b, a in pairs)
    left_out = len(row.scenarios) - len(pairs)
    return Comparison(row.name, *gain, change.gained, change.lost, both, change.p, len(pairs), left_out)


def _identity(evaluation: Evaluation) -> tuple[object, ...]:
    names = [row.name for row in evaluation.rows]
    scenarios = evaluation.base.scenarios
    return names, scenarios, evaluation.split, evaluation.env, evaluation.levels, evaluation.temperature


def _merged(rows: Sequence[PolicyResult]) -> PolicyResult:
    seeds = [seed for row in rows for seed in row.seeds]
    if len(set(seeds)) < len(seeds):
        raise ConfigError(
            f"the policy {rows[0].name} was evaluated twice for the training seed {max(seeds, key=seeds.count)}. Pass "
            "only one evaluation for each training seed"
        )
    if len({row.samples for row in rows}) > 1:
        raise ConfigError(
            f"the evaluations of the policy {rows[0].name} have different numbers of samples. Evaluate each training "
            "seed with the same number of samples"
        )
    scored = [(row.reward_mean, len(row.successes) - row.unscored) for row in rows if row.reward_mean is not None]
    attempts = sum(n for _, n in scored)
    return PolicyResult(
        name=rows[0].name,
        scenarios=rows[0].scenarios,
        successes=tuple(s for row in rows for s in row.successes),
        reward_mean=sum(r * n for r, n in scored) / attempts if attempts else None,
        seeds=tuple(seeds),
        samples=rows[0].samples,
        rollouts_trained=round(fmean(row.rollouts_trained for row in rows)),
    )
