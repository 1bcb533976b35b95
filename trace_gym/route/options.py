"""Options of a routing prompt, with example conversations from the environments (TRACE paper, section 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.policies.scripted import Ablated, Oracle
from trace_gym.rollouts import play
from trace_gym.route.prompt import NO_SKILL, Option, compact
from trace_gym.targets import DEFAULT_TARGET
from trace_gym.targets.catalogue import all_targets
from trace_gym.types import Manifest, Scenario


def description_of(card: Manifest, known: Mapping[str, str] | None = None) -> str:
    """Return the description of the capability of an environment for a routing prompt.

    Args:
        card: Manifest of the environment.
        known: Mapping of capability to description. It is used if the target has no description of the capability.
    """
    target = next((t for t in all_targets() if t.name == (card.target or DEFAULT_TARGET)), None)
    for descriptions in (target.descriptions if target else {}, known or {}):
        if text := descriptions.get(card.capability):
            return text
    return card.title or card.capability.replace("_", " ")


def options_for(
    descriptions: Mapping[str, str],
    *,
    seed: int = 0,
    levels: Mapping[str, Sequence[int]] | None = None,
    tries: int = 50,
) -> list[Option]:
    """Return one option per environment, with a successful conversation as an example, followed by `NO_SKILL`.

    The example is the first training scenario, counted from a seeded offset, on which the oracle succeeds and the
    ablated expert (the oracle without the capability) fails.

    Args:
        descriptions: Mapping of environment to the description of its capability.
        seed: Seed of the offset in the training split.
        levels: Mapping of environment to the levels from which examples may be taken; all levels by default.
        tries: Maximum number of scenarios to try.

    Raises:
        EnvNotFound: An environment does not exist.
        ConfigError: None of the tried scenarios needs the capability.
    """
    options = [
        Option(registry.load_world(env).capability, text, _example(env, seed, (levels or {}).get(env), tries))
        for env, text in descriptions.items()
    ]
    return [*options, NO_SKILL]


def _example(env: str, seed: int, levels: Sequence[int] | None, tries: int) -> str:
    place = Random(f"route/{seed}/{env}").randrange(len(registry.SPLITS["train"]) - tries)
    for scenario in registry.scenarios(env, "train", tries, levels=levels, offset=place):
        if (example := _needed_example(scenario)) is not None:
            return example
    raise ConfigError(
        f"no routing example could be created for {env}: in each of {tries} training scenarios from offset {place}, "
        "either the oracle failed or the expert without the capability succeeded. Allow other levels, or check the "
        f"environment with trace-gym validate {env}"
    )


def _needed_example(scenario: Scenario) -> str | None:
    """Return the oracle's conversation if the oracle succeeds and the ablated expert fails, else None."""
    expert = play(Oracle(), registry.start_episode(scenario))
    without = play(Ablated(), registry.start_episode(scenario))
    return compact(expert.messages) if expert.finish().success and not without.finish().success else None
