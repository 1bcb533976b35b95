"""Candidate values for tool arguments, collected from the values that appear in a conversation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from trace_gym.policies.seen import stem_of

CHOICES = 4
"""Maximum number of candidate values for one argument, and of calls that a menu offers for one tool."""
_MARKS = "_-@#."

ArgumentShape = tuple[Any, ...]


class SeenValues:
    """Values that appeared in a conversation, indexed for finding candidate argument values.

    Attributes:
        named: For each leaf argument, the values of fields whose name matches the name of the argument, in order of
            appearance. Each value is mapped to the distance between the two names (see `Leaf.distance`).
        objects_found: For each object schema, the records that contain all of its fields, reduced to these fields.
        user_words: Words of the user messages, grouped by shape (see `shape`).
        field_values: Strings that are the value of a named field in a tool result.
        fallback: Candidates for arguments without information about suitable values: ids first, then other words of
            the user.
        numbers: Integers in user messages and tool results.
    """

    def __init__(self, leaves: int, objects: int) -> None:
        self.named: list[dict[Any, int]] = [{} for _ in range(leaves)]
        self.objects_found: list[list[dict[str, Any]]] = [[] for _ in range(objects)]
        self.user_words: dict[ArgumentShape, list[str]] = {}
        self.field_values: set[str] = set()
        self.fallback: list[str] = []
        self.numbers: dict[int, None] = {}
        self.known: dict[int, list[Any] | None] = {}
        """Cached candidate values of leaf arguments, by index. Entries are removed when they become outdated."""


class Argument(ABC):
    """An argument of a tool, or a part of such an argument."""

    @abstractmethod
    def options(self, values: SeenValues) -> list[Any] | None:
        """Return at most `CHOICES` candidate values, or an empty list if no value that appeared is suitable.

        Return None if there is no information about suitable values.
        """

    def leaves(self) -> Iterator[Leaf]:
        """Yield the scalar arguments within this argument."""
        yield from ()


@dataclass(frozen=True)
class Fixed(Argument):
    """An argument whose candidate values do not depend on the conversation."""

    values: Sequence[Any]

    def options(self, values: SeenValues) -> list[Any]:
        return list(self.values)


@dataclass(eq=False)
class Leaf(Argument):
    """A scalar argument whose candidate values are fields of tool results."""

    place: int
    name: str
    tools: set[int] = field(default_factory=set, kw_only=True)
    """Indices of the tools that require this argument."""

    def options(self, values: SeenValues) -> list[Any] | None:
        if self.place not in values.known:
            values.known[self.place] = self.find(values)
        return values.known[self.place]

    def distance(self, field: str) -> int | None:
        """Return the distance between a field's name and the argument's name, or None if they do not match.

        The distance is 0 for the same name, 1 for its plural, 2 for its stem (see `stem_of`), 3 for the plural of the
        stem, and 4 if the field's name contains the stem.
        """
        stem = stem_of(self.name)
        near = (self.name, f"{self.name}s", stem, f"{stem}s")
        return near.index(field) if field in near else len(near) if stem in field else None

    @abstractmethod
    def find(self, values: SeenValues) -> list[Any] | None:
        """Return the result of `options`, computed without the cache."""

    @abstractmethod
    def takes(self, value: Any) -> bool:
        """Return whether a value has the type of this argument."""

    def leaves(self) -> Iterator[Leaf]:
        yield self


@dataclass(eq=False)
class TextArgument(Leaf):
    """A string argument.

    Candidates are the values of fields with a matching name, and words of the user that have an expected shape and are
    not the value of another field. The shape of a string is the kinds of characters that it contains (see `shape`). A
    shape is expected if the first value of the best-matching field or an example in the argument's description has it.
    """

    shapes: tuple[ArgumentShape, ...] = ()

    def find(self, values: SeenValues) -> list[Any] | None:
        if not (shapes := self.shaped(values)):
            return None
        named = values.named[self.place]
        words = [w for s in shapes for w in values.user_words.get(s, ()) if w in named or w not in values.field_values]
        return list(dict.fromkeys([*words, *(v for v in named if shape(v) in shapes)]))[:CHOICES]

    def shaped(self, values: SeenValues) -> tuple[ArgumentShape, ...]:
        """Return the shapes that candidate strings may have."""
        if not (named := values.named[self.place]):
            return self.shapes
        nearest = shape(min(named, key=named.__getitem__))
        return self.shapes if nearest in self.shapes else (*self.shapes, nearest)

    def takes(self, value: Any) -> bool:
        return isinstance(value, str)


@dataclass(eq=False)
class Number(Leaf):
    """A number argument. Candidates are values of fields with a matching name, or else any integers that appeared."""

    whole: bool = False

    def find(self, values: SeenValues) -> list[Any]:
        if named := values.named[self.place]:
            return sorted(named, key=named.__getitem__)[:CHOICES]
        return list(dict.fromkeys([*values.numbers, 1, 0, 2]))[:CHOICES]

    def takes(self, value: Any) -> bool:
        return type(value) is int or (type(value) is float and not self.whole)


@dataclass(eq=False)
class Enum(Leaf):
    """An argument with an ``enum``. Enum values that appeared in fields with a matching name come first."""

    among: Sequence[Any] = ()

    def find(self, values: SeenValues) -> list[Any]:
        named = list(values.named[self.place])  # a list, because choices that are objects are not hashable
        return sorted(self.among, key=lambda v: v not in named)[:CHOICES]

    def takes(self, value: Any) -> bool:
        return value in self.among


@dataclass(eq=False)
class ListOf(Argument):
    """An array argument. Candidates are lists with a single candidate item each, and a list of all candidate items."""

    item: Argument

    def options(self, values: SeenValues) -> list[Any]:
        parts = self.item.options(values) or []
        return [*([part] for part in parts), *([parts] if len(parts) > 1 else [])][:CHOICES]

    def leaves(self) -> Iterator[Leaf]:
        return self.item.leaves()


@dataclass(eq=False)
class ObjectOf(Argument):
    """An object argument.

    Candidates are records that contain all fields of the object. If there are no such records, the n-th candidate is
    the combination of the n-th candidates of all fields.
    """

    place: int
    parts: dict[str, Argument]
    needed: Sequence[str]

    def options(self, values: SeenValues) -> list[Any]:
        if found := values.objects_found[self.place]:
            return list(found)[:CHOICES]
        columns = [self.parts[name].options(values) or [] for name in self.needed]
        rows = range(min(CHOICES, max(map(len, columns), default=1))) if all(columns) else ()
        return [{n: c[i % len(c)] for n, c in zip(self.needed, columns, strict=True)} for i in rows]

    def leaves(self) -> Iterator[Leaf]:
        for part in self.parts.values():
            yield from part.leaves()


@lru_cache(maxsize=8192)
def shape(value: str) -> ArgumentShape:
    """Return the kinds of characters that a string contains.

    The shape of an uppercase string, such as a code, also includes its length.
    """
    lower, upper = value != value.upper(), value != value.lower()
    rest = len(value) if upper and not lower else any(map(str.isdigit, value))
    return (lower, upper, rest, *(mark in value for mark in _MARKS))
