"""Outcomes of several policies on the same tasks, and their comparison in pairs.

The unit of every interval and test is the scenario. A policy that was trained several times (one adapter a
seed) is averaged over its seeds first, scenario by scenario, so attempts at one scenario are never counted as
independent. Intervals therefore cover the draw of the tasks; how much the training seeds differ is shown
beside them (`Row.by_seed`). Attempts that could not be scored are left out and counted.
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


class Row(Record):
    """One policy's outcomes."""

    name: str
    """``base``, ``routed``, ``oracle_routed``, ``random_routed``, ``mixture``, ``grpo_target``, or a capability.

    A capability names the row of its adapter. The name of a file names the row of its rollouts.
    """
    label: str = ""
    """What tables call it; empty for the usual words for `name`."""
    scenarios: tuple[str, ...]
    successes: tuple[bool | None, ...]
    """Seed after seed, sample after sample, each in the order of `scenarios`; None was not scored."""
    reward_mean: float | None = None
    """Over the scored attempts."""
    seeds: tuple[int, ...] = (0,)
    """Training seeds of the policy; one for a policy that was not trained."""
    samples: int = Field(default=1, ge=1)
    """Rollouts of each scenario with each seed."""
    rollouts_trained: int = Field(default=0, ge=0)
    """Rollouts spent on training it; the mean over the seeds."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if len(self.successes) != len(self.seeds) * self.samples * len(self.scenarios) or not self.seeds:
            raise ValueError(
                f"{self.name} has {len(self.successes)} outcomes for {len(self.scenarios)} scenarios, "
                f"{len(self.seeds)} seeds and {self.samples} samples; expected one per scenario, seed and sample"
            )
        return self

    @property
    def by_seed(self) -> list[float | None]:
        """Success rate of each seed; None where nothing was scored."""
        n = len(self.scenarios) * self.samples
        return [mean(self.successes[k * n : (k + 1) * n]) for k in range(len(self.seeds))]

    @property
    def by_scenario(self) -> list[float | None]:
        """Success rate of each scenario over seeds and samples; None where no attempt was scored."""
        n = len(self.scenarios)
        return [mean(self.successes[k::n]) for k in range(n)]

    @property
    def rate(self) -> float | None:
        """Mean success over scenarios; None when nothing was scored."""
        return mean(self.by_scenario)

    @property
    def interval(self) -> Interval | None:
        """95 % Wilson interval of `rate`, one unit a scenario: for one seed exact, for several on the safe side."""
        scored = [r for r in self.by_scenario if r is not None]
        return wilson(round(sum(scored)), len(scored))

    @property
    def unscored(self) -> int:
        """Attempts that could not be scored."""
        return self.successes.count(None)


class Comparison(NamedTuple):
    """A row against the base row, over the scenarios that both have scored."""

    name: str
    gain: float
    """Difference of the success rates."""
    low: float
    high: float
    """95 % interval of `gain`: paired bootstrap over the scenarios."""
    gained: int
    """Scenarios on which the row does better."""
    lost: int
    """Scenarios on which it does worse."""
    both: int
    """Scenarios on which both succeed, with every seed."""
    p: float
    """Exact two-sided sign test of gained against lost; with one seed, McNemar's exact test."""
    pairs: int
    left_out: int
    """Scenarios that one of the two has not scored."""


