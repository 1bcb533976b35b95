"""Sampling of the scenarios of a GRPO iteration: environments, levels and seeds of the training split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from trace_gym import registry
from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.trainers.config import TrainerConfig
from trace_gym.types import Scenario

Envs = list[tuple[str, float]]
"""Environments or registered mixtures with their sampling weights."""


def draw(
    config: TrainerConfig, envs: Envs, levels: dict[str, dict[int, float]], iteration: int, again: int = 0
) -> list[Scenario]:
    """Return the G scenarios of an iteration from the training split. The result depends only on the arguments.

    Args:
        config: Settings of the run.
        envs: Environments with their sampling weights.
        levels: Sampling weights of the levels of each environment.
        iteration: Number of the iteration.
        again: Number of earlier draws in this iteration.
    """
    rng = Random(f"{config.seed}/{iteration}" + (f"/{again}" if again else ""))
    scenarios = []
    for _ in range(config.groups):
        (name,) = rng.choices([n for n, _ in envs], [w for _, w in envs])
        (level,) = rng.choices(list(levels[name]), list(levels[name].values()))
        scenarios.append(Scenario(env=name, level=level, seed=rng.choice(registry.SPLITS["train"])))
    return scenarios


def all_scenarios(config: TrainerConfig, envs: Envs) -> list[Scenario]:
    """Return the scenarios of all iterations in order.

    Raises:
        ConfigError: The settings contain an environment that is not used, or a level that an environment does not have.
        EnvNotFound: An environment is not registered.
    """
    levels = drawn_levels(config, [name for name, _ in envs], registered=True)
    return [scenario for i in range(config.iterations) for scenario in draw(config, envs, levels, i)]


def weighted(env: str | Sequence[tuple[str, float]]) -> Envs:
    """Return the environments to train on with their sampling weights.

    Raises:
        ConfigError: There is no environment, or a weight is not positive.
    """
    envs = [(env, 1.0)] if isinstance(env, str) else [(name, float(weight)) for name, weight in env]
    if not envs or not all(math.isfinite(w) and w > 0 for _, w in envs):
        raise ConfigError(
            f"the setting env is not valid: found {env!r}, expected the name of an environment, or (name, weight) "
            "pairs with weights above 0"
        )
    return envs


def drawn_levels(config: TrainerConfig, names: Sequence[str], *, registered: bool) -> dict[str, dict[int, float]]:
    """Return the sampling weights of the levels of each environment.

    Args:
        config: Settings of the run.
        names: Names of the environments.
        registered: Whether all environments must be in the registry.

    Raises:
        ConfigError: The settings contain an environment that is not used, or a level that an environment does not have.
        EnvNotFound: An environment is not in the registry, although `registered` is True.
    """
    if strangers := [key for key in config.levels or () if isinstance(key, str) and key not in names]:
        raise ConfigError(
            f"the setting levels contains {strangers[0]!r}, which is not an environment of this training: expected "
            f"{' or '.join(names)}. Correct the name, or remove it"
        )
    drawn: dict[str, dict[int, float]] = {}
    for name in names:
        wanted = config.levels_of(name)
        try:
            there = list(range(registry.level_count(name)))
        except EnvNotFound:
            if registered:
                raise
            there = sorted(wanted or [0])
        if unknown := set(wanted or ()) - set(there):
            raise ConfigError(
                f"the setting levels contains unknown levels of {name}: found {sorted(unknown)}, expected {there}"
            )
        drawn[name] = wanted or dict.fromkeys(there, 1.0)
    return drawn
