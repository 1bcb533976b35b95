"""Mapping from seeds to scenarios for servers and factories that serve several environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trace_gym import registry
from trace_gym.environment import Environment
from trace_gym.episode import Episode, interface_of
from trace_gym.errors import ConfigError, ScenarioError, expect_choice
from trace_gym.types import Interface, Message, Scenario


@dataclass(frozen=True)
class Problems:
    """Mapping from seeds to scenarios. With multiple environments, consecutive seeds alternate between environments.

    With one environment, a seed selects the same scenario as in `trace_gym.adapters.gymnasium.TraceEnv.reset`.

    Args:
        envs: Names or gymnasium ids of environments.
        level: Level of every scenario; None draws a level from the seed.
        split: Split of the seeds, a key of `trace_gym.registry.SPLITS`.

    Raises:
        EnvNotFound: An environment does not exist.
        ConfigError: `envs` is empty, or the split does not exist.
        ScenarioError: The level does not exist.
    """

    envs: Sequence[str]
    level: int | None = None
    split: str = "train"

    def __post_init__(self) -> None:
        object.__setattr__(self, "envs", tuple(map(registry.name_of, self.envs)))
        if not self.envs:
            raise ConfigError("no environment is selected. Pass the name of at least one environment")
        expect_choice("split", self.split, registry.SPLITS)
        for env in self.envs if self.level is not None else ():
            if self.level not in range(count := registry.level_count(env)):
                raise ScenarioError(f"{env} has no level {self.level}: expected an integer from 0 to {count - 1}")

    @cached_property
    def environments(self) -> dict[str, Environment]:
        """The loaded environments by name. They are loaded on first access.

        Raises:
            TamperedEnv, EnvBug: An environment cannot be loaded.
        """
        return {env: registry.environment(env) for env in self.envs}

    def start(self, scenario: Scenario, **options: Any) -> Episode:
        """Return a new episode of a scenario of one of the environments (see `Environment.start`)."""
        return self.environments[scenario.env].start(scenario, **options)

    def at(self, seed: int, split: str | None = None) -> Scenario:
        """Return the scenario of a seed.

        Raises:
            ConfigError: The split does not exist, or the seed is not a non-negative integer.
        """
        if type(seed) is not int or seed < 0:
            raise ConfigError(f"invalid seed: found {seed!r}, expected a non-negative integer")
        split = split or self.split
        expect_choice("split", split, registry.SPLITS)
        seeds, env = registry.SPLITS[split], self.envs[seed % len(self.envs)]
        at = seeds[seed % len(seeds)]
        return Scenario(env=env, level=registry.level_for(env, at) if self.level is None else self.level, seed=at)

    def exactly(self, address: str | Scenario) -> Scenario:
        """Return the scenario with a scenario id.

        Raises:
            ScenarioError: The scenario id does not parse.
            ConfigError: The scenario belongs to an environment that is not served.
        """
        scenario = address if isinstance(address, Scenario) else Scenario.parse(str(address))
        if scenario.env not in self.envs:
            raise ConfigError(
                f"the scenario {scenario} does not belong to the selected environments: expected a scenario of "
                f"{' or '.join(self.envs)}"
            )
        return scenario

    def parts(self) -> dict[str, Interface]:
        """Return the interfaces of all environments by name, with each mixture replaced by its environments.

        Raises:
            TamperedEnv, EnvBug: An environment cannot be loaded.
        """
        worlds = {part: world for env in self.environments.values() for part, world in env.worlds.items()}
        return {part: interface_of(world) for part, world in worlds.items()}

    def tools(self) -> tuple[Message, ...]:
        """Return the OpenAI function tools that all environments share.

        Raises:
            ConfigError: The environments have different tools.
        """
        (first, interface), *others = self.parts().items()
        if unlike := [part for part, other in others if other.tools != interface.tools]:
            raise ConfigError(
                f"the tools are not known before the first call of reset, because the environments {first} and "
                f"{unlike[0]} have different tools. Call reset first"
            )
        return interface.tools
