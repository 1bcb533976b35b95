"""Collection of the values in a conversation, as candidates for the arguments of tool calls.

Only the messages are used, and not the state of the world.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from random import Random
from typing import Any

from trace_gym.nested import ids_and_scalars
from trace_gym.schemas import resolved
from trace_gym.types import Call, Message

OPTIONS = 6
"""Maximum number of candidate values for one argument."""

_WORD = re.compile(r"[\w@#+-]+(?:[.:/][\w@#+-]+)*")
_READ = re.compile(r"(?:get|search|list|find|look|read|show|check|view|fetch|query|describe)(?:_|$)")
_IDLE = re.compile(r"(?:calculate|think|respond|transfer|escalate|finish|stop)(?:_|$)")


def reads(tools: Sequence[Message]) -> list[Message]:
    """Return the tools whose names suggest that they only read data.

    The names are used because agents have no other information about side effects.
    """
    return [t for t in tools if _READ.match(t["function"]["name"])]


def writes(tools: Sequence[Message]) -> list[Message]:
    """Return the tools whose names suggest that they change data."""
    return [t for t in tools if not _READ.match(t["function"]["name"]) and not _IDLE.match(t["function"]["name"])]


class Seen:
    """Values in user messages and tool results.

    Attributes:
        by_field: Scalar values of tool results by field name. If a field contains a table, its keys are included.
        words: Words of the user, id-like words first, followed by id-like words in the instructions.
        numbers: Integers in the user messages and tool results, and 1, 0 and 2.
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
        """All distinct values as strings: first those of tool results, then `words`."""
        shown = (str(v) for values in self.by_field.values() for v in values)
        return list(dict.fromkeys([*shown, *self.words]))

    def calls(self, tool: Message, limit: int) -> Iterator[Call]:
        """Yield up to `limit` well-typed calls of a tool without optional arguments.

        Calls with values from fields that match the argument names come first.
        """
        function, parts, needed = _signature(tool)
        columns = [self.options(n, parts[n], function["parameters"]) for n in needed]
        for row in islice(product(*columns), limit):
            yield Call(function["name"], dict(zip(needed, row, strict=True)))

    def draw(self, rng: Random, tools: Sequence[Message]) -> Call:
        """Return a random well-typed call of a random tool, with values that fit the arguments."""
        function, parts, needed = _signature(rng.choice(tools))
        given = [n for n in parts if n in needed or rng.random() < 0.3]
        drawn = {n: rng.choice(self.options(n, parts[n], function["parameters"])) for n in given}
        return Call(function["name"], drawn)

    def picked(self, tool: Message, picks: Sequence[int]) -> Call:
        """Return a call of a tool; the n-th required argument has the candidate value with the index `picks[n]`."""
        function, parts, needed = _signature(tool)
        values = [self.options(n, parts[n], function["parameters"]) for n in needed]
        chosen = (options[pick % len(options)] for options, pick in zip(values, picks, strict=True))
        return Call(function["name"], dict(zip(needed, chosen, strict=True)))

    def options(self, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> list[Any]:
        """Return up to `OPTIONS` candidate values for an argument.

        Values from fields with a matching name come first.

        Args:
            name: Name of the argument.
            schema: JSON Schema of the argument.
            root: JSON Schema of all parameters of the tool, to which ``$ref`` refers.
            depth: Nesting level of the argument.
        """
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
        """Return the values of fields that match an argument's name: the same name, its plural, or its stem."""
        stem = stem_of(name)
        near = (f for f in self.by_field if stem in f)
        fields = dict.fromkeys([name, f"{name}s", stem, f"{stem}s", *near])
        return list(dict.fromkeys(v for field in fields for v in self.by_field.get(field, ())))

    def _objects(self, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
        """Return candidate objects; the n-th object combines the n-th candidates of its fields."""
        parts, needed = schema.get("properties", {}), schema.get("required", ())
        names = [n for n in parts if n in needed or depth < 2]
        if depth > 4 or not names:
            return [{}]
        columns = [self.options(n, parts[n], root, depth + 1) for n in names]
        rows = range(min(OPTIONS, max(map(len, columns))))
        return [{n: c[i % len(c)] for n, c in zip(names, columns, strict=True)} for i in rows]


def _signature(tool: Message) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return the function of a tool, the schemas of its arguments by name, and the names of required arguments."""
    function = {"parameters": {}} | tool["function"]
    parts = function["parameters"].get("properties", {})
    return function, parts, [n for n in function["parameters"].get("required", ()) if n in parts]


@lru_cache(maxsize=8192)
def like_an_id(word: str) -> bool:
    """Return whether a word looks like an id: it has a digit, an underscore, or more than three capital letters."""
    return bool(re.search(r"[\d_]", word)) or (word.isupper() and len(word) > 3)


@lru_cache(maxsize=1024)  # every turn of an episode reads the same messages again
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text. An id, a time or an email address is one word."""
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=64)  # every episode has the same instructions
def ids_in(text: str) -> tuple[str, ...]:
    """Return the words of a text that look like an id."""
    return tuple(filter(like_an_id, words_of(text)))


@lru_cache(maxsize=4096)
def _results(text: str) -> tuple[tuple[str, Any], ...]:
    """Return the scalars of a tool result as pairs of field name and value; for text that is not JSON, its words."""
    try:
        return tuple(ids_and_scalars(json.loads(text)))
    except ValueError:
        return tuple(("", word) for word in words_of(text))


def stem_of(name: str) -> str:
    """Return an argument's name without a suffix such as ``_id``, ``_number``, ``_code`` or ``_name``."""
    return re.sub(r"_(?:ids?|numbers?|codes?|names?)$", "", name)
