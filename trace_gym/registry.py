"""Registry of environments and mixtures: list, load and start them by name.

A module is executed only if its hash matches its manifest and its validation passed. This check detects accidental
changes; it is not a sandbox, because loading an environment runs its code.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from trace_gym import registration
from trace_gym.admission import Describe, admit_file, described, is_admitted
from trace_gym.environment import Environment
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, DuplicateEnv, EnvNotFound, ReadError, ScenarioError, TamperedEnv
from trace_gym.lookup import entry_of, gym_id, manifest_cards, mixture_cards, name_of, not_found, read_card
from trace_gym.mixture import Mixture
from trace_gym.modules import execute, file_bytes, file_sha256, fingerprint, loaded, world_at
from trace_gym.registration import add_folder, entries, folders, refresh
from trace_gym.splits import SPLITS, seeds_of, split_of
from trace_gym.targets.user import bases
from trace_gym.types import Manifest, Origin, Report, Scenario, Spec, sha256
from trace_gym.world import World

__all__ = [
    "SPLITS",
    "add_folder",
    "admit",
    "described",
    "environment",
    "episode_starter",
    "fingerprint",
    "folders",
    "gym_id",
    "home",
    "is_admitted",
    "level_count",
    "level_for",
    "load_world",
    "manifest",
    "manifests",
    "mixture",
    "list_mixtures",
    "module_path",
    "name_of",
    "list_environments",
    "part_of",
    "refresh",
    "scenarios",
    "split_of",
    "start_episode",
    "world_at",
]

_log = logging.getLogger(__name__)


def list_environments(target: str = "", capability: str = "") -> list[str]:
    """Return the sorted names of the environments, without the mixtures, which `list_mixtures` returns.

    Args:
        target: List only environments of this target, such as ``tau2_airline``.
        capability: List only environments that train this capability, such as ``precondition_verification``.
    """
    found = [name for name, entry in entries.items() if entry.module]
    if target or capability:
        cards = {card.id: card for card in manifests()}
        found = [n for n in found if n in cards and target in ("", cards[n].target)]
        found = [n for n in found if capability in ("", cards[n].capability)]
    return found


def list_mixtures() -> list[str]:
    """Return the names of the mixtures, sorted."""
    return [n for n, e in entries.items() if not e.module]


def manifest(name: str) -> Manifest:
    """Return the manifest of an environment.

    Raises:
        EnvNotFound: No environment has this name.
        DuplicateEnv: Several files define this name.
        ReadError: The manifest cannot be read, or belongs to another environment.
    """
    entry = entry_of(name)
    if entry.module is None:
        raise EnvNotFound(f"{name} is a mixture of {', '.join(mixture(name).mixture)} and has no manifest of its own")
    return read_card(entry, manifest_cards)


def manifests() -> list[Manifest]:
    """Return the manifests of all environments. Log a warning for each manifest that cannot be read, and skip it."""
    made = []
    for name in list_environments():
        try:
            made.append(manifest(name))
        except (ReadError, DuplicateEnv) as error:
            _log.warning("%s is left out: %s", name, error)
    return made


def mixture(name: str) -> Mixture:
    """Return the parts and weights of a mixture.

    Raises:
        EnvNotFound: No mixture has this name.
        ReadError: The file of the mixture cannot be read.
    """
    entry = entry_of(name)
    if entry.module is not None:
        raise EnvNotFound(f"{name} is an environment, not a mixture; the mixtures are {', '.join(list_mixtures())}")
    return read_card(entry, mixture_cards)


def module_path(name: str) -> Path:
    """Return the path of an environment's module, even if the module has no manifest yet.

    Raises:
        EnvNotFound: No folder contains a module of this name.
    """
    found = [p for folder in folders() if (p := folder / f"{name}.py").is_file()]
    if not found or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise not_found(name)
    return found[0]


def load_world(name: str) -> type[World]:
    """Return the world class of an environment.

    Args:
        name: Name or Gymnasium id of the environment.

    Raises:
        EnvNotFound: No environment has this name.
        DuplicateEnv: Several files define this name.
        TamperedEnv: The module or the base world of a custom target does not match its manifest, or its validation did
            not pass.
        EnvBug: The module does not define the world.
    """
    name = name_of(name)
    card = manifest(name)
    module = entry_of(name).module
    assert module is not None  # `manifest` raises an error for mixtures
    fix = f"to check it and admit it as it is: trace-gym validate {name} --admit"
    try:
        found = file_sha256(module)
    except OSError as error:
        raise ReadError(f"{module} cannot be read: {error.strerror}. Check the permissions of the file") from None
    world = loaded(module, found)
    if world is None:
        found = sha256(source := file_bytes(module))  # `execute` runs exactly the content that is hashed here
    if found != card.module_sha256:
        raise TamperedEnv(f"{module} has sha256 {found}, its manifest expects {card.module_sha256}; {fix}")
    if not card.report.passed:
        failed = ", ".join(f"{f.code} {f.property}" for f in card.report.findings if not f.passed)
        raise TamperedEnv(f"{name} did not pass validation ({failed or 'no finding is recorded'}); {fix}")
    bases.require_admitted_base(name, card)
    return world or execute(module, source)


def environment(name: str) -> Environment:
    """Return an environment or a mixture with its loaded worlds.

    Callers that start many episodes should keep the result, or use `episode_starter`, because `start_episode` looks
    the environment up each time.

    Raises:
        EnvNotFound, DuplicateEnv, TamperedEnv, EnvBug: See `load_world`.
    """
    name = name_of(name)
    if entry_of(name).module is not None:
        return Environment(name, manifest(name).levels, {name: load_world(name)})
    parts = mixture(name)
    return Environment(name, level_count(name), {part: load_world(part) for part in parts.mixture}, parts)


def start_episode(scenario: Scenario | str, **options: Any) -> Episode:
    """Start an episode of a scenario and return it.

    For a mixture, the episode runs the corresponding scenario of one of its parts, which is `Episode.scenario`.

    Args:
        scenario: A scenario, or a scenario id such as ``tau2_precondition/0/7``.
        options: Arguments of `Episode`, such as ``style``. `share_start` is True by default.
    """
    at = part_of(Scenario.parse(scenario) if isinstance(scenario, str) else scenario)
    return Episode(load_world(at.env), at, **{"share_start": True, **options})


def episode_starter(**options: Any) -> Callable[[Scenario], Episode]:
    """Return a function that starts the episodes of scenarios and looks up each environment only once.

    Args:
        options: Arguments of `Episode`, such as ``user``.
    """
    known = cache(environment)
    return lambda scenario: known(scenario.env).start(scenario, **options)


def part_of(scenario: Scenario) -> Scenario:
    """Return the part's scenario that a mixture's scenario maps to. Return other scenarios unchanged."""
    entry = entry_of(scenario.env)
    if entry.module is not None:
        return scenario
    if scenario.level >= (count := level_count(scenario.env)):
        raise ScenarioError(f"the scenario {scenario} does not exist: {scenario.env} has levels 0 to {count - 1}")
    return mixture(scenario.env).part_of(scenario)


def home() -> Path:
    """Return the default folder for new environments, which is the last searched folder outside installed packages.

    Raises:
        ConfigError: Only folders of installed packages are searched.
    """
    packaged = registration.package_folders()
    folder = [packaged[0], *(place for place in folders() if place not in packaged)][-1]
    if folder == packaged[0] and not (folder.parent / "pyproject.toml").is_file():
        raise ConfigError(
            "there is no folder for new environments, because every environment folder belongs to an installed "
            f"package. Specify another folder with --out or in the environment variable {registration.VARIABLE}"
        )
    return folder


def level_count(name: str) -> int:
    """Return the number of levels of an environment; for a mixture, the smallest number among its parts."""
    if entry_of(name).module is not None:
        return manifest(name).levels
    return min(manifest(part).levels for part in mixture(name).mixture)


def scenarios(
    env: str, split: str = "train", n: int = 100, levels: Sequence[int] | None = None, offset: int = 0
) -> list[Scenario]:
    """Return `n` scenarios of a split with consecutive seeds.

    The levels are interleaved. Calls with disjoint ranges from `offset` to `offset + n` share no scenario.

    Raises:
        ConfigError: The split does not exist, or has too few seeds.
        ScenarioError: A level does not exist.
    """
    seeds, count = seeds_of(split), level_count(name_of(env))
    chosen = list(range(count)) if levels is None else list(levels)
    if (wrong := [level for level in chosen if level not in range(count)]) or not chosen:
        raise ScenarioError(f"invalid levels for {env}: found {wrong or 'no level'}, expected levels 0 to {count - 1}")
    if offset < 0 or n < 0 or offset + n > len(seeds):
        raise ConfigError(f"split {split!r} has {len(seeds)} seeds, but {n} seeds from index {offset} were requested")
    name = name_of(env)
    return [Scenario(env=name, level=chosen[i % len(chosen)], seed=seeds[i]) for i in range(offset, offset + n)]


def level_for(env: str, seed: int) -> int:
    """Return the level of a seed, for callers that do not select a level. The same seed always has the same level."""
    return Random(f"{env}/{seed}").randrange(level_count(env))


def admit(
    name_or_path: str | os.PathLike[str],
    report: Report,
    author: str,
    spec: Spec | None = None,
    template_sha256: str = "",
    origin: Origin | None = None,
    level_weights: tuple[float, ...] | None = None,
    *,
    describe: Describe,
) -> Manifest:
    """Write the manifest of an environment next to its module.

    If no spec is given, the manifest of an unchanged module keeps its author, spec and origin.

    Args:
        name_or_path: Name of an environment in a searched folder, or path of a module.
        report: Validation report. An environment whose report did not pass is not loaded.
        author: Author of the module: ``hand`` or ``llm:<model>``.
        spec: Spec of the environment.
        template_sha256: Hash of the prompts and templates of the author.
        origin: Model, number of requests and cost, if a language model wrote the module.
        level_weights: Calibrated sampling weights of the levels.
        describe: Function that describes the module, such as `trace_gym.sandbox.describe`, which uses a sandbox.

    Raises:
        EnvNotFound, ReadError: The module does not exist or cannot be read.
        EnvBug: The module does not define the world, or the world does not generate scenarios.
        ConfigError: The levels are not numbered from 0.
        SandboxError: The sandbox is not available on this machine, and the user has not allowed to run without it.
    """
    is_path = isinstance(name_or_path, os.PathLike) or str(name_or_path).endswith(".py")
    path = Path(name_or_path).expanduser().resolve() if is_path else module_path(str(name_or_path))
    return admit_file(path, report, author, spec, template_sha256, origin, level_weights, describe=describe)
