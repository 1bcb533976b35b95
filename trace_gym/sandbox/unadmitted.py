"""Module files that are not admitted yet: everything that is done with them happens in the sandbox."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from trace_gym.errors import ConfigError, EnvBug
from trace_gym.sandbox.confine import Sandbox
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.view import WORK
from trace_gym.targets.user.bases import PACKAGE, SUFFIX
from trace_gym.targets.user.folder import SETTINGS, find, read
from trace_gym.types import Description

DESCRIBING = Limits(cpu_seconds=120.0, wall_seconds=120.0)


@dataclass(frozen=True)
class Footing:
    """What a module needs inside the sandbox besides itself."""

    imports: tuple[str, ...] = ()
    """Modules that it imports. They are imported first, so that the module itself causes no file to be read."""
    lent: dict[str, str] = field(default_factory=dict)
    """Files of the user's own target that it is made for, by their place in its folder."""

    @property
    def options(self) -> dict[str, object]:
        """The same as arguments of `Sandbox.validate`."""
        return {"target_imports": self.imports, "lent": self.lent}


def footing_of(path: Path, source: bytes) -> Footing:
    """Find out what a module needs, without running it.

    Raises:
        ReadError: A file of its target cannot be read.
    """
    imports = tuple(dict.fromkeys(_imports(source)))
    if path.parent.name == "base" and (path.parent.parent / SETTINGS).is_file():  # the base world of a target
        return Footing(imports, read(path.parent.parent).files(base=False))
    for name in imports:
        package, _, module = name.rpartition(".")
        if package == PACKAGE and module.endswith(SUFFIX):
            try:
                return Footing(imports, find(module.removesuffix(SUFFIX)).files())
            except ConfigError:
                break  # validation reports that the import fails
    return Footing(imports)


def describe(path: Path, source: bytes) -> Description:
    """Return what a manifest says of a module, computed in a sandbox.

    Raises:
        EnvBug: The module cannot be loaded or does not generate.
        ConfigError: Its levels do not count from 0.
        SandboxError: This machine cannot isolate it.
    """
    needs = footing_of(path, source)
    try:
        return _described(path.stem, source, needs.imports, tuple(sorted(needs.lent.items())))
    except (EnvBug, ConfigError) as error:
        says = re.sub(rf"({re.escape(WORK)}|/\S*/trace-gym-\w+)/{re.escape(path.name)}", str(path), str(error))
        raise type(error)(says) from None


@lru_cache(maxsize=64)
def _described(name: str, source: bytes, imports: tuple[str, ...], lent: tuple[tuple[str, str], ...]) -> Description:
    with Sandbox(DESCRIBING) as sandbox:
        return sandbox.describe(name, source, target_imports=imports, lent=dict(lent))


def _imports(source: bytes) -> Iterator[str]:
    """The full names of the modules that are imported anywhere in the text."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # validation reports what is wrong with it
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module.startswith("trace_gym."))
