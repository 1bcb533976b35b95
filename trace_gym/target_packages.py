"""Registered target packages: Python packages that define targets and, optionally, contain environments.

The packages are listed in an environment variable, so that child processes use the same packages.
`trace_gym.targets.catalogue` reads the targets that they define.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

TARGETS_VARIABLE = "TRACE_GYM_TARGETS"
"""Environment variable with the registered target packages, separated like the folders in ``PATH``.

Each entry is the import name of a package, or the path of its folder if it is not installed.
"""
ENVIRONMENTS = "environments"
"""Subfolder of a target package that contains its environments."""


def names() -> list[str]:
    """Return the import names of the registered target packages."""
    return list(_entries())


def with_package(entry: str) -> str:
    """Return a value of `TARGETS_VARIABLE` that contains all registered packages and one more entry."""
    return os.pathsep.join(dict.fromkeys([*_entries().values(), entry]))


def with_folders() -> str:
    """Return a value of `TARGETS_VARIABLE` that lists the folders of all registered packages.

    A process with this value can import the packages without access to any other folder.
    """
    return os.pathsep.join(map(str, folders()))


def folders() -> list[Path]:
    """Return the folders of the registered target packages that can be found."""
    return [place for name in names() if (place := folder(name)) is not None]


def folder(name: str) -> Path | None:
    """Return the folder of a top-level package without importing the package; None if it cannot be found."""
    try:
        found = find_spec(name) if name.isidentifier() else None
    except (ImportError, ValueError):
        return None
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]).resolve() if places else None


def name_of(entry: str) -> str:
    """Return the import name of an entry of `TARGETS_VARIABLE`."""
    return Path(entry).name if os.sep in entry else entry


def _entries() -> dict[str, str]:
    """Return the entries of `TARGETS_VARIABLE` by import name. If a name occurs twice, the first entry applies."""
    listed = (entry.strip().rstrip(os.sep) for entry in os.environ.get(TARGETS_VARIABLE, "").split(os.pathsep))
    return {name_of(entry): entry for entry in reversed([e for e in listed if e])}


class _TargetFinder(MetaPathFinder):
    """Finder of the packages that are registered by the path of their folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        entry = _entries().get(fullname, "") if path is None else ""
        place = Path(entry).expanduser().resolve()
        if os.sep not in entry or not (place / "__init__.py").is_file():
            return None
        return spec_from_file_location(fullname, place / "__init__.py", submodule_search_locations=[str(place)])


sys.meta_path.insert(0, _TargetFinder())
