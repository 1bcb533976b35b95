"""Which scenario a seed stands for, where one server or one factory serves several environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trace_gym import registry
from trace_gym.episode import interface_of
from trace_gym.errors import ConfigError, ScenarioError
from trace_gym.types import Interface, Message, Scenario


@dataclass(frozen=True)
class Problems:
    """Environments, and their scenarios by seed: the ones that Gymnasium's `reset` begins. Several take turns.

    Args:
        envs: Names, or gymnasium ids.
        level: Level of every scenario; None draws one from the seed.
        split: Which seeds are counted through, a key of `trace_gym.registry.SPLITS`.

    Raises:
        EnvNotFound: There is no such environment.
        ConfigError: None is named, or there is no such split.
        ScenarioError: There is no such level.
    """

    envs: Sequence[str]
    level: int | None = None
    split: str = "train"

    def __post_init__(self) -> None:
        object.__setattr__(self, "envs", tuple(map(registry.name_of, self.envs)))
        if not self.envs or self.split not in registry.SPLITS:
            found = f"split {self.split!r}" if self.envs else "no environment"
            raise ConfigError(f"found {found}; name some environments, and one of {', '.join(registry.SPLITS)}")
        for env in self.envs if self.level is not None else ():
            if self.level not in range(count := registry.level_count(env)):
                raise ScenarioError(f"{env} has levels 0 to {count - 1}, not {self.level}")

    def at(self, seed: int, split: str | None = None) -> Scenario:
        """The scenario of a seed.

        Raises:
            ConfigError: There is no such split, or the seed is no whole number from 0 on.
        """
        if type(seed) is not int or seed < 0:
            raise ConfigError(f"the seed is {seed!r}; expected a whole number from 0 on")
        if (split := split or self.split) not in registry.SPLITS:
            raise ConfigError(f"{split!r} is no split; expected one of {', '.join(registry.SPLITS)}")
        seeds, env = registry.SPLITS[split], self.envs[seed % len(self.envs)]
        at = seeds[seed % len(seeds)]
        return Scenario(env=env, level=registry.level_for(env, at) if self.level is None else self.level, seed=at)

    def exactly(self, address: str | Scenario) -> Scenario:
        """The scenario of an address.

        Raises:
            ScenarioError: It does not parse.
            ConfigError: It is of an environment that is not among these.
        """
        scenario = address if isinstance(address, Scenario) else Scenario.parse(str(address))
        if scenario.env not in self.envs:
            raise ConfigError(f"{scenario} is of none of the environments here: {', '.join(self.envs)}")
        return scenario

    def parts(self) -> dict[str, Interface]:
        """The environments that scenarios are of, those of mixtures included, with their interfaces.

        Raises:
            TamperedEnv, EnvBug: One cannot be loaded.
        """
        known = [registry.mixture(e).mixture if e in registry.mixtures() else [e] for e in self.envs]
        return {part: interface_of(registry.load(part)) for parts in known for part in parts}

    def tools(self) -> tuple[Message, ...]:
        """The OpenAI function tools that every scenario has.

        Raises:
            ConfigError: They differ.
        """
        (first, interface), *others = self.parts().items()
        if unlike := [part for part, other in others if other.tools != interface.tools]:
            raise ConfigError(f"{unlike[0]} has other tools than {first}; begin an attempt first")
        return interface.tools
