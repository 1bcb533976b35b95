"""One module file: its bytes, the world class that it defines, and the fingerprint of that world."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
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
"""Seeds of each level in a fingerprint: enough that a change of the mix of tasks shows as well."""


def world_at(path: str | os.PathLike[str]) -> type[World]:
    """The world class in a module file, unchecked: for what checks it, and for hand-written worlds.

    Raises:
        ReadError: There is no such file.
        EnvBug: The module does not define a world whose id is the file's name.
    """
    module = Path(path).expanduser().resolve()
    return execute(module, file_bytes(module))


def fingerprint(world: type[World]) -> str:
    """Hash of the first openings and start states of every level: a generator that drifts shows here."""
    first = []
    for level in world.levels:
        for seed in range(FIRST):
            begun = Episode(world, Scenario(env=world.id, level=level, seed=seed))
            first.append(f"{begun.scenario}\n{begun.messages[-1]['content']}\n{begun.state_hash}\n")
    return sha256("".join(first))


def file_bytes(path: Path) -> bytes:
    """The content of a module file.

    Raises:
        ReadError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}") from None


_worlds: dict[str, tuple[Path, str, type[World]]] = {}
"""The last class loaded under each name, with the file and hash that it came from."""

file_sha256 = FileCache(sha256)
"""Hash of a file's content, computed again when the file changes."""


def loaded(path: Path, digest: str) -> type[World] | None:
    """Return the world class of a module file if exactly this content is loaded now, else None."""
    known = _worlds.get(path.stem)
    if known is None or known[:2] != (path, digest):
        return None
    world = known[2]
    # Another file of this name may have been loaded since.
    current: object = getattr(sys.modules.get(_module_name(path)), world.__name__, None)
    return world if current is world else None


def execute(path: Path, source: bytes) -> type[World]:
    """The world class that `source` defines, imported under the name that it has in every process.

    Exactly these bytes run: what was hashed is what runs, whatever a bytecode cache holds. Any number of threads may
    call this at once: Python's import system lets one of them run the module while the others wait for it.

    Raises:
        EnvBug: It cannot run, or defines no world whose id is the file's name.
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
            sys.modules.setdefault(_module_name(path), replaced[-1])  # its episodes are still copied by that name
        if not isinstance(error, Exception):
            raise
        raise EnvBug(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    _worlds[path.stem] = (path, digest, world)
    return world


def _import_world(path: Path, digest: str, replaced: list[ModuleType]) -> type[World]:
    """Import the world class of the offered module. Other modules of its name make way, and are added to `replaced`."""
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
    """Whether a module was imported from this file with this content.

    A pickle that arrives imports a module in the usual way, without a digest. The first content that is asked for
    after that counts as the module's own: a second copy of its classes would not pickle beside the first.
    """
    loader = getattr(module, "__loader__", None)
    if module.__file__ != str(path) or not isinstance(loader, SourceFileLoader):
        return False
    return bool(vars(loader).setdefault("digest", digest) == digest)


class _Offer(local):
    """The module that a thread is about to import: its full name, its file and the content to run."""

    module: tuple[str, Path, bytes] | None = None


_offer = _Offer()


@contextmanager
def _offered(path: Path, source: bytes) -> Iterator[None]:
    """Make imports of this thread find a module file in these bytes."""
    before, _offer.module = _offer.module, (_module_name(path), path, source)
    try:
        yield
    finally:
        _offer.module = before


class _Finder(MetaPathFinder):
    """Finds the module that this thread offers; every other import is left to the usual finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name, place, source = _offer.module or ("", Path(), b"")
        if fullname != name:
            return None
        return spec_from_file_location(fullname, place, loader=CheckedLoader(fullname, str(place), source))


if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _Finder())


def _world_of(module: ModuleType) -> type[World]:
    name = module.__name__.rpartition(".")[2]
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    for made in own:
        if issubclass(made, World) and vars(made).get("id") == name:
            return made
    raise EnvBug(f"expected a World whose id is {name!r}, found {', '.join(c.__name__ for c in own) or 'no class'}")
