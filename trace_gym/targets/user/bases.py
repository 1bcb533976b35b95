"""Base worlds of users' own targets: imported only as they were admitted.

Generated environments import them like any module, so the check stands in the import itself, and holds in worker
processes and when a pickle arrives, too.
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
"""Slots of a base world's spec: hashes of what it was written for and compared with."""


def module_of(home: TargetFolder) -> str:
    """Full name of the module of a target's base world."""
    return f"{PACKAGE}.{home.name}{SUFFIX}"


def card_of(home: TargetFolder) -> Manifest | None:
    """The manifest of a target's base world; None where there is none.

    Raises:
        ReadError: It cannot be read.
    """
    place = home.base_module.with_suffix(".json")
    try:
        return _card(place)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ReadError(f"{place} is no manifest: {error}; write it anew: {mend(home)}") from None


_card = FileCache(Manifest.model_validate_json)
_source = FileCache(lambda content: (content, sha256(content)))


def mend(home: TargetFolder) -> str:
    """The command that checks a base world and admits it as it is."""
    return f"trace-gym target check {home.path} --admit"


def admitted(home: TargetFolder) -> bytes:
    """The source of a target's base world, if it is the admitted one and the tools are those that it was made for.

    Raises:
        TamperedEnv: There is none, or it is another.
        ReadError: Its manifest cannot be read.
    """
    card = card_of(home)
    if card is None or not home.base_module.is_file():
        raise TamperedEnv(
            f"the target {home.name} has no admitted base world; have one written: trace-gym synthesize --target "
            f"{home.path} --author llm --llm ...; or check one of your own, {home.base_module}: {mend(home)}"
        )
    source, found = _source(home.base_module)
    if found != card.module_sha256 or not card.report.passed:
        why = f"has sha256 {found}, its manifest says {card.module_sha256}" if card.report.passed else "did not pass"
        raise TamperedEnv(f"{home.base_module} {why}; to check it and admit it as it is: {mend(home)}")
    if card.spec is not None and card.spec.slots.get(TOOLS_SLOT) != home.tools_sha256:
        raise TamperedEnv(
            f"the tools of {home.name} have changed since {home.base_module.name} was admitted; "
            f"to check it again: {mend(home)}"
        )
    return source


def load(home: TargetFolder) -> ModuleType:
    """The module of a target's base world, imported anew if another one of its name was imported before.

    Raises:
        TamperedEnv: It is not the admitted one.
    """
    name = module_of(home)
    known = sys.modules.get(name)
    if known is not None and (known.__file__, _digest(known)) != (str(home.base_module), sha256(admitted(home))):
        forget(known)
    return importlib.import_module(name)


def base_sha256(world: type[World]) -> str:
    """Hash of the base world that a world stands on; empty where that is none of a user's own."""
    bases = [kind.__module__ for kind in world.__mro__ if kind.__module__.startswith(f"{PACKAGE}.")]
    return next((_digest(sys.modules[name]) for name in bases if name.endswith(SUFFIX)), "")


def stand_on(env: str, card: Manifest) -> None:
    """Import the base world that an environment was validated on, where it is one of a user's own.

    Raises:
        ConfigError: The target is in none of the searched folders.
        TamperedEnv: The target's base world is another one now.
    """
    if not card.base_sha256:
        return
    home = folder.find(card.target)
    if (found := _digest(load(home))) != card.base_sha256:
        raise TamperedEnv(
            f"{env} was validated on a base world with sha256 {card.base_sha256}, {home.base_module} has {found}; "
            f"to check it on that and admit it: trace-gym validate {env} --admit"
        )


def install() -> None:
    """Let Python find base worlds; once is enough."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def _digest(module: ModuleType) -> str:
    return str(getattr(module.__loader__, "digest", ""))


class _Finder(MetaPathFinder):
    """Finds ``<target>_base`` in the target's folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package != PACKAGE or not name.endswith(SUFFIX):
            return None
        home = folder.find(name.removesuffix(SUFFIX))
        place = str(home.base_module)
        return spec_from_file_location(fullname, place, loader=CheckedLoader(fullname, place, admitted(home)))