class Evaluation(Record):
    """Policies on the same scenarios. The first row is the base that the others are compared with."""

    rows: tuple[Row, ...] = Field(min_length=1)
    split: str = "test"
    env: str
    levels: tuple[int, ...]
    temperature: float | Literal["mixed", "unknown"] = 0.0
    """``mixed`` where the rows differ, ``unknown`` where the records do not say it."""
    note: str = ""
    """What a reader has to know: the model, how tasks were drawn, what was tried before."""

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if len({row.scenarios for row in self.rows}) > 1:
            raise ValueError("the rows are over different scenarios; a paired comparison needs the same ones")
        if len({row.name for row in self.rows}) < len(self.rows):
            raise ValueError(
                f"several rows of one name: {', '.join(row.name for row in self.rows)}; use merge for seeds"
            )
        return self

    @property
    def base(self) -> Row:
        """The row that the others are compared with."""
        return self.rows[0]

    def row(self, name: str) -> Row:
        """The row of this name.

        Raises:
            ConfigError: There is none; the message lists those that exist.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise ConfigError(f"no row {name!r}; there are {', '.join(row.name for row in self.rows)}")

    def compare(self, name: str, base: str | None = None) -> Comparison | None:
        """A row against the base, or against another row; None when no scenario is scored in both."""
        return _comparison(self.row(base) if base else self.base, self.row(name))

    def write(self, path: Path) -> None:
        """Write the whole file or nothing."""
        write(path, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what `write` wrote.

        Raises:
            ReadError: The file is missing or no evaluation.
        """
        return read_model(path, cls, "an evaluation", "Make one with trace-gym evaluate")


def merge(evaluations: Sequence[Evaluation]) -> Evaluation:
    """One evaluation over all the training seeds of several, row by row.

    Raises:
        ConfigError: They are not of the same policies on the same scenarios, or share a seed.
    """
    if not evaluations:
        raise ConfigError("nothing to merge; expected at least one evaluation")
    first = evaluations[0]
    for other in evaluations[1:]:
        if _identity(other) != _identity(first):
            raise ConfigError("only evaluations of the same policies on the same scenarios can be merged")
    rows = tuple(_merged([e.row(row.name) for e in evaluations]) for row in first.rows)
    return first.model_copy(update={"rows": rows})


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is there; None when nothing is."""
    there = [float(v) for v in values if v is not None]
    return fmean(there) if there else None


@lru_cache(maxsize=256)  # tables, plots and pages ask for the same comparison, and the bootstrap takes its time
def _comparison(base: Row, row: Row) -> Comparison | None:
    pairs = [(b, a) for b, a in zip(base.by_scenario, row.by_scenario, strict=True) if b is not None and a is not None]
    if not pairs:
        return None
    gain = paired_bootstrap([b for b, _ in pairs], [a for _, a in pairs], np.random.default_rng(0))
    # The direction of change of each scenario; for one seed these are the outcomes themselves.
    change = mcnemar([a < b for b, a in pairs], [a > b for b, a in pairs])
    both = sum(b == a == 1 for b, a in pairs)
    left_out = len(row.scenarios) - len(pairs)
    return Comparison(row.name, *gain, change.gained, change.lost, both, change.p, len(pairs), left_out)


def _identity(evaluation: Evaluation) -> tuple[object, ...]:
    names = [row.name for row in evaluation.rows]
    scenarios = evaluation.base.scenarios
    return names, scenarios, evaluation.split, evaluation.env, evaluation.levels, evaluation.temperature


def _merged(rows: Sequence[Row]) -> Row:
    seeds = [seed for row in rows for seed in row.seeds]
    if len(set(seeds)) < len(seeds):
        raise ConfigError(
            f"{rows[0].name} has seed {max(seeds, key=seeds.count)} twice; evaluate each training seed once"
        )
    if len({row.samples for row in rows}) > 1:
        raise ConfigError(f"{rows[0].name} has different numbers of samples; evaluate each seed with the same number")
    scored = [(row.reward_mean, len(row.successes) - row.unscored) for row in rows if row.reward_mean is not None]
    attempts = sum(n for _, n in scored)
    return Row(
        name=rows[0].name,
        scenarios=rows[0].scenarios,
        successes=tuple(s for row in rows for s in row.successes),
        reward_mean=sum(r * n for r, n in scored) / attempts if attempts else None,
        seeds=tuple(seeds),
        samples=rows[0].samples,
        rollouts_trained=round(fmean(row.rollouts_trained for row in rows)),
    )
