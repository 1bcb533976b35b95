"""What a conversation offers to an agent that picks and does not write: calls with values seen so far.

`trace_gym.policies.seen` finds values for arguments; here they come in a stable order, objects are cut from records,
and a tool for which nothing fits is not offered. No world is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

    Messages can be added as they come. A tool's calls are found again only when something changed that they depend on.
    """

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        super().__init__(())
        self.results: list[str] = []
        self.records: list[dict[str, Any]] = []
        self.said: list[str] = []
        self._heard: list[str] = []
        self._told: dict[str, None] = {}
        self._text = ""
        self._held: set[str] = set()
        self._loose = ""
        self._counted = True
        self._asked: set[Any] = set()
        self._found: dict[tuple[str, int], tuple[list[Call], frozenset[Any]]] = {}
        self._named: dict[str, list[Any]] = {}
        self._fitting: dict[tuple[str, str], tuple[list[str] | None, list[str]]] = {}
        self.add(messages)

    def add(self, messages: Iterable[Message]) -> None:
        """Read more of the conversation."""
        for message in messages:
            text = str(message["content"] or "")
            match message["role"]:
                case "tool":
                    self._show(text)
                case "user":
                    self._heard.append(text)
                    self._hear()
                case "system":
                    self._told.update(dict.fromkeys(Seen([message]).words))
                    self._hear()

    def _hear(self) -> None:
        heard, before = "\n".join(self._heard), self.words[:CHOICES]
        self.said = list(dict.fromkeys(_WORD.findall(heard)))
        self.words = list(dict.fromkeys([*self.things, *self.said, *self._told]))
        self._text = "\n".join([heard, *self.results])
        self._renew({_WORDS} if self.words[:CHOICES] != before else set(), list(self._fitting))

    def _show(self, result: str) -> None:
        self.results.append(result)
        self._text += "\n" + result
        self.records += records(result)
        fields, held = set(), set[str]()
        for field, values in fields_of(result).items():
            known = self.by_field.setdefault(field, [])
            if fresh := [v for v in values if v not in known]:
                known += fresh
                fields.add(field)
                held.update(v for v in fresh if isinstance(v, str))
        lost = (held - self._held).intersection(self.said)  # what is another field's value fits no argument as a word
        self._held |= held
        stale: set[Any] = {s for s in map(_stem, self._named) if any(s in f for f in fields)}
        self._named = {n: v for n, v in self._named.items() if _stem(n) not in stale}
        self._renew(stale, [k for k, v in self._fitting.items() if _stem(k[0]) in stale or not lost.isdisjoint(v[1])])

    def _renew(self, stale: set[Any], doubtful: Iterable[tuple[str, str]]) -> None:
        """Find strings again that may fit no more, and forget the calls that depend on something that changed."""
        stale.add(_ANYTHING)
        self._counted = False
        for key in doubtful:
            fit = self._fitting.pop(key)[0]
            if self._fit(*key) != fit or key not in self._fitting:
                stale.add(key)
        self._found = {k: v for k, v in self._found.items() if v[1].isdisjoint(stale)}

    @property
    def things(self) -> list[str]:
        """What the users named by something like an id, in their order."""
        return list(filter(_like_an_id, self.said))

    def calls_of(self, tool: Message, limit: int) -> list[Call]:
        """The first calls of a tool; none where no value fits an argument. The same list while it is what it was."""
        key = (str(tool["function"]["name"]), limit)
        if (known := self._found.get(key)) is not None:
            return known[0]
        self._loose, self._asked = "", set()
        try:
            calls = list(self.calls(tool, limit))
        except _NothingFits:
            calls = []
        self._found[key] = calls, frozenset(self._asked)
        return calls

    def options(self, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> list[Any]:
        kind = None if "enum" in schema else schema.get("type")
        if kind == "string":
            return self._strings(name, schema.get("description", ""))
        if kind not in ("array", "boolean") and "enum" not in schema:
            self._asked.add(_ANYTHING)  # numbers and records of any field
            self._count()
        found = super().options(name, schema, root, depth)
        held = self.named(name) if kind in (None, "integer", "number") else ()
        shown = [v for v in found if v in held]
        if kind is None:  # of a choice, what the records show comes first
            found = [*shown, *(v for v in found if v not in held)]
        return (found if kind is None else shown or found)[:CHOICES]

    def named(self, name: str) -> list[Any]:
        self._asked.add(_stem(name))
        return self._values(name)

    def _values(self, name: str) -> list[Any]:
        if name not in self._named:
            self._named[name] = super().named(name)
        return self._named[name]

    def _count(self) -> None:
        """Bring the whole numbers up to date."""
        if not self._counted:
            shown = map(str, [*self.said, *(v for values in self.by_field.values() for v in values)])
            self.numbers = list(dict.fromkeys([*(int(w) for w in shown if w.isdecimal() and len(w) < 10), 1, 0, 2]))
            self._counted = True

    def _strings(self, name: str, description: str) -> list[str]:
        """Strings that fit an argument.

        Raises:
            _NothingFits: Nothing of its shape was shown, or nothing tells the shape.
        """
        key = (name, description)
        fit = self._fitting[key][0] if key in self._fitting else self._fit(name, description)
        self._asked |= {key, _stem(name)} if key not in self._fitting else {key}
        if fit is None:
            self._asked.add(_WORDS)
            if self._loose in ("", name) and self.words:
                self._loose = name
                return self.words[:CHOICES]
        if not fit:
            raise _NothingFits
        return fit

    def _fit(self, name: str, description: str) -> list[str] | None:
        """The first strings of an argument's shape; None where the shape is unknown."""
        named = [v for v in self._values(name) if isinstance(v, str)]
        shapes = {*map(_shape, named[:1]), *_shapes_in(description)}
        words = [w for w in self.said if _shape(w) in shapes and w not in self._held]
        places = {v: self._text.find(v) for v in [*(v for v in named if _shape(v) in shapes), *words]}
        first = sorted(places, key=places.__getitem__)[:CHOICES] if shapes else None
        if min(places.values(), default=0) < 0:  # shown in another spelling, which a later result may change
            self._asked.add(_ANYTHING)
        else:
            self._fitting[(name, description)] = first, words
        return first

    def _objects(self, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
        names = list(schema.get("properties", {}))
        whole = [{n: r[n] for n in names} for r in self.records if names and all(n in r for n in names)]
        return [r for n, r in enumerate(whole) if r not in whole[:n]] or super()._objects(schema, root, depth)


class _NothingFits(Exception):
    """No value that was shown fits an argument."""


_ANYTHING, _WORDS = "*", "*words"
"""What calls depend on that anything new can change, or a user's new words; no stems of arguments' names."""


@lru_cache(maxsize=1024)
def _stem(name: str) -> str:
    """What a field must hold in its name, to be looked at for an argument; as `Seen.named` has it."""
    return re.sub(r"_(?:ids?|numbers?|codes?|names?)$", "", name)


@lru_cache(maxsize=4096)  # every turn of an episode reads the same messages again
def fields_of(result: str) -> dict[str, list[Any]]:
    """The scalars of a tool's result by the name of their field."""
    return Seen([{"role": "tool", "content": result}]).by_field


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
