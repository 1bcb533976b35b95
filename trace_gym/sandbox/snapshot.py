"""Snapshots of trace_gym and its libraries, for detecting that an untrusted module has replaced parts of them.

Snapshots from before and after a run of the module are compared, which yields the names of replaced objects, such as a
check, the scoring, `World.copy` or a table of the target. The snapshots are taken in the same process in which the
module runs. Malicious code could restore the originals or replace the snapshot functions, so this is not the only
protection.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

Snapshot = dict[str, object]
"""Mapping from the dotted name of each object to its identity."""

PACKAGE_NAME = "trace_gym"
LIBRARIES = (
    *("builtins", "copy", "copyreg", "dataclasses", "difflib", "functools", "hashlib", "inspect", "itertools", "json"),
    *("json.decoder", "json.encoder", "math", "multiprocessing", "os", "pickle", "random", "re", "statistics"),
    *("subprocess", "sys", "typing", "collections", "contextlib", "time", "gymnasium", "hypothesis", "jsonschema"),
    *("numpy.random", "pydantic", "pydantic.main"),
)
"""Modules outside trace_gym that validation depends on."""
CALLABLE = (FunctionType, BuiltinFunctionType, MethodType, type)


def take_snapshot(leave_out: str = "") -> Snapshot:
    """Return a snapshot of the loaded modules.

    Args:
        leave_out: Full name of the untrusted module, which is excluded.
    """
    found: Snapshot = {}
    for name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or name == leave_out:
            continue
        ours = name.partition(".")[0] == PACKAGE_NAME
        if ours or name in LIBRARIES:
            found |= dict(_of_module(name, module, ours))
    return found


def changed_names(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the names of changed, removed or added objects. Modules that were imported in between are excluded."""
    modules = {name.partition(":")[0] for name in before}
    return sorted(
        name
        for name in before.keys() | after.keys()
        if name.partition(":")[0] in modules and before.get(name) != after.get(name)
    )


def _of_module(name: str, module: ModuleType, ours: bool) -> Iterator[tuple[str, object]]:
    for key, value in list(vars(module).items()):
        if isinstance(value, ModuleType) or key == "__warningregistry__":
            continue
        if isinstance(value, type) and value.__module__ == name:
            yield f"{name}:{key}", id(value)
            yield from _of_class(f"{name}:{key}", value)
        elif isinstance(value, CALLABLE):
            yield f"{name}:{key}", _identity(value)
        elif ours and key.isupper():
            yield f"{name}:{key}", _content(value)
        elif ours and not key.startswith("_"):
            yield f"{name}:{key}", type(value).__name__


def _of_class(prefix: str, kind: type) -> Iterator[tuple[str, object]]:
    for key, value in list(vars(kind).items()):
        if callable(value) or isinstance(value, (classmethod, staticmethod, property)):
            yield f"{prefix}.{key}", _identity(getattr(value, "__func__", getattr(value, "fget", value)))
    yield f"{prefix}.__bases__", tuple(map(id, kind.__bases__))


def _identity(value: Any) -> object:
    """Return the id of an object. For a function, the result also identifies its code and defaults."""
    if not isinstance(value, FunctionType):
        return id(value)
    return id(value), id(value.__code__), repr(value.__defaults__), repr(value.__kwdefaults__)


def _content(value: object) -> str:
    return hashlib.sha256(repr(_parts(value, set())).encode("utf-8", "replace")).hexdigest()


def _parts(value: Any, seen: set[int]) -> object:
    """Return the content of a table in a comparable form.

    Callables are represented by identity and code, because their `repr` could be forged.
    """
    if value is None or type(value) in (str, int, float, bool, bytes):
        return value
    if id(value) in seen:
        return id(value)
    seen.add(id(value))
    if isinstance(value, (dict, MappingProxyType)):
        return [id(type(value)), [(_parts(k, seen), _parts(v, seen)) for k, v in value.items()]]
    if isinstance(value, (list, tuple)):
        return [id(type(value)), [_parts(v, seen) for v in value]]
    if is_dataclass(type(value)):
        fields = type(value).__dataclass_fields__
        return [id(type(value)), [(n, _parts(_held(value, n), seen)) for n in fields]]
    if callable(value):
        return _identity(value)
    return [id(type(value)), repr(value)]


def _held(value: object, name: str) -> object:
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return None
