"""Base worlds of custom targets. The import of a base world fails if its file was changed after it was admitted.

Generated environments import base worlds like any other module. The check is part of the import, so it also runs in
worker processes and when an object is unpickled.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType

from trace_gym.errors import ReadError, TamperedEnv
from trace_gym.file_cache import FileCache
from trace_gym.imports import CheckedLoader, forget
from trace_gym.targets.user import folder
from trace_gym.targets.user.folder import TargetFolder
from trace_gym.types import Manifest, sha256
from trace_gym.world import World

PACKAGE = "trace_gym.targets.user"
SUFFIX = "_base"
TOOLS_SLOT, TRAJECTORIES_SLOT = "tools_sha256", "trajectories_sha256"
"""Slots of a base world's spec that contain the hashes of the target's tools and of its trajectories."""


def module_of(home: TargetFolder) -> str:
    """Return the full name of the module of a target's base world."""
    return f"{PACKAGE}.{home.name}{SUFFIX}"


def card_of(home: TargetFolder) -> Manifest | None:
    """Return the manifest of a target's base world, or None if the target has no manifest.

    Raises:
        ReadError: The manifest cannot be read.
    """
    place = home.base_module.with_suffix(".json")
    try:
        return _card(place)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ReadError(f"{place} is not a valid manifest: {error}. To write it again, run {fix(home)}") from None


_card = FileCache(Manifest.model_validate_json)
_source = FileCache(lambda content: (content, sha256(content)))


def fix(home: TargetFolder) -> str:
    """Return the shell command that checks the existing base world and admits it."""
    return f"trace-gym target check {home.path} --admit"


def admitted(home: TargetFolder) -> bytes:
    """Return the source of a target's admitted base world.

    Raises:
        TamperedEnv: There is no admitted base world, or the base world or the tools of the target have changed since
            its admission.
        ReadError: The manifest cannot be read.
    """
    card = card_of(home)
    if card is None or not home.base_module.is_file():
        raise TamperedEnv(
            f"the target {home.name} has no admitted base world. To generate one, run trace-gym synthesize --target "
            f"{home.path} --author llm --llm ...; to admit your own base world in {home.base_module}, run {fix(home)}"
        )
    source, found = _source(home.base_module)
    if found != card.module_sha256 or not card.report.passed:
        why = f"has sha256 {found}, its manifest expects {card.module_sha256}" if card.report.passed else "did not pass"
        raise TamperedEnv(f"{home.base_module} {why}; to check it and admit it as it is: {fix(home)}")
    if card.spec is not None and card.spec.slots.get(TOOLS_SLOT) != home.tools_sha256:
        raise TamperedEnv(
            f"the tools of {home.name} have changed since {home.base_module.name} was admitted; "
            f"to check and admit the base world again, run {fix(home)}"
        )
    return source


def load_base_module(home: TargetFolder) -> ModuleType:
    """Import the base world of a target and return its module.

    If a different file or version was imported under the same name, it is replaced.

    Raises:
        TamperedEnv: The file is not the admitted base world.
    """
    name = module_of(home)
    known = sys.modules.get(name)
    if known is not None and (known.__file__, _digest(known)) != (str(home.base_module), sha256(admitted(home))):
        forget(known)
    return importlib.import_module(name)


def base_sha256(world: type[World]) -> str:
    """Return the hash of the base world that a world of a custom target extends, or `""` for any other world."""
    bases = [kind.__module__ for kind in world.__mro__ if kind.__module__.startswith(f"{PACKAGE}.")]
    return next((_digest(sys.modules[name]) for name in bases if name.endswith(SUFFIX)), "")


def require_admitted_base(env: str, card: Manifest) -> None:
    """Check that an environment was validated with the current version of its custom target's base world.

    Do nothing if the environment does not belong to a custom target.

    Args:
        env: Name of the environment.
        card: Manifest of the environment.

    Raises:
        ConfigError: The target is not in the searched folders.
        TamperedEnv: The base world has changed since the validation.
    """
    if not card.base_sha256:
        return
    home = folder.find(card.target)
    if (found := _digest(load_base_module(home))) != card.base_sha256:
        raise TamperedEnv(
            f"{env} was validated on a base world with sha256 {card.base_sha256}, but {home.base_module} now has the "
            f"sha256 {found}. To validate it with the current base world and admit it, run trace-gym validate {env} "
            "--admit"
        )


def install() -> None:
    """Add the import finder for base worlds, unless it was added before."""
    if not any(isinstance(finder, _BaseWorldFinder) for finder in sys.meta_path):
        sys.meta_path.append(_BaseWorldFinder())


def _digest(module: ModuleType) -> str:
    return str(getattr(module.__loader__, "digest", ""))


class _BaseWorldFinder(MetaPathFinder):
    """Import finder for base worlds, which finds the module ``<target>_base`` in the folder of the target."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package != PACKAGE or not name.endswith(SUFFIX):
            return None
        home = folder.find(name.removesuffix(SUFFIX))
        place = str(home.base_module)
        return spec_from_file_location(fullname, place, loader=CheckedLoader(fullname, place, admitted(home)))
