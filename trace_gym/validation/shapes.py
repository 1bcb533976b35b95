"""Structures of tool results, inferred from examples: field names, JSON types, and optional fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from trace_gym.validation.oracle_rollouts import is_id

_TYPES = {str: "string", bool: "boolean", int: "number", float: "number", list: "list", type(None): "null"}


def type_of(value: Any) -> str:
    """Return the JSON type of a value. A dict is a ``table`` if all its keys are record ids, else a ``record``."""
    if isinstance(value, dict):
        return "table" if value and all(map(is_id, value)) else "record"
    return _TYPES.get(type(value), type(value).__name__)


@dataclass
class Shape:
    """Common structure of several examples."""

    types: Counter[str] = field(default_factory=Counter)
    fields: dict[str, Shape] = field(default_factory=dict)
    """Shapes of the fields of records. A field is optional if some of the example records do not have it."""
    items: Shape | None = None
    """Shape of the elements of lists and tables."""

    def add(self, value: Any) -> None:
        """Add an example."""
        self.types[type_of(value)] += 1
        if isinstance(value, dict) and type_of(value) == "record":
            for name, part in value.items():
                self.fields.setdefault(name, Shape()).add(part)
        elif isinstance(value, (dict, list)):
            self.items = self.items or Shape()
            for part in value.values() if isinstance(value, dict) else value:
                self.items.add(part)

    def faults(self, value: Any, path: str = "") -> Iterator[str]:
        """Yield descriptions of the differences between a value and the shape."""
        here, kind = path or "the result", type_of(value)
        if value == {} and {"table", "record"} & self.types.keys():
            kind = "table" if self.types["table"] else "record"
        if kind not in self.types:
            yield f"{here} is of type {kind}, expected {' or '.join(self.types)}"
        elif kind == "record":
            needed = {n for n, part in self.fields.items() if part.types.total() == self.types["record"]}
            yield from (f"{here} lacks {name}" for name in sorted(needed - value.keys()))
            yield from (
                f"{here} has the field {name}, which no recorded result has"
                for name in sorted(value.keys() - self.fields)
            )
            for name in value.keys() & self.fields:
                yield from self.fields[name].faults(value[name], f"{path}.{name}" if path else name)
        elif kind in ("list", "table") and self.items and self.items.types:
            for part in value.values() if isinstance(value, dict) else value:
                yield from self.items.faults(part, f"{path}[]")


def differences(recorded: Any, ours: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the differences between two results as (path, kind).

    The kind is ``missing``, ``extra``, ``type`` or ``value``.
    """
    if isinstance(recorded, dict) and isinstance(ours, dict):
        for name in {**recorded, **ours}:
            here = f"{path}.{name}" if path else str(name)
            if name not in ours:
                yield here, "missing"
            elif name not in recorded:
                yield here, "extra"
            else:
                yield from differences(recorded[name], ours[name], here)
    elif isinstance(recorded, list) and isinstance(ours, list):
        if len(recorded) != len(ours):
            yield f"{path}[]", "value"
        for one, other in zip(recorded, ours, strict=False):
            yield from differences(one, other, f"{path}[]")
    elif type_of(recorded) != type_of(ours):
        yield path, "type"
    elif recorded != ours:
        yield path, "value"


def closed(schema: Any) -> Any:
    """Return a copy of a JSON Schema that forbids undeclared fields in objects."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(part) for key, part in schema.items()}
    named = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    return {"additionalProperties": False, **made} if named else made
