"""Mixtures: several environments under one name, drawn by weight.

A mixture's scenario stands for one scenario of one of its parts, always the same one, so that a mixture has
addresses, seeds and splits like any environment.
"""

from __future__ import annotations

from random import Random
from typing import Annotated

from pydantic import Field

from trace_gym.types import Record, Scenario


class Mixture(Record):
    """A weighted choice of environments, stored as ``<id>.json`` without a module beside it."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: int = Field(default=0, ge=0)
    title: str = ""
    mixture: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(min_length=1)
    """Weight of each part by name; only their proportions matter."""

    def part_of(self, scenario: Scenario) -> Scenario:
        """The part's scenario that `scenario` stands for: level and seed stay, hence so does the split."""
        parts = sorted(self.mixture)
        [part] = Random(str(scenario)).choices(parts, [self.mixture[p] for p in parts])
        return Scenario(env=part, level=scenario.level, seed=scenario.seed)
