"""What the tools of an environment ask for, read from their schemas once, so that conversations can share it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from trace_gym.adapters.arguments import (
    Argument,
    Enum,
    Fixed,
    Leaf,
    ListOf,
    Number,
    ObjectOf,
    Shape,
    Text,
    Values,
    shape,
)
from trace_gym.policies.seen import resolved
from trace_gym.types import Call, Message

DEEP = 5
"""Objects and lists within one another that are followed at most."""

_EXAMPLE = re.compile(r"such as '?([\w@#+.:-]*[\w@#+])")


@dataclass
class Tool:
    """A tool, and the arguments that it needs."""

    name: str
    needs: dict[str, Argument]

    def columns(self, values: Values) -> list[list[Any]] | None:
        """The values of each argument; None where nothing fits one. One that can be anything is a word."""
        columns, loose = [], False
        for argument in self.needs.values():
            if (options := argument.options(values)) is None and not loose:
                options, loose = values.loose, True
            if not options:
                return None
            columns.append(options)
        return columns

    def calls(self, columns: Sequence[Sequence[Any]] | None, limit: int) -> list[Call]:
        """The first calls with these values."""
        rows = islice(product(*columns), limit) if columns is not None else ()
        return [Call(self.name, dict(zip(self.needs, row, strict=True))) for row in rows]


class Plan:
    """What tools ask for; optional arguments are left out.

    Args:
        tools: OpenAI function tools.
    """

    def __init__(self, tools: Sequence[Message]) -> None:
        self.tools: list[Tool] = []
        self.leaves: list[Leaf] = []
        self.objects: list[tuple[str, ...]] = []
        """The fields of each kind of object."""
        self.cutting: list[set[int]] = []
        """The tools that ask for it."""
        self._leaf_of: dict[str, Leaf] = {}
        self._watching: dict[str, list[tuple[Leaf, int]]] = {}
        for n, tool in enumerate(tools):
            root, cut = tool["function"].get("parameters", {}), len(self.objects)
            parts = root.get("properties", {})
            needs = {p: self._argument(p, parts[p], root, 0) for p in root.get("required", ()) if p in parts}
            self.tools.append(Tool(str(tool["function"]["name"]), needs))
            self.cutting += [{n} for _ in self.objects[cut:]]
            for argument in needs.values():
                for leaf in argument.leaves():
                    leaf.tools.add(n)
        self.texts = [leaf for leaf in self.leaves if isinstance(leaf, Text)]
        self.numbers = [leaf for leaf in self.leaves if isinstance(leaf, Number)]
        self._nothing = Values(len(self.leaves), len(self.objects))
        for leaf in self.leaves:
            leaf.options(self._nothing)

    def values(self) -> Values:
        """What a conversation has shown before it begins, with what fits then."""
        values = Values(len(self.leaves), len(self.objects))
        values.known.update(self._nothing.known)
        return values

    def watching(self, field: str) -> list[tuple[Leaf, int]]:
        """The leaves that a field of this name matters to, and how far it is from theirs."""
        if (known := self._watching.get(field)) is None:
            found = ((leaf, leaf.distance(field)) for leaf in self.leaves)
            known = self._watching[field] = [(leaf, far) for leaf, far in found if far is not None]
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
        """A leaf, the same one for arguments that are described alike."""
        shapes = _shapes_in(schema.get("description", ""))
        key = json.dumps([name, kind, shapes, schema.get("enum")])
        if key not in self._leaf_of:
            place = len(self.leaves)
            if "enum" in schema:
                leaf: Leaf = Enum(place, name, tuple(schema["enum"]))
            elif kind in ("integer", "number"):
                leaf = Number(place, name, kind == "integer")
            else:
                leaf = Text(place, name, shapes)
            self.leaves.append(leaf)
            self._leaf_of[key] = leaf
        return self._leaf_of[key]


def _shapes_in(description: str) -> tuple[Shape, ...]:
    """The shapes of the examples in an argument's description, and of a day where it asks for one."""
    day = ["2024-05-15"] if "YYYY-MM-DD" in description else []
    return tuple(dict.fromkeys(map(shape, [*_EXAMPLE.findall(description), *day])))
