"""Mixtures: weighted combinations of several environments under one name.

Each scenario of a mixture maps to a fixed scenario of one of its parts. Therefore a mixture has scenario ids, seeds and
splits like an environment.
"""

from __future__ import annotations

from random import Random
from typing import Annotated

from pydantic import Field

from trace_gym.types import Record, Scenario


class Mixture(Record):
    """Weighted set of environments, stored as ``<id>.json`` without a module next to it."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: int = Field(default=0, ge=0)
    title: str = ""
    mixture: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(min_length=1)
    """Mapping of the name of each part to its weight. Only the ratios of the weights matter."""

    def part_of(self, scenario: Scenario) -> Scenario:
        """Return the scenario of the selected part for a scenario of the mixture.

        Level and seed are the same in both scenarios, and therefore also the split.
        """
        parts = sorted(self.mixture)
        [part] = Random(str(scenario)).choices(parts, [self.mixture[p] for p in parts])
        return Scenario(env=part, level=scenario.level, seed=scenario.seed)
