"""The options of a routing prompt, with examples from the capability environments (paper, section 3.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.policies.scripted import Ablated, Oracle
from trace_gym.rollout import play
from trace_gym.route.prompt import NO_SKILL, Option, compact
from trace_gym.targets.catalogue import TARGETS
from trace_gym.targets.tau2.needs import DESCRIPTIONS
from trace_gym.types import Manifest, Scenario


def description_of(card: Manifest, known: Mapping[str, str] | None = None) -> str:
    """Return what a routing prompt says about the capability of an environment.

    Args:
        card: The environment's manifest.
        known: Capability -> description, for capabilities that the targets which ship do not describe.
    """
    shipped = DESCRIPTIONS if not card.target or card.target in TARGETS else {}
    for said in (shipped, known or {}):
        if text := said.get(card.capability):
            return text
    return card.title or card.capability.replace("_", " ")


def options_for(
    descriptions: Mapping[str, str],
    *,
    seed: int = 0,
    levels: Mapping[str, Sequence[int]] | None = None,
    tries: int = 50,
) -> list[Option]:
    """One option for the capability of each environment, with a successful conversation as example, and `NO_SKILL`.

    The example is the first of the training scenarios from a seeded place on which the expert succeeds and,
    without the capability, fails: an episode that needed it.

    Args:
        descriptions: Environment -> what the prompt says about its capability.
        seed: Where in the training split to look.
        levels: Environment -> levels that examples may come from; all levels by default.
        tries: Scenarios to look at.

    Raises:
        EnvNotFound: There is no such environment.
        ConfigError: No scenario looked at needs the capability.
    """
    options = [
        Option(registry.load(env).capability, text, _example(env, seed, (levels or {}).get(env), tries))
        for env, text in descriptions.items()
    ]
    return [*options, NO_SKILL]


def _example(env: str, seed: int, levels: Sequence[int] | None, tries: int) -> str:
    place = Random(f"route/{seed}/{env}").randrange(len(registry.SPLITS["train"]) - tries)
    for scenario in registry.scenarios(env, "train", tries, levels=levels, offset=place):
        if (example := _needed_example(scenario)) is not None:
            return example
    raise ConfigError(
        f"none of {tries} training scenarios of {env} from seed {place} on needs its capability "
        f"(the expert fails, or succeeds without it); allow other levels, or check it with trace-gym validate {env}"
    )


def _needed_example(scenario: Scenario) -> str | None:
    """The expert's conversation, if it succeeds where the expert without the capability fails."""
    expert = play(Oracle(), registry.episode(scenario))
    without = play(Ablated(), registry.episode(scenario))
    return compact(expert.messages) if expert.finish().success and not without.finish().success else None
