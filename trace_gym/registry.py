"""List, find and load environments by name, and address their problems.

A module is executed only when its content hash is the one in its manifest and the manifest's report passed.
That catches edits and accidents; it is no sandbox: loading an environment runs its code.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from trace_gym import registration
from trace_gym.admission import admit_file, described, is_admitted
from trace_gym.episode import Episode
from trace_gym.errors import (
    ConfigError,
    DuplicateEnv,
    EnvNotFound,
    ReadError,
    ScenarioError,
    TamperedEnv,
)
from trace_gym.lookup import entry_of, manifest_cards, mixture_cards, not_found, read_card
from trace_gym.mixture import Mixture
from trace_gym.modules import execute, file_bytes, file_sha256, fingerprint, loaded, world_at
from trace_gym.registration import add_folder, entries, folders, refresh
from trace_gym.splits import SPLITS, seeds_of, split_of
from trace_gym.targets.user import bases
from trace_gym.types import Description, Manifest, Origin, Report, Scenario, Spec, sha256
from trace_gym.world import World

__all__ = [
    "DOMAINS",
    "SPLITS",
    "add_folder",
    "admit",
    "described",
    "episode",
    "fingerprint",
    "folders",
    "gym_id",
    "home",
    "in_domain",
    "is_admitted",
    "level_count",
    "level_for",
    "load",
    "manifest",
    "manifests",
    "mixture",
    "mixtures",
    "module_path",
    "name_of",
    "names",
    "part_of",
    "refresh",
    "scenarios",
    "split_of",
    "world_at",
]

DOMAINS = ("airline", "retail", "mixed")
"""Where an environment of tau2 may play: in one of its domains, or in either by turns of chance."""

_log = logging.getLogger(__name__)
_GYM_ID = re.compile(r"(?:trace_gym:)?trace/([a-z0-9-]+?)(?:-v(\d+))?")


def names() -> list[str]:
    """The environments, sorted; `mixtures` lists the mixtures."""
    return [n for n, e in entries.items() if e.module]


def mixtures() -> list[str]:
    """The mixtures, sorted."""
    return [n for n, e in entries.items() if not e.module]


def name_of(gym_id_or_name: str) -> str:
    """The name behind ``trace/tau2-precondition-v0`` or ``tau2_precondition``.

    Raises:
        EnvNotFound: There is no such environment or mixture, or not in that version.
    """
    m = _GYM_ID.fullmatch(gym_id_or_name)
    entry = entry_of(m[1].replace("-", "_") if m else gym_id_or_name)
    if m and m[2] and int(m[2]) != entry.version:
        raise EnvNotFound(f"{gym_id_or_name} is not registered; the version here is {entry.gym_id}")
    return entry.name


def in_domain(name: str, domain: str) -> str:
    """The environment that trains the same in a domain of tau2, or the mixture of those of its domains.

    ``tau2_precondition`` in ``retail`` is ``tau2_retail_precondition``, in ``mixed`` ``tau2_precondition_mixed``.

    Raises:
        ConfigError: There is no such domain.
        EnvNotFound: There is no such environment in it.
    """
    if domain not in DOMAINS:
        raise ConfigError(f"domain {domain!r} is unknown; expected one of {', '.join(DOMAINS)}")
    if m := re.fullmatch(r"tau2_(?:airline_|retail_)?(\w+?)(?:_mixed)?", name_of(name)):
        forms = {"airline": ("tau2_{}", "tau2_airline_{}"), "retail": ("tau2_retail_{}",), "mixed": ("tau2_{}_mixed",)}
        for form in forms[domain]:
            if (there := form.format(m[1])) in entries:
                return there
    raise EnvNotFound(f"{name} is not there for domain {domain!r}; make one of {', '.join(entries)}")


def gym_id(name: str) -> str:
    """The id for `gymnasium.make`, such as ``trace/tau2-precondition-v0``."""
    return entry_of(name).gym_id


def manifest(name: str) -> Manifest:
    """The identity card of an environment.

    Raises:
        EnvNotFound: There is no such environment.
        DuplicateEnv: Several files claim the name.
        ReadError: The manifest cannot be read, or is another environment's.
    """
    entry = entry_of(name)
    if entry.module is None:
        raise EnvNotFound(f"{name} is a mixture of {', '.join(mixture(name).mixture)} and has no manifest of its own")
    return read_card(entry, manifest_cards)


def manifests() -> list[Manifest]:
    """Return the manifests of all environments; one that cannot be read is left out, with a warning."""
    made = []
    for name in names():
        try:
            made.append(manifest(name))
        except (ReadError, DuplicateEnv) as error:
            _log.warning("%s is left out: %s", name, error)
    return made


def mixture(name: str) -> Mixture:
    """The parts and weights of a mixture.

    Raises:
        EnvNotFound: There is no such mixture.
        ReadError: Its file cannot be read.
    """
    entry = entry_of(name)
    if entry.module is not None:
        raise EnvNotFound(f"{name} is an environment, not a mixture; the mixtures are {', '.join(mixtures())}")
    return read_card(entry, mixture_cards)


def module_path(name: str) -> Path:
    """The file of an environment's code, whether or not it has a manifest yet.

    Raises:
        EnvNotFound: No folder has such a file.
    """
    found = [p for folder in folders() if (p := folder / f"{name}.py").is_file()]
    if not found or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise not_found(name)
    return found[0]


def load(name: str) -> type[World]:
    """The world class of an environment, by name or gymnasium id.

    Raises:
        EnvNotFound: There is no such environment.
        DuplicateEnv: Several files claim the name.
        TamperedEnv: The module, or the base world of a user's own target, is not the one that its manifest admits, or
            did not pass.
        EnvBug: The module does not define the world.
    """
    name = name_of(name)
    card = manifest(name)
    module = entry_of(name).module
    assert module is not None  # manifest() refuses mixtures
    mend = f"to check it and admit it as it is: trace-gym validate {name} --admit"
    try:
        found = file_sha256(module)
    except OSError as error:
        raise ReadError(f"{module} cannot be read: {error.strerror}") from None
    world = loaded(module, found)
    if world is None:
        found = sha256(source := file_bytes(module))  # what is compared with the manifest is what runs
    if found != card.module_sha256:
        raise TamperedEnv(f"{module} has sha256 {found}, its manifest says {card.module_sha256}; {mend}")
    if not card.report.passed:
        failed = ", ".join(f"{f.code} {f.property}" for f in card.report.findings if not f.passed)
        raise TamperedEnv(f"{name} did not pass validation ({failed or 'no finding is recorded'}); {mend}")
    bases.stand_on(name, card)
    return world or execute(module, source)


def episode(scenario: Scenario | str, **options: Any) -> Episode:
    """Begin an attempt at a scenario; a mixture's scenario begins the part's, and `episode.scenario` says which.

    Args:
        scenario: An address, as a `Scenario` or as text.
        options: Passed on to `Episode`, such as ``style``. `share_start` is on unless it is given.
    """
    at = part_of(Scenario.parse(scenario) if isinstance(scenario, str) else scenario)
    return Episode(load(at.env), at, **{"share_start": True, **options})


def part_of(scenario: Scenario) -> Scenario:
    """The scenario itself, or the part's scenario that a mixture's stands for."""
    entry = entry_of(scenario.env)
    if entry.module is not None:
        return scenario
    if scenario.level >= (count := level_count(scenario.env)):
        raise ScenarioError(f"{scenario.env} has levels 0 to {count - 1}, not {scenario.level}")
    return mixture(scenario.env).part_of(scenario)


def home() -> Path:
    """The folder that new environments are written to: the last one searched, unless that is an installed package.

    Raises:
        ConfigError: No folder of the user's own is searched.
    """
    folder = folders()[-1]
    if folder == folders()[0] and not (folder.parent / "pyproject.toml").is_file():
        raise ConfigError(f"name a folder for new environments, with --out or in {registration.VARIABLE}")
    return folder


def level_count(name: str) -> int:
    """How many levels an environment has; for a mixture, those that all of its parts have."""
    if entry_of(name).module is not None:
        return manifest(name).levels
    return min(manifest(part).levels for part in mixture(name).mixture)


def scenarios(
    env: str, split: str = "train", n: int = 100, levels: Sequence[int] | None = None, offset: int = 0
) -> list[Scenario]:
    """`n` scenarios of a split with successive seeds, taking turns at `levels` (all of them by default).

    Two calls whose ``offset`` to ``offset + n`` do not overlap share no scenario.

    Raises:
        ConfigError: There is no such split, or it has not as many seeds.
        ScenarioError: A level does not exist.
    """
    seeds, count = seeds_of(split), level_count(name_of(env))
    chosen = list(range(count)) if levels is None else list(levels)
    if wrong := [level for level in chosen if level not in range(count)] or not chosen:
        raise ScenarioError(f"{env} has levels 0 to {count - 1}; asked for {wrong if chosen else 'none'}")
    if offset < 0 or n < 0 or offset + n > len(seeds):
        raise ConfigError(f"split {split!r} has seeds 0 to {len(seeds) - 1}; asked for {n} from {offset} on")
    name = name_of(env)
    return [Scenario(env=name, level=chosen[i % len(chosen)], seed=seeds[i]) for i in range(offset, offset + n)]


def level_for(env: str, seed: int) -> int:
    """A level for a seed alone, the same for ever: for callers who name a seed and no level."""
    return Random(f"{env}/{seed}").randrange(level_count(env))


def admit(
    name_or_path: str | os.PathLike[str],
    report: Report,
    author: str,
    spec: Spec | None = None,
    template_sha256: str = "",
    origin: Origin | None = None,
    mix: tuple[float, ...] | None = None,
    description: Description | None = None,
) -> Manifest:
    """Write an environment's manifest beside its module, for exactly the code that is there now.

    The module is not executed in this process: what the manifest says of it is computed in the sandbox. A module that
    has not changed since its last manifest keeps what that says of its origin, unless a spec is given.

    Args:
        name_or_path: An environment in one of the searched folders, or a module file anywhere.
        report: What it passed; an environment whose report did not pass is written down and not loaded.
        author: What wrote the module: ``template``, ``hand``, or ``llm:<model>``.
        spec: The plan that it was written from.
        template_sha256: Hash of the template that wrote it.
        origin: What it took a language model to write it.
        mix: Weights of its levels, where these were calibrated.
        description: What the sandbox found it to be; computed when it is None.

    Raises:
        EnvNotFound, ReadError: There is no such module.
        EnvBug: It does not define the world, or the world does not generate.
        ConfigError: Its levels do not count from 0.
        SandboxError: This machine cannot isolate the module, and the user has not permitted to run it so.
    """
    is_path = isinstance(name_or_path, os.PathLike) or str(name_or_path).endswith(".py")
    path = Path(name_or_path).expanduser().resolve() if is_path else module_path(str(name_or_path))
    return admit_file(path, report, author, spec, template_sha256, origin, mix, description)
