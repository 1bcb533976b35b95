"""Sampling of tool calls for a live server: arguments from schemas, and from values in earlier results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from trace_gym.schemas import complaint_about
from trace_gym.types import Call, Interface
from trace_gym.validate.draws import Draw, Values

WORDS = ("alpha", "bravo", "delta", "echo", "kilo", "lima", "oscar", "tango")
"""Strings for new records."""
STRANGERS = ("no-such-thing-0", "missing_9999", "ZZZ999")
"""Strings that no record holds."""
TRIES = 20
"""Draws of one call before a tool is given up; a schema may ask for what is never drawn."""
FRACTIONS = (0.5, 1.5, 2.5, 0.125, 2.675, 19.99, 33.333)
"""Numbers that methods of rounding treat differently."""
WHOLE = (0, 1, 2, 3, 5, 7, 10, 101)
_FORMATS = {"date": "2031-01-02", "date-time": "2031-01-02T03:04:05Z", "time": "03:04:05", "email": "a@example.com",
            "uri": "https://example.com", "uuid": "123e4567-e89b-12d3-a456-426614174000"}  # fmt: skip
_FIELD = re.compile(r"[A-Za-z_]+\d?")
"""What the name of a field looks like; any other key of a record is an id."""
_TOKEN = re.compile(r"[\w@./:#-]{3,}")


def values_in(results: Iterable[Any], given: Mapping[str, Sequence[Any]]) -> Values:
    """Return the values that results and arguments show, by field, besides those that the user gives.

    Args:
        results: Parsed results and arguments of calls; the words of a text that look like ids are values too.
        given: Parameter -> values to try.
    """
    by_field: dict[str, dict[Any, None]] = {}
    strings: dict[str, None] = {}
    for name, value in (pair for result in results for pair in leaves(result)):
        by_field.setdefault(name, {})[value] = None
        if isinstance(value, str) and value:
            strings[value] = None
    for name, values in given.items():
        by_field[name] = dict.fromkeys(v for v in values if isinstance(v, (str, int, float)))
    return Values({name: list(values) for name, values in by_field.items()}, list(strings) or list(WORDS))


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the scalars in nested data with the name of their field, ids among the keys, and ids in texts."""
    if isinstance(value, dict):
        for key, part in value.items():
            if not _FIELD.fullmatch(key):
                yield name, key
            yield from leaves(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part, name)
    elif isinstance(value, str) and not name:
        yield from (("", t.strip(".:/")) for t in _TOKEN.findall(value) if re.search(r"[\d_/-]", t))
    elif value is not None:
        yield name, value


@dataclass(frozen=True)
class Sampler(Draw):
    """Draws calls that fit their schemas; `given` values of a parameter come before all others."""

    given: Mapping[str, Sequence[Any]] | None = None
    words: Sequence[str] = WORDS
    """Strings for new records; few of them, so that records refer to each other."""
    strange: bool = False
    """Whether strings are such that no record holds, so that most tools refuse the call."""
    exact: bool = False
    """Whether a string is a value of a field with the parameter's name, where one was shown."""

    def call_of(self, tool: str) -> Call | None:
        """Return a call of a tool that fits its schema; None where none was drawn."""
        schema = self._schema(tool)
        for _ in range(TRIES):
            made = self._value("", schema, schema)
            call = Call(tool, made if isinstance(made, dict) else {})
            if not complaint_about(call, self.interface):
                return call
        return None

    def with_drawn(self, call: Call, name: str) -> Call:
        """Return a call in which the argument of a parameter is drawn."""
        schema = self._schema(call.tool)
        return Call(call.tool, {**call.arguments, name: self._value(name, schema["properties"][name], schema, 1)})

    def fitting(self, call: Call) -> Call | None:
        """Return a call if it fits its schema."""
        return None if complaint_about(call, self.interface) else call

    def _value(self, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> Any:
        if given := (self.given or {}).get(name):
            made = self.rng.choice(given)
            return self.rng.choice(STRANGERS) if self.strange and isinstance(made, str) else made
        examples = [*schema.get("examples", ()), *([schema["default"]] if "default" in schema else [])]
        if depth and examples and self._chance(0.3):
            return self.rng.choice(examples)
        return super()._value(name, schema, root, depth)

    def _typed(self, kind: str, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
        if kind in ("integer", "number"):
            return self._number(kind, name, schema)
        if kind == "string":
            return self._string(name, schema)
        made = super()._typed(kind, name, schema, root, depth)
        if kind == "array" and len(made) < (least := schema.get("minItems", 0)):
            made += [self._value(name, schema.get("items", {}), root, depth + 1) for _ in range(least - len(made))]
        return made

    def _number(self, kind: str, name: str, schema: Mapping[str, Any]) -> Any:
        low, high = schema.get("minimum"), schema.get("maximum")
        seen = [v for v in self.values.named(name) if type(v) is int or (type(v) is float and kind == "number")]
        bounds = [b for b in (low, high) if b is not None]
        usual = [*WHOLE, *(FRACTIONS if kind == "number" else ())]
        fitting = [v for v in [*seen, *bounds, *usual] if (low is None or v >= low) and (high is None or v <= high)]
        return self.rng.choice(fitting or [0])

    def _string(self, name: str, schema: Mapping[str, Any]) -> str:
        if made := _FORMATS.get(str(schema.get("format"))):
            return made
        if self.strange:
            return self.rng.choice(STRANGERS)
        seen = [v for v in self._alike(name) if isinstance(v, str)]
        if seen and (self.exact or self._chance(0.7)):
            return self.rng.choice(seen)
        return self.rng.choice(self.values.strings if self._chance(0.5) else self.words)

    def _alike(self, name: str) -> list[Any]:
        """Return the values of a field, and of those whose names end alike: ``name`` for ``entityNames``."""
        plain = name.lower().removesuffix("s")
        ends = [f for f in self.values.by_field if len(f) > 2 and plain.endswith(f.lower().removesuffix("s"))]
        return list(dict.fromkeys([*self.values.named(name), *(v for f in ends for v in self.values.by_field[f])]))


def sampler(
    rng: Random,
    interface: Interface,
    results: Iterable[Any],
    given: Mapping[str, Sequence[Any]],
    words: Sequence[str] = WORDS,
    strange: bool = False,
    exact: bool = False,
) -> Sampler:
    """Return a sampler that knows what results have shown."""
    values = values_in(results, given)
    known = [s for s in values.strings if s not in STRANGERS] or list(words)
    return Sampler(
        rng, interface, Values(values.by_field, known), given=given, words=words, strange=strange, exact=exact
    )
