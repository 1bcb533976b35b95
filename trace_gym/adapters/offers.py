"""What a conversation offers to an agent that picks and does not write: calls with values seen so far.

`trace_gym.policies.seen` finds values for arguments; here they come in a stable order, objects are cut from records,
and a tool for which nothing fits is not offered. No world is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from trace_gym.policies.seen import Seen
from trace_gym.types import Call, Message

CHOICES = 4
"""Most values that are offered for one argument, and most calls of one tool."""

_EXAMPLE = re.compile(r"such as '?([\w@#+.:-]*[\w@#+])")
_WORD = re.compile(r"[\w@#+-]+(?:[.:/][\w@#+-]+)*")
_MARKS = "_-@#."


class Offers(Seen):
    """Values for arguments, in the order in which the conversation showed them.

    A string is a value of a field of the argument's name, or a user's word of the same shape that no other field holds;
    the shape is that of the field's first value or of the example in the argument's description. One argument of a call
    of which neither is known may be any word. An object is cut from a record that has all its fields.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__(messages)
        results = [str(m["content"] or "") for m in messages if m["role"] == "tool"]
        self.results = tuple(results)
        heard = "\n".join(str(m["content"] or "") for m in messages if m["role"] == "user")
        self.records = [r for text in results for r in records(text)]
        self.said = list(dict.fromkeys(_WORD.findall(heard)))
        self._text = "\n".join([heard, *results])
        self._held = {v for values in self.by_field.values() for v in values if isinstance(v, str)}
        self._loose = ""
        self._named: dict[str, list[Any]] = {}
        self._fitting: dict[tuple[str, str], list[str]] = {}

    @property
    def things(self) -> list[str]:
        """What the users named by something like an id, in their order."""
        return list(filter(_like_an_id, self.said))

    def calls_of(self, tool: Message, limit: int) -> list[Call]:
        """The first calls of a tool; none where no value fits an argument."""
        self._loose = ""
        try:
            return list(self.calls(tool, limit))
        except _NothingFits:
            return []

    def options(self, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> list[Any]:
        kind = None if "enum" in schema else schema.get("type")
        if kind == "string":
            return self._strings(name, schema.get("description", ""))
        found = super().options(name, schema, root, depth)
        held = self.named(name) if kind in (None, "integer", "number") else ()
        shown = [v for v in found if v in held]
        if kind is None:  # of a choice, what the records show comes first
            found = [*shown, *(v for v in found if v not in held)]
        return (found if kind is None else shown or found)[:CHOICES]

    def named(self, name: str) -> list[Any]:
        if name not in self._named:
            self._named[name] = super().named(name)
        return self._named[name]

    def _strings(self, name: str, description: str) -> list[str]:
        """Strings that fit an argument.

        Raises:
            _NothingFits: Nothing of its shape was shown, or nothing tells the shape.
        """
        if (key := (name, description)) in self._fitting:
            return self._fitting[key]
        named = [v for v in self.named(name) if isinstance(v, str)]
        shapes = {*map(_shape, named[:1]), *_shapes_in(description)}
        if not shapes and self._loose in ("", name) and self.words:
            self._loose = name
            return self.words[:CHOICES]
        fit = [v for v in named if _shape(v) in shapes]
        fit += [w for w in self.said if _shape(w) in shapes and w not in self._held]
        if not fit:
            raise _NothingFits
        self._fitting[key] = sorted(dict.fromkeys(fit), key=self._text.find)[:CHOICES]
        return self._fitting[key]

    def _objects(self, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
        names = list(schema.get("properties", {}))
        whole = [{n: r[n] for n in names} for r in self.records if names and all(n in r for n in names)]
        return [r for n, r in enumerate(whole) if r not in whole[:n]] or super()._objects(schema, root, depth)


class _NothingFits(Exception):
    """No value that was shown fits an argument."""


class Fits:
    """How well the calls of a tool fit what the users said."""

    def __init__(self, said: frozenset[str], results: Sequence[str]) -> None:
        self.said, self.results = said, results
        self._hits: dict[str, frozenset[str]] = {}

    def of(self, rivals: Sequence[Call]) -> list[float]:
        """For each call how many of the users' words its values' records hold, from 0 to 1 among these calls."""
        counts = [len(frozenset().union(*map(self._hit, leaves(c.arguments)))) for c in rivals if len(rivals) > 1]
        low, high = min(counts, default=0), max(counts, default=0)
        return [(n - low) / (high - low) if high > low else 0.0 for n in counts or [0] * len(rivals)]

    def _hit(self, value: str) -> frozenset[str]:
        if value not in self._hits:
            beside = (_beside(r).get(value, ()) for r in self.results)
            self._hits[value] = self.said & tokens(value).union(*beside)
        return self._hits[value]


def leaves(value: Any) -> list[str]:
    """Every scalar in a value, as text."""
    if isinstance(value, (dict, list)):
        found: list[str] = []
        for part in value.values() if isinstance(value, dict) else value:
            found += leaves(part) if isinstance(part, (dict, list)) else (str(part),)
        return found
    return [str(value)]


@lru_cache(maxsize=8192)
def tokens(text: str) -> frozenset[str]:
    """The words and numbers in a text, in small letters; ``gift_card_17`` holds three."""
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


@lru_cache(maxsize=4096)  # every turn of an episode reads the same messages again
def records(result: str) -> tuple[dict[str, Any], ...]:
    """Every object in a tool's result, the outer ones first."""
    try:
        return tuple(_objects_in(json.loads(result)))
    except ValueError:
        return ()


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects_in(part)


@lru_cache(maxsize=4096)
def _beside(result: str) -> dict[str, frozenset[str]]:
    """Each value of a result with the words of the records that hold it."""
    found: dict[str, frozenset[str]] = {}
    for record in records(result):
        values = [str(v) for v in record.values() if not isinstance(v, (dict, list))]
        words = frozenset[str]().union(*map(tokens, values))
        found.update((v, found.get(v, frozenset()) | words) for v in values)
    return found


@lru_cache(maxsize=8192)
def _like_an_id(word: str) -> bool:
    return bool(re.search(r"[\d_]", word)) or (word.isupper() and len(word) > 3)


@lru_cache(maxsize=8192)
def _shape(value: str) -> tuple[Any, ...]:
    """What kinds of characters a value is made of; a code in capitals, with or without digits, is as long as it is."""
    lower, upper = any(map(str.islower, value)), any(map(str.isupper, value))
    rest = len(value) if upper and not lower else any(map(str.isdigit, value))
    return (lower, upper, rest, *(mark in value for mark in _MARKS))


@lru_cache(maxsize=1024)
def _shapes_in(description: str) -> frozenset[tuple[Any, ...]]:
    """The shapes of the examples in an argument's description, and of a day where it asks for one."""
    day = ["2024-05-15"] if "YYYY-MM-DD" in description else []
    return frozenset(map(_shape, [*_EXAMPLE.findall(description), *day]))
