"""Search for environments in folders, and registration of their Gymnasium ids.

An environment consists of a module ``<name>.py`` and a manifest ``<name>.json`` in the same folder. A mixture is a file
``<name>.json`` without a module. This module reads only names and versions and imports no environment, so that
``import trace_gym`` is fast. `trace_gym.registry` reads manifests and modules.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import RLock

import gymnasium

from trace_gym import target_packages
from trace_gym.errors import ConfigError, DuplicateEnv, ReadError
from trace_gym.target_packages import TARGETS_VARIABLE

VARIABLE = "TRACE_GYM_ENVS"
"""Environment variable with the folders that are searched after the folder of this package."""

ALLOW_UNISOLATED, ALLOW_UNISOLATED_FLAG = "TRACE_GYM_ALLOW_UNISOLATED", "--allow-unisolated"
"""Environment variable (with the value ``1``) and option that permit running unadmitted code without isolation."""

package = import_module("trace_gym.generated_envs")
"""Package of the environments.

It is imported by name because type checkers do not know that pyproject.toml maps it into `trace_gym`.
"""

_PACKAGED = Path(str(package.__file__)).parent.resolve()
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class RegistryEntry:
    """Files of an environment or a mixture. Only the version has been read from them."""

    name: str
    card: Path
    """Manifest of the environment, or file of the mixture."""
    module: Path | None
    """Module of the environment; None for a mixture."""
    version: int = 0
    rivals: tuple[Path, ...] = ()
    """Files in later folders that define the same name."""

    @property
    def gym_id(self) -> str:
        return f"trace/{self.name.replace('_', '-')}-v{self.version}"


class Entries(Mapping[str, RegistryEntry]):
    """Sorted mapping from names to entries. `refresh` replaces all entries at once, so that its state is consistent."""

    def __init__(self) -> None:
        self._now: dict[str, RegistryEntry] = {}

    def replace(self, entries: Iterable[RegistryEntry]) -> None:
        self._now = {e.name: e for e in sorted(entries, key=lambda e: e.name)}

    def __getitem__(self, name: str) -> RegistryEntry:
        return self._now[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)

    def items(self) -> ItemsView[str, RegistryEntry]:  # `Mapping.items` would look up each name later, after a refresh
        return self._now.items()

    def values(self) -> ValuesView[RegistryEntry]:
        return self._now.values()


entries = Entries()
"""All environments and mixtures. `refresh` fills this mapping."""

_refreshing = RLock()
"""Lock for searching the folders, so that the result of the latest search is kept."""


def _release_in_child() -> None:
    """Create a new lock in a forked process, because the thread that may hold the old lock does not exist there."""
    global _refreshing
    _refreshing = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)


def folders() -> list[Path]:
    """Return the searched folders in order: the folders of packages, then the folders in `VARIABLE`."""
    named = [Path(p).expanduser().resolve() for p in os.environ.get(VARIABLE, "").split(os.pathsep) if p]
    return list(dict.fromkeys([*package_folders(), *named]))  # a folder that is listed twice is searched once


def package_folders() -> list[Path]:
    """Return the folders with environments that belong to this package and to the registered target packages."""
    return [_PACKAGED, *(place / target_packages.ENVIRONMENTS for place in target_packages.folders())]


def refresh() -> None:
    """Search the folders again, and update the ids ``trace/*`` in the registry of Gymnasium."""
    with _refreshing:
        searched = folders()
        package.__path__[:] = map(str, searched)
        before = {entry.gym_id for entry in entries.values()}
        entries.replace(_found(searched))
        now = {entry.gym_id: entry for entry in entries.values()}
        for gone in before - now.keys():
            gymnasium.registry.pop(gone, None)
        for gym_id, entry in now.items():
            if gym_id not in gymnasium.registry:  # existing ids are kept, so that they are available at all times
                gymnasium.register(
                    gym_id,
                    entry_point="trace_gym.adapters.gymnasium:TraceEnv",
                    vector_entry_point="trace_gym.adapters.gymnasium:make_vec",
                    kwargs={"name": entry.name},
                )


def add_folder(path: str | os.PathLike[str]) -> list[str]:
    """Add a folder to the searched folders of this process and of the processes that it starts.

    Returns:
        The names of the environments and mixtures in the folder that were not registered before.

    Raises:
        ReadError: The folder does not exist.
        DuplicateEnv: Another folder defines one of the names. The folder is not added.
    """
    folder = Path(path).expanduser().resolve()
    if not folder.is_dir():
        raise ReadError(
            f"{folder} is not a folder: expected a folder with an environment module NAME.py and its manifest NAME.json"
        )
    if folder in folders():
        refresh()
        return [n for n, e in entries.items() if e.card.parent == folder]
    with _refreshing:
        before = os.environ.get(VARIABLE, "")
        os.environ[VARIABLE] = os.pathsep.join(filter(None, [before, str(folder)]))
        refresh()
        if twice := [e for e in entries.values() if any(p.parent == folder for p in e.rivals)]:
            os.environ[VARIABLE] = before
            refresh()
            raise DuplicateEnv("; ".join(map(duplicate, twice)))
        return [n for n, e in entries.items() if e.card.parent == folder]


@contextmanager
def adding_package(entry: str) -> Iterator[None]:
    """Register a target package in this process and in the processes that it starts; undo this if the block fails.

    Args:
        entry: Import name of the package, or the path of its folder.

    Raises:
        ConfigError: The package cannot be found.
        DuplicateEnv: One of its environments has the name of another environment.
    """
    with _refreshing:
        before = os.environ.get(TARGETS_VARIABLE, "")
        os.environ[TARGETS_VARIABLE] = target_packages.with_package(
            str(Path(entry).expanduser().resolve()) if os.sep in entry else entry
        )
        try:
            if (place := target_packages.folder(target_packages.name_of(entry))) is None:
                raise ConfigError(
                    f"the target package {entry!r} cannot be found: expected the import name of an installed top-level "
                    "package, or the path of its folder. Install the package, or correct the path"
                )
            refresh()
            folder = place / target_packages.ENVIRONMENTS
            claimed = [e for e in entries.values() if e.rivals]
            if twice := [e for e in claimed if folder in (e.card.parent, *(p.parent for p in e.rivals))]:
                raise DuplicateEnv("; ".join(map(duplicate, twice)))
            yield
        except BaseException:
            os.environ[TARGETS_VARIABLE] = before
            refresh()
            raise


def duplicate(entry: RegistryEntry) -> str:
    """Return the error message for a name that several files define."""
    claims = ", ".join(str(p) for p in (entry.module or entry.card, *entry.rivals))
    return f"several files claim to be {entry.name!r}: {claims}; rename or remove all but one"


def version_in(card: Path) -> int:
    """Return the version in a manifest or in the file of a mixture; 0 if the file contains none."""
    version = _read(card).get("version")
    return version if isinstance(version, int) and version >= 0 else 0


def _found(searched: list[Path]) -> list[RegistryEntry]:
    claims: dict[str, list[Path]] = {}
    cards: dict[str, Path] = {}
    for folder in searched:
        files = {p.name: p for p in sorted(folder.glob("*")) if p.is_file()} if folder.is_dir() else {}
        for name in sorted({p.stem for p in files.values() if _NAME.fullmatch(p.stem)}):
            module, card = files.get(f"{name}.py"), files.get(f"{name}.json")
            if card is not None and (module or "mixture" in _read(card)):
                cards.setdefault(name, card)
            elif module is None:
                continue  # a JSON file that is neither a manifest nor a mixture
            claims.setdefault(name, []).append(module or card)  # type: ignore[arg-type]  # one of the two is not None
    return [_entry(name, card, claims[name]) for name, card in cards.items()]


def _entry(name: str, card: Path, claims: list[Path]) -> RegistryEntry:
    module = card.with_suffix(".py")
    rivals = tuple(p for p in claims if p.parent != card.parent)
    return RegistryEntry(name, card, module if module.is_file() else None, version_in(card), rivals)


def _read(card: Path) -> dict[str, object]:
    """Return the JSON object in a file; empty if it cannot be read. `trace_gym.registry` reports the error later."""
    try:
        made = json.loads(card.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return made if isinstance(made, dict) else {}
