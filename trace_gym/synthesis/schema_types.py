"""Descriptions in words of the types in a JSON Schema, for prompts that request data with this schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trace_gym.schemas import resolved

Schema = Mapping[str, Any]


def types_in_words(schema: Schema) -> dict[str, str]:
    """Return a description of the type of each field, by the path of the field, such as ``plan.families[].weight``."""
    return dict(_fields(schema, schema, ""))


def _fields(schema: Schema, root: Schema, before: str) -> Iterator[tuple[str, str]]:
    for name, part in schema.get("properties", {}).items():
        found = resolved(part, root)
        optional = "" if name in schema.get("required", ()) else ", optional"
        path = f"{before}{name}"
        yield path, _words(found, root) + optional
        yield from _fields(found, root, f"{path}.")
        if found.get("type") == "array":
            yield from _fields(resolved(found.get("items", {}), root), root, f"{path}[].")


def _words(schema: Schema, root: Schema) -> str:
    match schema.get("type"):
        case "array":
            least, most = schema.get("minItems"), schema.get("maxItems")
            return f"list of {_count(least, most)}{_plural(resolved(schema.get('items', {}), root))}"
        case "string" if "maxLength" in schema:
            return f"string of at most {schema['maxLength']} characters"
        case "string" if "pattern" in schema:
            return f"string that matches {schema['pattern']}"
        case "integer" | "number" as kind:
            low, high = schema.get("minimum"), schema.get("maximum")
            return f"{kind}{f' from {low} to {high}' if low is not None and high is not None else ''}"
        case kind:
            return str(kind or "any value")


def _plural(schema: Schema) -> str:
    return f"{schema.get('type', 'value')}s"


def _count(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return f"{least} to {most} "
    if most is not None:
        return f"at most {most} "
    return f"at least {least} " if least else ""
