"""Comparison of a documentation page of a file format with the models of the format."""

from __future__ import annotations

import json
import re
from typing import Any

from trace_gym.types import Record

Row = tuple[str, str, str]
"""Name, type and default of a field."""


def words(schema: dict[str, Any]) -> str:
    """Return a JSON Schema type in the notation of the page."""
    match schema:
        case {"$ref": str(name)}:
            return name.rpartition("/")[2]
        case {"enum": list(values)}:
            return ", ".join(values)
        case {"const": str(value)}:
            return value
        case {"oneOf": list(parts)}:
            return ", ".join(map(words, parts))
        case {"anyOf": list(parts)}:
            return " or ".join(map(words, parts))
        case {"prefixItems": [first, *_]}:
            return f"array of {words(first)}"
        case {"type": "array", "items": dict(items)}:
            return f"array of {words(items)}"
        case {"type": "object", "additionalProperties": part}:
            return f"object of {words(part) if isinstance(part, dict) else 'anything'}"
    return str(schema.get("type", "anything"))


def documented(page: str, model: type[Record]) -> list[Row]:
    """Return the rows of a model's table on a page."""
    [section] = re.findall(rf"^## {model.__name__}\n\n(\|.*?)(?:\n\n|\Z)", page, re.S | re.M)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()[2:]]
    return [(name.strip("`"), kind, default) for name, kind, default, _ in rows]


def fields_of(model: type[Record], root: type[Record]) -> list[Row]:
    """Return the rows that a page must contain for a model, which is part of the format `root`."""
    schemas = root.model_json_schema()
    own = schemas if model is root else schemas["$defs"][model.__name__]
    rows = []
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        told = "" if field.is_required() else json.dumps(list(default) if isinstance(default, tuple) else default)
        rows.append((name, words(own["properties"][name]), told))
    return rows
