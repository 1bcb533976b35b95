"""Environments and capabilities that are named in the settings of a run. Such a run does not require a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.parsing import read_model
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import Run
from trace_gym.registration import package_folders
from trace_gym.settings import RunConfig
from trace_gym.synthesis.recorded import recorded_environments
from trace_gym.types import Capability, Manifest

RESERVED = (common.BASE, common.MIXTURE, common.GRPO_TARGET, "none", "routed", "oracle_routed", "random_routed")
"""Names that adapters cannot have, because other policies in an evaluation or the router's base option use them."""


def search(config: RunConfig) -> None:
    """Register the environments in the folders that the settings name.

    Raises:
        ReadError: A folder does not exist.
        DuplicateEnv: Two folders contain an environment with the same name.
    """
    for folder in config.folders:
        registry.add_folder(folder)


def check(config: RunConfig) -> None:
    """Check that the environments and levels in the settings exist.

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
    for manifest in manifests(config):
        if not manifest.capability or manifest.capability in RESERVED:
            raise ConfigError(
                f"{manifest.id} cannot be trained, because its capability is {manifest.capability!r}: expected a name "
                f"other than {', '.join(RESERVED)}. Change `capability` in its module, and admit the module again"
            )
        if (other := owners.setdefault(manifest.capability, manifest.id)) != manifest.id:
            raise ConfigError(
                f"two environments train the capability {manifest.capability}: found {other} and {manifest.id}, "
                "expected one environment per capability. Remove one of them from `environments`"
            )


def manifests(config: RunConfig) -> Iterator[Manifest]:
    """Yield the manifests of the environments in the settings."""
    yield from (registry.manifest(name) for name in config.environments)


def capabilities(config: RunConfig) -> list[Capability]:
    """Return the capabilities in the settings that no environment in the settings trains."""
    trained = {manifest.capability for manifest in manifests(config)}
    blank = {"coverage": 0.0, "er_failed": None, "er_passed": None, "gap": None, "analyst": "given"}
    named = config.capabilities.items()
    return [Capability(name=name, description=text, **blank) for name, text in named if name not in trained]


def registered(capability: str, target: str) -> Manifest | None:
    """Return the environment of a target that trains a capability, or None. An included environment is preferred.

    Raises:
        ConfigError: Several environments train the capability.
    """
    found = [m for m in registry.manifests() if (m.capability, m.target) == (capability, target)]
    included = [m for m in found if registry.module_path(m.id).parent in package_folders()]
    found = included or found
    if len(found) > 1:
        raise ConfigError(
            f"several environments of the target {target} train the capability {capability}: found "
            f"{', '.join(c.id for c in found)}, expected one environment. List one of them under `environments`"
        )
    return found[0] if found else None


def descriptions(run: Run) -> dict[str, str]:
    """Return the descriptions of the capabilities in the settings, or else in the diagnosis of the run."""
    from trace_gym.diagnosis import Diagnosis

    path = run.path("diagnosis.json")
    if not run.config.diagnoses or not path.exists():
        return dict(run.config.capabilities)
    return {c.name: c.description for c in read_model(path, Diagnosis, "a diagnosis", common.REDO).capabilities}


def _check_levels(config: RunConfig) -> None:
    """Check the setting `levels`.

    Raises:
        EnvNotFound: An environment does not exist.
        ConfigError: A level does not exist.
    """
    for name, levels in config.levels.items():
        if name in registry.list_environments() or not _may_be_generated(config, name):
            _check_range(name, levels, registry.manifest(name).levels)


def _may_be_generated(config: RunConfig, name: str) -> bool:
    """Return whether the run may generate an environment of this name."""
    return config.author == "llm" or name in recorded_environments()


def _check_range(name: str, levels: Sequence[int], count: int) -> None:
    if wrong := [level for level in levels if level not in range(count)]:
        raise ConfigError(f"{name} has no level {wrong[0]}: expected an integer from 0 to {count - 1}")
