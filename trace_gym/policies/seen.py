"""What a conversation has shown so far, as values for the arguments of a call. No world is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from random import Random
from typing import Any

from trace_gym.types import Call, Message

OPTIONS = 6
"""Most values that are tried for one argument."""

_WORD = re.compile(r"[\w@#+-]+(?:[.:/][\w@#+-]+)*")
_READ = re.compile(r"(?:get|search|list|find|look|read|show|check|view|fetch|query|describe)(?:_|$)")
_IDLE = re.compile(r"(?:calculate|think|respond|transfer|escalate|finish|stop)(?:_|$)")


def reads(tools: Sequence[Message]) -> list[Message]:
    """The tools that look things up, by their names: an agent is not told what a tool does to the state."""
    return [t for t in tools if _READ.match(t["function"]["name"])]


def writes(tools: Sequence[Message]) -> list[Message]:
    """The tools that seem to change something, by their names."""
    return [t for t in tools if not _READ.match(t["function"]["name"]) and not _IDLE.match(t["function"]["name"])]


class Seen:
    """Values in the users' words and the tools' results.

    Attributes:
        by_field: Scalars of the results by the name of their field, and the keys of tables by the name of the table.
        words: Words of the users, those that look like ids first; last what looks like an id in the instructions.
        numbers: Whole numbers in any of these.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.by_field: dict[str, list[Any]] = {}
        said: dict[str, None] = {}
        told: dict[str, None] = {}
        for message in messages:
            text = str(message.get("content") or "")
            match message["role"]:
                case "tool" if not text.startswith("Error"):
                    for name, value in _results(text):
                        known = self.by_field.setdefault(name, [])
                        if value not in known:
                            known.append(value)
                case "user":
                    said.update(dict.fromkeys(words_of(text)))
                case "system":
                    told.update(dict.fromkeys(ids_in(text)))
        self.words = list(dict.fromkeys([*filter(like_an_id, said), *said, *told]))
        shown = map(str, [*said, *(v for values in self.by_field.values() for v in values)])
        self.numbers = list(dict.fromkeys([*(int(w) for w in shown if w.isdecimal() and len(w) < 10), 1, 0, 2]))

    @property
    def strings(self) -> list[str]:
        """Every scalar and word shown, results first."""
        shown = (str(v) for values in self.by_field.values() for v in values)
        return list(dict.fromkeys([*shown, *self.words]))

    def calls(self, tool: Message, limit: int) -> Iterator[Call]:
        """Well-typed calls of a tool, best fitting values first, optional arguments left out."""
        function, parts, needed = _signature(tool)
        columns = [self.options(n, parts[n], function["parameters"]) for n in needed]
        for row in islice(product(*columns), limit):
            yield Call(function["name"], dict(zip(needed, row, strict=True)))

    def draw(self, rng: Random, tools: Sequence[Message]) -> Call:
        """A well-typed call at random; the values are drawn from those that fit the arguments."""
        function, parts, needed = _signature(rng.choice(tools))
        given = [n for n in parts if n in needed or rng.random() < 0.3]
        drawn = {n: rng.choice(self.options(n, parts[n], function["parameters"])) for n in given}
        return Call(function["name"], drawn)

    def picked(self, tool: Message, picks: Sequence[int]) -> Call:
        """The call of a tool whose n-th needed argument is the `picks[n]`-th of the values that fit it."""
        function, parts, needed = _signature(tool)
        values = [self.options(n, parts[n], function["parameters"]) for n in needed]
        chosen = (options[pick % len(options)] for options, pick in zip(values, picks, strict=True))
        return Call(function["name"], dict(zip(needed, chosen, strict=True)))

    def options(self, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> list[Any]:
        """At least one value for an argument, those of fields of its name first, at most `OPTIONS`."""
        schema = resolved(schema, root)
        if "enum" in schema or "const" in schema:
            return list(schema.get("enum") or [schema["const"]])[:OPTIONS]
        if several := schema.get("anyOf") or schema.get("oneOf"):
            return self.options(name, several[0], root, depth + 1)
        kind = schema.get("type", "string")
        match kind[0] if isinstance(kind, list) else kind:
            case "object":
                return self._objects(schema, root, depth)
            case "array":
                parts = [] if depth > 4 else self.options(name, schema.get("items", {}), root, depth + 1)
                return [*([part] for part in parts), *([parts] if len(parts) != 1 else [])][:OPTIONS]
            case "integer" | "number":
                fit = [v for v in self.named(name) if type(v) in (int, float)]
                return list(dict.fromkeys([*fit, *self.numbers]))[:OPTIONS]
            case "boolean":
                return [True, False]
            case "null":
                return [None]
        return ([v for v in self.named(name) if isinstance(v, str)] or self.words or ["yes"])[:OPTIONS]

    def named(self, name: str) -> list[Any]:
        """Values of the fields that an argument's name points at: itself, its plural, what it is the id of."""
        stem = stem_of(name)
        near = (f for f in self.by_field if stem in f)
        fields = dict.fromkeys([name, f"{name}s", stem, f"{stem}s", *near])
        return list(dict.fromkeys(v for field in fields for v in self.by_field.get(field, ())))

    def _objects(self, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
        """Objects whose fields are filled side by side: the first values together, then the second."""
        parts, needed = schema.get("properties", {}), schema.get("required", ())
        names = [n for n in parts if n in needed or depth < 2]
        if depth > 4 or not names:
            return [{}]
        columns = [self.options(n, parts[n], root, depth + 1) for n in names]
        rows = range(min(OPTIONS, max(map(len, columns))))
        return [{n: c[i % len(c)] for n, c in zip(names, columns, strict=True)} for i in rows]


def _signature(tool: Message) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The function of a tool, its arguments' schemas by name, and the names of those that it needs."""
    function = {"parameters": {}} | tool["function"]
    parts = function["parameters"].get("properties", {})
    return function, parts, [n for n in function["parameters"].get("required", ()) if n in parts]


@lru_cache(maxsize=8192)
def like_an_id(word: str) -> bool:
    """Whether a word has a digit or an underscore, or is a code in capitals."""
    return bool(re.search(r"[\d_]", word)) or (word.isupper() and len(word) > 3)


@lru_cache(maxsize=1024)  # every turn of an episode reads the same messages again
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text; an id, a time or an address is one."""
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=64)  # every episode has the same instructions
def ids_in(text: str) -> tuple[str, ...]:
    """The words that look like an id."""
    return tuple(filter(like_an_id, words_of(text)))


@lru_cache(maxsize=4096)
def _results(text: str) -> tuple[tuple[str, Any], ...]:
    """The scalars of a tool's result by the name of their field; the words of one that is no JSON."""
    try:
        return tuple(_scalars(json.loads(text)))
    except ValueError:
        return tuple(("", word) for word in words_of(text))


def _scalars(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            if isinstance(part, (dict, list)):
                yield name, key
            yield from _scalars(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _scalars(part, name)
    elif isinstance(value, (str, int, float)):
        yield name, value


def stem_of(name: str) -> str:
    """What an argument is the id, number, code or name of; the argument itself where it is none of these."""
    return re.sub(r"_(?:ids?|numbers?|codes?|names?)$", "", name)


def resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a ``#/...`` reference into the tool's own schema."""
    while ref := schema.get("$ref"):
        schema = root
        for part in ref.removeprefix("#/").split("/"):
            schema = schema[part]
    return schema
