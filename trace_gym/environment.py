"""Loaded environments and mixtures, which start episodes without another lookup in the registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from trace_gym.episode import Episode, interface_of
from trace_gym.errors import ScenarioError
from trace_gym.mixture import Mixture
from trace_gym.types import Message, Scenario
from trace_gym.world import World


@dataclass(frozen=True)
class Environment:
    """An environment or a mixture whose modules are loaded. `trace_gym.registry.environment` returns it for a name."""

    name: str
    level_count: int
    """Number of levels. For a mixture, this is the smallest number of levels among its parts."""
    worlds: Mapping[str, type[World]]
    """Mapping from the name of each part to its world class. An environment has one part, which is itself."""
    mixture: Mixture | None = None
    """Parts and weights, if this is a mixture."""

    @property
    def tools(self) -> dict[str, Message]:
        """OpenAI function tools of all parts, by name."""
        return {t["function"]["name"]: t for world in self.worlds.values() for t in interface_of(world).tools}

    def level_for(self, seed: int) -> int:
        """Return the level of a seed, for callers that do not select a level."""
        return Random(f"{self.name}/{seed}").randrange(self.level_count)

    def part_of(self, scenario: Scenario) -> Scenario:
        """Return the scenario of the selected part for a scenario of a mixture. Return other scenarios unchanged.

        Raises:
            ScenarioError: The mixture does not have this level.
        """
        if self.mixture is None:
            return scenario
        if scenario.level >= self.level_count:
            raise ScenarioError(
                f"the scenario {scenario} does not exist: {self.name} has levels 0 to {self.level_count - 1}"
            )
        return self.mixture.part_of(scenario)

    def start(self, scenario: Scenario, **options: Any) -> Episode:
        """Return a new episode of a scenario. For a mixture, `Episode.scenario` is the scenario of the part.

        Args:
            scenario: A scenario of this environment.
            options: Arguments of `Episode`, such as ``style``. `share_start` is True by default.

        Raises:
            ScenarioError: The level does not exist.
            EnvBug: The world does not generate the scenario.
        """
        part = self.part_of(scenario)
        return Episode(self.worlds[part.env], part, **{"share_start": True, **options})
