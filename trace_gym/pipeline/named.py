"""Environments and capabilities that the settings of a run name, so that nothing has to be diagnosed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.parsing import read_model
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import Run
from trace_gym.settings import RunConfig
from trace_gym.synthesize import template
from trace_gym.targets.catalogue import TARGETS
from trace_gym.types import Capability, Manifest

RESERVED = (common.BASE, common.MIXTURE, common.GRPO_TARGET, "none", "routed", "oracle_routed", "random_routed")
"""Names of other rows of an evaluation, and of the router's option for the base model."""


def search(config: RunConfig) -> None:
    """Search the folders of the settings for environments.

    Raises:
        ReadError: There is no such folder.
        DuplicateEnv: It holds a name that another folder has.
    """
    for folder in config.folders:
        registry.add_folder(folder)


def check(config: RunConfig) -> None:
    """Check that what the settings name is there, before any stage runs.

    Raises:
        EnvNotFound: An environment is not registered, or is a mixture.
        ConfigError: A level does not exist, or two environments train the same capability.
    """
    search(config)
    _check_levels(config)
    for name in config.environments:
        registry.manifest(name)
    _check_range(config.target.env, config.target.levels, registry.manifest(config.target.env).levels)
    owners: dict[str, str] = {}
    for card in manifests(config):
        if not card.capability or card.capability in RESERVED:
            raise ConfigError(
                f"{card.id} cannot be trained: found the capability {card.capability!r}, expected a name other than "
                f"{', '.join(RESERVED)}. Change `capability` in its module, and admit it again"
            )
        if (other := owners.setdefault(card.capability, card.id)) != card.id:
            raise ConfigError(
                f"two environments train {card.capability}: found {other} and {card.id}, expected one environment per "
                "capability. Leave one of them out of `environments`"
            )


def manifests(config: RunConfig) -> Iterator[Manifest]:
    """Yield the manifests of the environments that the settings name."""
    yield from (registry.manifest(name) for name in config.environments)


def capabilities(config: RunConfig) -> list[Capability]:
    """Return the named capabilities that none of the named environments trains."""
    trained = {card.capability for card in manifests(config)}
    blank = {"coverage": 0.0, "er_failed": None, "er_passed": None, "gap": None, "analyst": "given"}
    named = config.capabilities.items()
    return [Capability(name=name, description=text, **blank) for name, text in named if name not in trained]


def registered(capability: str, target: str) -> Manifest | None:
    """Return the environment of a user's own target that trains a capability; None where there is none.

    Raises:
        ConfigError: There are several.
    """
    if target in TARGETS:
        return None  # the shipped specs say which environment serves a capability
    found = [card for card in registry.manifests() if (card.capability, card.target) == (capability, target)]
    if len(found) > 1:
        raise ConfigError(
            f"several environments of {target} train {capability}: found {', '.join(c.id for c in found)}, expected "
            "one. Name one of them under `environments`"
        )
    return found[0] if found else None


def descriptions(run: Run) -> dict[str, str]:
    """Return the description of each capability that the settings or the diagnosis of a run describe."""
    from trace_gym.diagnose import Diagnosis

    path = run.path("diagnosis.json")
    if not run.config.diagnoses or not path.exists():
        return dict(run.config.capabilities)
    return {c.name: c.description for c in read_model(path, Diagnosis, "a diagnosis", common.REDO).capabilities}


def _check_levels(config: RunConfig) -> None:
    """Check the levels of environments to train on, named or yet to be chosen by a diagnosis.

    Raises:
        EnvNotFound: There is no such environment.
        ConfigError: There is no such level.
    """
    shipped = {spec.id: len(spec.levels) for spec in map(template.spec, template.spec_names())}
    for name, levels in config.levels.items():
        known = name in registry.names()
        if not known and config.author == "llm":
            continue  # it may be written during the run
        count = registry.manifest(name).levels if known or name not in shipped else shipped[name]
        _check_range(name, levels, count)


def _check_range(name: str, levels: Sequence[int], count: int) -> None:
    if wrong := [level for level in levels if level not in range(count)]:
        raise ConfigError(f"{name} has no level {wrong[0]}: expected one of {', '.join(map(str, range(count)))}")
