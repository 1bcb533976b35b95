"""Registry of targets: those that ship with the project, those of registered packages, and custom target folders."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from trace_gym import registration, target_packages
from trace_gym.errors import ConfigError, ReadError
from trace_gym.targets import DEFAULT_TARGET
from trace_gym.targets.base import Reader, Roles, Target
from trace_gym.targets.user import bases
from trace_gym.targets.user.folder import SETTINGS, TargetFolder, find, read
from trace_gym.types import Trajectory

SHIPPED = ("trace_gym.targets.tau2.target", "trace_gym.targets.toolsandbox.target")
"""Modules that define the targets that ship with the project, in their attribute ``TARGETS``."""
USERS = ("users.scripted", "users.answers")
"""Modules that implement the scripted user of a custom target, relative to `trace_gym.targets`."""

TARGETS: dict[str, Target] = {t.name: t for module in SHIPPED for t in importlib.import_module(module).TARGETS}
"""Targets that ship with the project, by name."""


def registered() -> Mapping[str, Target]:
    """Return the targets that ship with the project and those of registered packages, by name.

    Raises:
        ConfigError: A registered package cannot be imported, or its ``TARGETS`` is not valid.
    """
    return _registered(tuple(target_packages.names()))


def add_package(package: str) -> list[str]:
    """Register the targets and environments of a package in this process and in its child processes.

    A package defines its targets in the attribute ``TARGETS``, a sequence of `Target`. Its environments, if it has any,
    are in the subfolder ``environments``.

    Args:
        package: Import name of the package, or the path of its folder if it is not installed.

    Returns:
        The names of the targets that the package defines.

    Raises:
        ConfigError: The package cannot be imported, or its ``TARGETS`` is not valid.
        DuplicateEnv: One of its environments has the name of another environment.
    """
    with registration.adding_package(package):
        name = target_packages.name_of(package)
        return [t.name for t in registered().values() if t.name not in TARGETS and _package_of(t) == name]


def target(name: str) -> Target:
    """Return a target by name: a registered target, or a custom target folder with an admitted base world.

    Raises:
        ConfigError: There is no such target. The message lists the existing targets.
        TamperedEnv: The base world of a custom target is missing or differs from the admitted version.
    """
    if (known := registered().get(name)) is not None:
        return known
    try:
        home = find(name)
    except ConfigError as error:
        names = ", ".join(sorted(registered()))
        raise ConfigError(f"{error}; the built-in targets are {names}") from None
    bases.load_base_module(home)
    return _of_folder(home)


def default_target() -> Target:
    """Return the target that commands use if no other target is given."""
    return TARGETS[DEFAULT_TARGET]


def all_targets() -> Iterator[Target]:
    """Yield the registered targets and the custom targets in the searched folders, without loading base worlds."""
    yield from registered().values()
    for home in _folders():
        yield _of_folder(home)


def foundation(home: TargetFolder) -> Target:
    """Return a custom target whose base world is `TargetWorld`, the class that its own base world will extend."""
    return Target(home.name, home.prefix, bases.PACKAGE, "TargetWorld", open=("world",), shared=USERS)


def readers() -> list[Reader]:
    """Return the distinct readers of the registered targets. Domains of one benchmark share their readers."""
    return list({id(reader): reader for t in registered().values() for reader in t.readers}.values())


def roles_of(trajectory: Trajectory) -> Roles:
    """Return the roles of the write tools and arguments in a trajectory.

    If the target of the trajectory is unknown or does not declare roles, the entities are the arguments whose names end
    with the word ``id``, in the order in which they occur in the reference. All other arguments are precise values.
    """
    found = _target_of(trajectory)
    if found and found.roles:
        return found.roles
    names = dict.fromkeys(name for call in trajectory.gold or () for name in call.arguments)
    return Roles(entities=tuple(name for name in names if re.search(r"(?:^|_)(?:id|ID)$|[a-z]I[dD]$", name)))


def target_name_of(trajectory: Trajectory) -> str:
    """Return the name of the target of a trajectory, or an empty string if the target is unknown."""
    found = _target_of(trajectory)
    return found.name if found else ""


def _target_of(trajectory: Trajectory) -> Target | None:
    """Return the target whose write tools include all those of the trajectory. Prefer the one with the fewest."""
    writes = frozenset(tool for tool, kind in trajectory.tools.items() if kind == "write")
    fitting = [(len(kinds), found) for kinds, found in _write_tools() if writes and writes <= kinds]
    return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


def importable_modules() -> tuple[str, ...]:
    """Return the full names of the modules of all registered targets that environments may import."""
    return tuple(dict.fromkeys(module for t in registered().values() for module in t.modules))


def is_target_code(module: str) -> bool:
    """Return whether a module, given by its full name, belongs to a target."""
    packages = (__package__ or "", *target_packages.names())
    return module.startswith(tuple(f"{package}." for package in packages))


def _of_folder(home: TargetFolder) -> Target:
    """Return the target that a custom target folder defines, without loading its base world."""
    said = home.settings
    return Target(
        home.name,
        home.prefix,
        bases.PACKAGE,
        home.base_class,
        open=(bases.module_of(home).rpartition(".")[2],),
        read=("world",),
        shared=USERS,
        example=said.example,
        benchmark=said.benchmark,
        domain=said.domain,
        roles=home.roles,
        descriptions=said.capabilities,
    )


def _folders() -> Iterator[TargetFolder]:
    """Yield the custom target folders in the searched folders. Skip unreadable ones; `find` reports their errors."""
    for folder in registration.folders():
        if (folder / SETTINGS).is_file():
            try:
                yield read(folder)
            except ReadError:
                continue


def _write_tools() -> Iterator[tuple[frozenset[str], Target]]:
    """Yield each target that has write tools, preceded by the names of those tools."""
    for known in registered().values():
        yield _writes_of(known), known
    for home in _folders():
        try:
            yield frozenset(tool for tool, kind in home.kinds.items() if kind == "write"), _of_folder(home)
        except ReadError:
            continue


@lru_cache(maxsize=64)
def _writes(package: str, module: str, base: str) -> frozenset[str]:
    world = vars(importlib.import_module(f"{package}.{module}"))[base]
    return frozenset(tool for tool, kind in world.interface().kinds.items() if kind == "write")


def _writes_of(known: Target) -> frozenset[str]:
    return _writes(known.package, known.open[0], known.base)


@lru_cache(maxsize=8)
def _registered(packages: tuple[str, ...]) -> Mapping[str, Target]:
    found = dict(TARGETS)
    for package in packages:
        for made in _targets_in(package):
            if made.name in found:
                raise ConfigError(
                    f"the package {package} defines the target {made.name!r}, but a target with this name already "
                    "exists. Rename the target in the package"
                )
            found[made.name] = made
    return found


def _targets_in(package: str) -> tuple[Target, ...]:
    """Return the targets that a package defines."""
    fix = f"Correct the package, or remove it from {target_packages.TARGETS_VARIABLE}"
    try:
        module = importlib.import_module(package)
    except Exception as error:
        raise ConfigError(
            f"the target package {package} cannot be imported: {type(error).__name__}: {error}. {fix}"
        ) from None
    found = getattr(module, "TARGETS", None)
    if not isinstance(found, (tuple, list)) or not found or not all(isinstance(t, Target) for t in found):
        raise ConfigError(
            f"{package}.TARGETS is not valid: found {found!r:.60}, expected a list of at least one "
            f"trace_gym.targets.base.Target. {fix}"
        )
    if outside := [t for t in found if _package_of(t) != package]:
        raise ConfigError(
            f"the target {outside[0].name} of the package {package} refers to modules in another package: found "
            f"{outside[0].package}, expected {package} or a package inside it. {fix}"
        )
    return tuple(found)


def _package_of(known: Target) -> str:
    return known.package.partition(".")[0]
