"""One module file: its bytes, the world class that it defines, and the fingerprint of that world."""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from trace_gym.episode import Episode
from trace_gym.errors import EnvBug, ReadError
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


def execute(path: Path, source: bytes) -> type[World]:
    """The world class that `source` defines, imported under the name that it has in every process.

    Exactly these bytes run: what was hashed is what runs, whatever a bytecode cache holds.

    Raises:
        EnvBug: It cannot run, or defines no world whose id is the file's name.
    """
    name, digest = path.stem, sha256(source)
    module_name = f"{package.__name__}.{name}"
    before = sys.modules.get(module_name)
    if name in _worlds:
        loaded_from, loaded_digest, world = _worlds[name]
        # Another file of this name may have been loaded since.
        current: object = getattr(before, world.__name__, None)
        if (loaded_from, loaded_digest) == (path, digest) and current is world:
            return world
    elif before is not None and before.__file__ == str(path):
        # A pickle's arrival imported it already; a second copy of its classes would not pickle beside the first.
        _worlds[name] = (path, digest, _world_of(before))
        return _worlds[name][2]
    spec = spec_from_file_location(module_name, path)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and pickle look it up while it runs
    try:
        exec(compile(source, path, "exec"), vars(module))
        world = _world_of(module)
    except Exception as error:
        if before is None:
            del sys.modules[module_name]
        else:
            sys.modules[module_name] = before
        raise EnvBug(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    setattr(package, name, module)
    _worlds[name] = (path, digest, world)
    return world


def _world_of(module: ModuleType) -> type[World]:
    name = module.__name__.rpartition(".")[2]
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__]
    for made in own:
        if issubclass(made, World) and vars(made).get("id") == name:
            return made
    raise EnvBug(f"expected a World whose id is {name!r}, found {', '.join(c.__name__ for c in own) or 'no class'}")
