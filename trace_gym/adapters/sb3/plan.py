"""Required arguments of an environment's tools, parsed from the schemas once and shared by all conversations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from trace_gym.adapters.sb3.arguments import (
    Argument,
    ArgumentShape,
    Enum,
    Fixed,
    Leaf,
    ListOf,
    Number,
    ObjectOf,
    SeenValues,
    TextArgument,
    shape,
)
from trace_gym.schemas import resolved
from trace_gym.types import Call, Message

DEEP = 5
"""Maximum nesting depth of objects and arrays in a schema that is searched for arguments."""

_EXAMPLE = re.compile(r"such as '?([\w@#+.:-]*[\w@#+])")


@dataclass
class Tool:
    """A tool and its required arguments."""

    name: str
    needs: dict[str, Argument]

    def columns(self, values: SeenValues) -> list[list[Any]] | None:
        """Return the candidate values of each required argument, or None if an argument has no candidates.

        The schema of an argument may contain no information about suitable values. The first such argument gets the
        candidates `values.fallback`. If there is a second one, or if a list of candidates is empty, the result is None.
        """
        columns, fallback = [], False
        for argument in self.needs.values():
            if (options := argument.options(values)) is None and not fallback:
                options, fallback = values.fallback, True
            if not options:
                return None
            columns.append(options)
        return columns

    def calls(self, columns: Sequence[Sequence[Any]] | None, limit: int) -> list[Call]:
        """Return the first `limit` calls that combine these argument values."""
        rows = islice(product(*columns), limit) if columns is not None else ()
        return [Call(self.name, dict(zip(self.needs, row, strict=True))) for row in rows]


class ToolPlan:
    """Required arguments of a list of tools. Optional arguments are never used.

    Args:
        tools: OpenAI function tools.
    """

    def __init__(self, tools: Sequence[Message]) -> None:
        self.tools: list[Tool] = []
        self.leaves: list[Leaf] = []
        self.objects: list[tuple[str, ...]] = []
        """For each object schema, the names of its fields."""
        self.object_tools: list[set[int]] = []
        """For each object schema, the indices of the tools that use it."""
        self._leaf_of: dict[str, Leaf] = {}
        self._leaves_by_field: dict[str, list[tuple[Leaf, int]]] = {}
        for n, tool in enumerate(tools):
            root, first_object = tool["function"].get("parameters", {}), len(self.objects)
            parts = root.get("properties", {})
            needs = {p: self._argument(p, parts[p], root, 0) for p in root.get("required", ()) if p in parts}
            self.tools.append(Tool(str(tool["function"]["name"]), needs))
            self.object_tools += [{n} for _ in self.objects[first_object:]]
            for argument in needs.values():
                for leaf in argument.leaves():
                    leaf.tools.add(n)
        self.texts = [leaf for leaf in self.leaves if isinstance(leaf, TextArgument)]
        self.numbers = [leaf for leaf in self.leaves if isinstance(leaf, Number)]
        self._empty = SeenValues(len(self.leaves), len(self.objects))
        for leaf in self.leaves:
            leaf.options(self._empty)

    def values(self) -> SeenValues:
        """Return the values of an empty conversation. Candidates that do not depend on a conversation are included."""
        values = SeenValues(len(self.leaves), len(self.objects))
        values.known.update(self._empty.known)
        return values

    def leaves_matching(self, field: str) -> list[tuple[Leaf, int]]:
        """Return the leaf arguments that match a field name, each with the distance between the names."""
        if (known := self._leaves_by_field.get(field)) is None:
            found = ((leaf, leaf.distance(field)) for leaf in self.leaves)
            known = self._leaves_by_field[field] = [(leaf, far) for leaf, far in found if far is not None]
        return known

    def _argument(self, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Argument:
        schema = resolved(schema, root)
        if "const" in schema:
            return Fixed([schema["const"]])
        if "enum" not in schema and (several := schema.get("anyOf") or schema.get("oneOf")):
            return self._argument(name, several[0], root, depth + 1)
        kind = schema.get("type", "string")
        kind = kind[0] if isinstance(kind, list) else kind
        if "enum" in schema or kind not in ("object", "array", "boolean", "null"):
            return self._leaf(name, str(kind), schema)
        if kind in ("boolean", "null"):
            return Fixed([True, False] if kind == "boolean" else [None])
        if kind == "array":
            if depth > DEEP:
                return Fixed([[]])
            return ListOf(self._argument(name, schema.get("items", {}), root, depth + 1))
        names = () if depth > DEEP else tuple(schema.get("properties", {}))
        if not names:
            return Fixed([{}])
        place = len(self.objects)
        self.objects.append(names)
        parts = {n: self._argument(n, schema["properties"][n], root, depth + 1) for n in names}
        return ObjectOf(place, parts, [n for n in names if n in schema.get("required", ()) or depth < 2])

    def _leaf(self, name: str, kind: str, schema: Mapping[str, Any]) -> Leaf:
        """Return a leaf argument. Arguments with the same name, type, shapes and enum share one object."""
        shapes = _shapes_in(schema.get("description", ""))
        key = json.dumps([name, kind, shapes, schema.get("enum")])
        if key not in self._leaf_of:
            place = len(self.leaves)
            if "enum" in schema:
                leaf: Leaf = Enum(place, name, tuple(schema["enum"]))
            elif kind in ("integer", "number"):
                leaf = Number(place, name, kind == "integer")
            else:
                leaf = TextArgument(place, name, shapes)
            self.leaves.append(leaf)
            self._leaf_of[key] = leaf
        return self._leaf_of[key]


def _shapes_in(description: str) -> tuple[ArgumentShape, ...]:
    """Return the shapes of the examples in an argument's description.

    If the description mentions YYYY-MM-DD, the shape of a date is included.
    """
    day = ["2024-05-15"] if "YYYY-MM-DD" in description else []
    return tuple(dict.fromkeys(map(shape, [*_EXAMPLE.findall(description), *day])))
