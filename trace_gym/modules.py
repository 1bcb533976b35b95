"""Import of environment modules from files, and fingerprints of their world classes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from threading import local
from types import ModuleType

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug, ReadError
from trace_gym.file_cache import FileCache
from trace_gym.imports import CheckedLoader, forget
from trace_gym.registration import package
from trace_gym.types import Scenario, sha256
from trace_gym.world import World

FIRST = 32
"""Number of seeds per level in a fingerprint. It is large enough to detect changes in the distribution of tasks."""


def world_at(path: str | os.PathLike[str]) -> type[World]:
    """Return the world class in a module file without comparing the file to its manifest.

    Use this function for validation and for hand-written worlds.

    Raises:
        ReadError: The file cannot be read.
        EnvBug: The module fails, or does not define a world whose id is the file's name.
    """
    module = Path(path).expanduser().resolve()
    return execute(module, file_bytes(module))


def fingerprint(world: type[World]) -> str:
    """Return a hash of the first user messages and start states of the first seeds at each level.

    The hash detects changes of the generator.
    """
    first = []
    for level in world.levels:
        for seed in range(FIRST):
            begun = Episode(world, Scenario(env=world.id, level=level, seed=seed))
            first.append(f"{begun.scenario}\n{begun.messages[-1]['content']}\n{begun.state_hash}\n")
    return sha256("".join(first))


def file_bytes(path: Path) -> bytes:
    """Return the content of a module file.

    Raises:
        ReadError: The file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReadError(f"cannot read {path}: {error.strerror}. Check the path and its permissions") from None


_worlds: dict[str, tuple[Path, str, type[World]]] = {}
"""Mapping of each name to the file, content hash and class of the world that was loaded last under this name."""

file_sha256 = FileCache(sha256)
"""SHA-256 digest of the content of each file."""


def loaded(path: Path, digest: str) -> type[World] | None:
    """Return the world class of a module file if the version with this content hash is loaded, else None."""
    known = _worlds.get(path.stem)
    if known is None or known[:2] != (path, digest):
        return None
    world = known[2]
    # Another file with this name may have been imported since.
    current: object = getattr(sys.modules.get(_module_name(path)), world.__name__, None)
    return world if current is world else None


def execute(path: Path, source: bytes) -> type[World]:
    """Import a module from its content and return its world class.

    The name of the module is the same in all processes, so that episodes can be pickled. The content `source` is
    executed, not the current content of the file or of a bytecode cache. The function is thread-safe: one thread
    executes the module, and the others wait for it.

    Raises:
        EnvBug: The module fails, or does not define a world whose id is the file's name.
    """
    digest = sha256(source)
    if (known := loaded(path, digest)) is not None:
        return known
    replaced: list[ModuleType] = []
    try:
        with _offered(path, source):
            world = _import_world(path, digest, replaced)
    except BaseException as error:
        if replaced:
            sys.modules.setdefault(_module_name(path), replaced[-1])  # existing episodes need the module to be copied
        if not isinstance(error, Exception):
            raise
        raise EnvBug(f"{path} cannot be loaded: it raised {type(error).__name__}: {error}") from error
    _worlds[path.stem] = (path, digest, world)
    return world


def _import_world(path: Path, digest: str, replaced: list[ModuleType]) -> type[World]:
    """Import the module that `_offered` provides and return its world class.

    Modules with the same name but another file or content are removed from `sys.modules` and appended to `replaced`.
    """
    while not _is_version(module := import_module(_module_name(path)), path, digest):
        replaced.append(module)
        forget(module)
    try:
        return _world_of(module)
    except EnvBug:
        forget(module)
        raise


def _module_name(path: Path) -> str:
    return f"{package.__name__}.{path.stem}"


def _is_version(module: ModuleType, path: Path, digest: str) -> bool:
    """Return whether a module was imported from this file with this content.

    Unpickling imports a module with the usual loader, which stores no digest of the content. In this case, the first
    digest that this function gets is stored as the module's digest. Importing the module again would create a second
    copy of its classes, and objects of the first copy could no longer be pickled.
    """
    loader = getattr(module, "__loader__", None)
    if module.__file__ != str(path) or not isinstance(loader, SourceFileLoader):
        return False
    return bool(vars(loader).setdefault("digest", digest) == digest)


class _Offer(local):
    """Full name, file and content of the module that the current thread imports."""

    module: tuple[str, Path, bytes] | None = None


_offer = _Offer()


@contextmanager
def _offered(path: Path, source: bytes) -> Iterator[None]:
    """Make imports in this thread load a module file from this content while the block runs."""
    before, _offer.module = _offer.module, (_module_name(path), path, source)
    try:
        yield
    finally:
        _offer.module = before


class _EnvironmentFinder(MetaPathFinder):
    """Import finder for the module in `_offer` of the current thread.

    Other environments get the usual loader, even if pytest rewrites the assertions of this package's modules. Other
    imports use the usual finders.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name, place, source = _offer.module or ("", Path(), b"")
        if fullname != name:
            environment = fullname.startswith(f"{__package__}.generated_envs.")
            return PathFinder.find_spec(fullname, path) if environment else None
        return spec_from_file_location(fullname, place, loader=CheckedLoader(fullname, str(place), source))


if not any(isinstance(finder, _EnvironmentFinder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _EnvironmentFinder())


def _world_of(module: ModuleType) -> type[World]:
    name = module.__name__.rpartition(".")[2]
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    for made in own:
        if issubclass(made, World) and vars(made).get("id") == name:
            return made
    found = ", ".join(c.__name__ for c in own) or "no class"
    raise EnvBug(
        f"expected a World with the id {name!r}, found {found}. If this is an environment from another library, pass "
        f"its URI, such as gym:{name}:ID-v0, to trace-gym validate"
    )
