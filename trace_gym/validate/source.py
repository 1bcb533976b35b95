"""Where a world comes from: a class, a name, or a module file, with or without a manifest."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import EnvBug, EnvNotFound
from trace_gym.types import Scenario
from trace_gym.world import World

Target = type[World] | str | os.PathLike[str]
"""A world class; a name or gymnasium id; a path ending in ``.py``; or ``module:class``."""


def load(target: Target) -> tuple[type[World], str]:
    """The world of a target, whether or not it was admitted, and how a fresh process finds it.

    Raises:
        EnvNotFound: No folder has an environment of this name.
        ReadError: There is no such file.
        EnvBug: The module cannot be loaded, or defines no such world.
    """
    if isinstance(target, type):
        return target, _reference(target)
    text = os.fspath(target)
    if text.endswith(".py"):
        return registry.world_at(text), _short(Path(text))
    module, colon, name = text.partition(":")
    if colon and not text.startswith("trace_gym:"):
        return _imported(module, name), text
    if text in registry.mixtures():
        parts = ", ".join(registry.mixture(text).mixture)
        raise EnvNotFound(f"{text} is a mixture and has no code of its own; validate its parts: {parts}")
    path = registry.module_path(text if text.isidentifier() else registry.name_of(text))
    return registry.world_at(path), _short(path)


def file_behind(target: Target) -> Path | None:
    """The module file that `load` would execute for a path or a name; None for a class and for ``module:class``.

    Raises:
        EnvNotFound: No folder has an environment of this name.
        ReadError: There is no such file.
    """
    if isinstance(target, type):
        return None
    text = os.fspath(target)
    if text.endswith(".py"):
        return Path(_short(Path(text)))
    if (":" in text and not text.startswith("trace_gym:")) or text in registry.mixtures():
        return None
    return Path(_short(registry.module_path(text if text.isidentifier() else registry.name_of(text))))


def begin(target: Target, scenario: str) -> Episode:
    """An episode of a world that may not have been admitted yet; the counterexamples of a report begin so."""
    return Episode(load(target)[0], Scenario.parse(scenario))


def _reference(world: type[World]) -> str:
    """Environments under the registry's package are found by file, as their folder may not be searched elsewhere."""
    module = sys.modules.get(world.__module__)
    if module is not None and module.__file__ and world.__module__.startswith("trace_gym.generated_envs."):
        return _short(Path(module.__file__))
    return f"{world.__module__}:{world.__qualname__}"


def _imported(module: str, name: str) -> type[World]:
    try:
        found = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise EnvBug(f"{module}:{name} cannot be imported: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, World)):
        raise EnvNotFound(f"{module}:{name} is no World; expected a world class, a name, or the path of a module")
    return found


def _short(path: Path) -> str:
    """The path from here where it lies below, else the whole path."""
    path = path.expanduser().resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
