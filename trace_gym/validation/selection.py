"""Selection of the properties and scenarios of a validation."""

from __future__ import annotations

from collections.abc import Collection

from trace_gym.errors import ConfigError
from trace_gym.types import Scenario
from trace_gym.validation import loading
from trace_gym.validation.properties import PROPERTIES
from trace_gym.world import World


def select_codes(only: Collection[str] | None, skip: Collection[str] = ()) -> list[str]:
    """Return the codes that match a prefix in `only` and no prefix in `skip`. The code for loading is always included.

    Raises:
        ConfigError: A prefix matches no code.
    """
    if invalid := [start for start in skip if loading.LOADS.startswith(start)]:
        raise ConfigError(f"--skip {invalid[0]} has no effect: {loading.LOADS} is always checked. Remove this value")
    for start in (*(only or ()), *skip):
        if not any(code.startswith(start) for code in PROPERTIES):
            raise ConfigError(
                f"unknown property: found {start!r}. To list all properties, run trace-gym validate --list"
            )
    wanted = [c for c in PROPERTIES if only is None or c.startswith(tuple(only))]
    return sorted({loading.LOADS, *(c for c in wanted if not c.startswith(tuple(skip) or ("?",)))})


def sample(world: type[World], seeds_per_level: int, levels: Collection[int] | None = None) -> list[Scenario]:
    """Return scenarios with the first seeds of the given levels (all levels by default).

    The list is empty if the class attributes of the world are invalid.

    Raises:
        ConfigError: The number of seeds is less than 1, or a level does not exist.
    """
    whole = not loading.declaration_errors(world)
    return sample_by_name(world.id if whole else "", len(world.levels) if whole else 0, seeds_per_level, levels)


def sample_by_name(env: str, count: int, seeds_per_level: int, levels: Collection[int] | None) -> list[Scenario]:
    """Return the same scenarios as `sample`, given the id of an environment and its number of levels.

    If the number of levels is 0, the list is empty.
    """
    if seeds_per_level < 1:
        raise ConfigError(f"invalid seeds_per_level: found {seeds_per_level}, expected at least 1")
    if not count:
        return []
    if invalid := sorted(set(levels or ()) - set(range(count))):
        raise ConfigError(f"invalid levels: found {invalid}, but {env} has levels 0 to {count - 1}")
    wanted = [n for n in range(count) if levels is None or n in levels]
    return [Scenario(env=env, level=level, seed=seed) for level in wanted for seed in range(seeds_per_level)]
