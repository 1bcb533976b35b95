"""The arguments of tools, and which of the values that a conversation has shown fit them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from trace_gym.policies.seen import stem_of

CHOICES = 4
"""Most values that are offered for one argument, and most calls of one tool."""
_MARKS = "_-@#."

Shape = tuple[Any, ...]


class Values:
    """What a conversation has shown, as arguments look at it.

    Attributes:
        named: For each leaf the values of the fields that its name points at, in the order in which they were shown,
            each with how far the field's name is from the leaf's.
        cut: For each kind of object the records that hold all its fields, cut down to these.
        said: The users' words by their shape.
        held: Strings that a field of some record holds.
        loose: What an argument may be of which nothing is known: the first words, those like an id before the others.
        numbers: The whole numbers that were said or shown.
    """

    def __init__(self, leaves: int, objects: int) -> None:
        self.named: list[dict[Any, int]] = [{} for _ in range(leaves)]
        self.cut: list[list[dict[str, Any]]] = [[] for _ in range(objects)]
        self.said: dict[Shape, list[str]] = {}
        self.held: set[str] = set()
        self.loose: list[str] = []
        self.numbers: dict[int, None] = {}
        self.known: dict[int, list[Any] | None] = {}
        """Leaves whose options were found and are still what they were."""


class Argument(ABC):
    """An argument of a tool, or a part of one."""

    @abstractmethod
    def options(self, values: Values) -> list[Any] | None:
        """At most `CHOICES` values that fit, none where nothing does; None where nothing tells what fits."""

    def leaves(self) -> Iterator[Leaf]:
        """What it is made of."""
        yield from ()


@dataclass(frozen=True)
class Fixed(Argument):
    """What does not depend on the conversation."""

    values: Sequence[Any]

    def options(self, values: Values) -> list[Any]:
        return list(self.values)


@dataclass(eq=False)
class Leaf(Argument):
    """An argument whose values are fields of records."""

    place: int
    name: str
    tools: set[int] = field(default_factory=set, kw_only=True)
    """The tools that ask for it."""

    def options(self, values: Values) -> list[Any] | None:
        if self.place not in values.known:
            values.known[self.place] = self.find(values)
        return values.known[self.place]

    def distance(self, field: str) -> int | None:
        """How far a field's name is from its own: the same, its plural, what it is the id of, or more; None: unlike."""
        stem = stem_of(self.name)
        near = (self.name, f"{self.name}s", stem, f"{stem}s")
        return near.index(field) if field in near else len(near) if stem in field else None

    @abstractmethod
    def find(self, values: Values) -> list[Any] | None:
        """The options afresh."""

    @abstractmethod
    def takes(self, value: Any) -> bool:
        """Whether the value of a field is of its type."""

    def leaves(self) -> Iterator[Leaf]:
        yield self


@dataclass(eq=False)
class Text(Leaf):
    """A string: a value of its fields, or a user's word of the same shape that no other field holds.

    The shape is that of the first value of the nearest field, or of an example in the description.
    """

    shapes: tuple[Shape, ...] = ()

    def find(self, values: Values) -> list[Any] | None:
        if not (shapes := self.shaped(values)):
            return None
        named = values.named[self.place]
        words = [w for s in shapes for w in values.said.get(s, ()) if w in named or w not in values.held]
        return list(dict.fromkeys([*words, *(v for v in named if shape(v) in shapes)]))[:CHOICES]

    def shaped(self, values: Values) -> tuple[Shape, ...]:
        """The shapes that fit."""
        if not (named := values.named[self.place]):
            return self.shapes
        nearest = shape(min(named, key=named.__getitem__))
        return self.shapes if nearest in self.shapes else (*self.shapes, nearest)

    def takes(self, value: Any) -> bool:
        return isinstance(value, str)


@dataclass(eq=False)
class Number(Leaf):
    """A number: a value of its fields, or if there is none any whole number."""

    whole: bool = False

    def find(self, values: Values) -> list[Any]:
        if named := values.named[self.place]:
            return sorted(named, key=named.__getitem__)[:CHOICES]
        return list(dict.fromkeys([*values.numbers, 1, 0, 2]))[:CHOICES]

    def takes(self, value: Any) -> bool:
        return type(value) is int or (type(value) is float and not self.whole)


@dataclass(eq=False)
class Enum(Leaf):
    """One of several values; those that its fields show come first."""

    among: Sequence[Any] = ()

    def find(self, values: Values) -> list[Any]:
        named = list(values.named[self.place])  # objects among the choices are no keys
        return sorted(self.among, key=lambda v: v not in named)[:CHOICES]

    def takes(self, value: Any) -> bool:
        return value in self.among


@dataclass(eq=False)
class ListOf(Argument):
    """One of the things that fit, or all."""

    item: Argument

    def options(self, values: Values) -> list[Any]:
        parts = self.item.options(values) or []
        return [*([part] for part in parts), *([parts] if len(parts) > 1 else [])][:CHOICES]

    def leaves(self) -> Iterator[Leaf]:
        return self.item.leaves()


@dataclass(eq=False)
class ObjectOf(Argument):
    """What is cut from a record that has all its fields, or if there is none the first values side by side."""

    place: int
    parts: dict[str, Argument]
    needed: Sequence[str]

    def options(self, values: Values) -> list[Any]:
        if found := values.cut[self.place]:
            return list(found)[:CHOICES]
        columns = [self.parts[name].options(values) or [] for name in self.needed]
        rows = range(min(CHOICES, max(map(len, columns), default=1))) if all(columns) else ()
        return [{n: c[i % len(c)] for n, c in zip(self.needed, columns, strict=True)} for i in rows]

    def leaves(self) -> Iterator[Leaf]:
        for part in self.parts.values():
            yield from part.leaves()


@lru_cache(maxsize=8192)
def shape(value: str) -> Shape:
    """What kinds of characters a value is made of; a code in capitals, with or without digits, is as long as it is."""
    lower, upper = value != value.upper(), value != value.lower()
    rest = len(value) if upper and not lower else any(map(str.isdigit, value))
    return (lower, upper, rest, *(mark in value for mark in _MARKS))
