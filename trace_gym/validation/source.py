"""Loading of worlds by class, environment name or module file, whether or not they have been admitted."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvBug, EnvNotFound
from trace_gym.types import Scenario
from trace_gym.validation.interventions import start_variant
from trace_gym.world import World

EnvironmentReference = type[World] | str | os.PathLike[str]
"""World class, environment name or gymnasium id, path that ends in ``.py``, or ``module:class``."""


def load(target: EnvironmentReference) -> tuple[type[World], str]:
    """Load a world class, admitted or not; return it with a reference from which a fresh process can load it.

    Raises:
        EnvNotFound: No folder contains an environment of this name.
        ReadError: The file does not exist.
        EnvBug: The module cannot be loaded, or does not define this world.
    """
    if isinstance(target, type):
        return target, _reference(target)
    text = os.fspath(target)
    if text.endswith(".py"):
        return registry.world_at(text), _relative_path(Path(text))
    module, colon, name = text.partition(":")
    if colon and not text.startswith("trace_gym:"):
        return _imported(module, name), text
    if text in registry.list_mixtures():
        parts = ", ".join(registry.mixture(text).mixture)
        raise EnvNotFound(f"{text} is a mixture without code. Validate its parts: {parts}")
    path = registry.module_path(text if text.isidentifier() else registry.name_of(text))
    return registry.world_at(path), _relative_path(path)


def file_behind(target: EnvironmentReference) -> Path | None:
    """Return the module file that `load` executes for a path or a name; None for a class and for ``module:class``.

    Raises:
        EnvNotFound: No folder contains an environment of this name.
        ReadError: The file does not exist.
    """
    if isinstance(target, type):
        return None
    text = os.fspath(target)
    if text.endswith(".py"):
        return Path(_relative_path(Path(text)))
    if (":" in text and not text.startswith("trace_gym:")) or text in registry.list_mixtures():
        return None
    return Path(_relative_path(registry.module_path(text if text.isidentifier() else registry.name_of(text))))


def begin(target: EnvironmentReference, scenario: str) -> Episode:
    """Start and return an episode of a world, whether or not the world has been admitted.

    The counterexamples in reports use this function.
    """
    return Episode(load(target)[0], Scenario.parse(scenario))


def begin_variant(target: EnvironmentReference, scenario: str, replaced: int, salt: int = 0) -> Episode:
    """Start and return an episode of a scenario in which one random draw has a different value.

    The counterexamples in reports use this function; see `trace_gym.validation.interventions`.

    Raises:
        ConfigError: The draw does not exist, or it has only one possible value.
    """
    variant = start_variant(load(target)[0], Scenario.parse(scenario), replaced, salt)
    if variant is None:
        raise ConfigError(
            f"the random draw with index {replaced} in {scenario} does not exist or cannot have another value. Choose "
            "another index"
        )
    return variant.copy()


def _reference(world: type[World]) -> str:
    """Return the reference of a class: the path of its module file, or ``module:class``.

    Environments in the registry's package are referenced by file, because other processes may use other search folders.
    """
    module = sys.modules.get(world.__module__)
    if module is not None and module.__file__ and world.__module__.startswith("trace_gym.generated_envs."):
        return _relative_path(Path(module.__file__))
    return f"{world.__module__}:{world.__qualname__}"


def _imported(module: str, name: str) -> type[World]:
    try:
        found = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise EnvBug(f"{module}:{name} cannot be imported: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, World)):
        raise EnvNotFound(
            f"{module}:{name} is not a World; expected a world class, an environment name, or a module path"
        )
    return found


def _relative_path(path: Path) -> str:
    """Return the path relative to the working directory if it is below that directory, else the absolute path."""
    path = path.expanduser().resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
