"""Shapes of answers, inferred from examples: names of fields, JSON types, and what may be missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from trace_gym.validate.gold import is_id

_TYPES = {str: "string", bool: "boolean", int: "number", float: "number", list: "list", type(None): "null"}


def type_of(value: Any) -> str:
    """The JSON type; a dict under ids is a table."""
    if isinstance(value, dict):
        return "table" if value and all(map(is_id, value)) else "record"
    return _TYPES.get(type(value), type(value).__name__)


@dataclass
class Shape:
    """What the examples had in common."""

    types: Counter[str] = field(default_factory=Counter)
    fields: dict[str, Shape] = field(default_factory=dict)
    """Of records; one that fewer records have than there are may be missing."""
    items: Shape | None = None
    """Of lists and tables."""

    def add(self, value: Any) -> None:
        """Take one more example into account."""
        self.types[type_of(value)] += 1
        if isinstance(value, dict) and type_of(value) == "record":
            for name, part in value.items():
                self.fields.setdefault(name, Shape()).add(part)
        elif isinstance(value, (dict, list)):
            self.items = self.items or Shape()
            for part in value.values() if isinstance(value, dict) else value:
                self.items.add(part)

    def faults(self, value: Any, path: str = "") -> Iterator[str]:
        """What in a value no example has, or every example has and the value lacks."""
        here, kind = path or "the answer", type_of(value)
        if value == {} and {"table", "record"} & self.types.keys():
            kind = "table" if self.types["table"] else "record"
        if kind not in self.types:
            yield f"{here} is a {kind}, recorded as {' or '.join(self.types)}"
        elif kind == "record":
            needed = {n for n, part in self.fields.items() if part.types.total() == self.types["record"]}
            yield from (f"{here} lacks {name}" for name in sorted(needed - value.keys()))
            yield from (f"{here} has a {name} that was never recorded" for name in sorted(value.keys() - self.fields))
            for name in value.keys() & self.fields:
                yield from self.fields[name].faults(value[name], f"{path}.{name}" if path else name)
        elif kind in ("list", "table") and self.items and self.items.types:
            for part in value.values() if isinstance(value, dict) else value:
                yield from self.items.faults(part, f"{path}[]")


def differences(recorded: Any, ours: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Where two answers differ, as (path, how); how is ``missing``, ``extra``, ``type`` or ``value``."""
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
    """A JSON Schema under which a record has no field that is not named."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(part) for key, part in schema.items()}
    named = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    return {"additionalProperties": False, **made} if named else made
