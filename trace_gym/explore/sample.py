"""Sampling of tool calls for a live server, with arguments from the schemas and from values in earlier results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from trace_gym.nested import walk
from trace_gym.schemas import complaint_about
from trace_gym.types import Call, Interface
from trace_gym.validation.random_calls import CallSampler, StateValues

WORDS = ("alpha", "bravo", "delta", "echo", "kilo", "lima", "oscar", "tango")
"""Strings that are used for the fields of new records."""
STRANGERS = ("no-such-thing-0", "missing_9999", "ZZZ999")
"""Strings that no record contains."""
TRIES = 20
"""Maximum number of tries to sample one call. Some schemas require values that the sampler never generates."""
FRACTIONS = (0.5, 1.5, 2.5, 0.125, 2.675, 19.99, 33.333)
"""Numbers for which different rounding methods give different results."""
WHOLE = (0, 1, 2, 3, 5, 7, 10, 101)
_FORMATS = {"date": "2031-01-02", "date-time": "2031-01-02T03:04:05Z", "time": "03:04:05", "email": "a@example.com",
            "uri": "https://example.com", "uuid": "123e4567-e89b-12d3-a456-426614174000"}  # fmt: skip
_FIELD = re.compile(r"[A-Za-z_]+\d?")
"""Pattern of a field name. Any other key of a record is an id."""
_TOKEN = re.compile(r"[\w@./:#-]{3,}")


def values_in(results: Iterable[Any], given: Mapping[str, Sequence[Any]]) -> StateValues:
    """Return the values in results and arguments by field, together with the values that the user specifies.

    Args:
        results: Parsed results and arguments of calls. Words that look like ids also count as values.
        given: Mapping from parameter name to the values to try. They replace other values of the same field.
    """
    by_field: dict[str, dict[Any, None]] = {}
    strings: dict[str, None] = {}
    for name, value in (pair for result in results for pair in leaves(result)):
        by_field.setdefault(name, {})[value] = None
        if isinstance(value, str) and value:
            strings[value] = None
    for name, values in given.items():
        by_field[name] = dict.fromkeys(v for v in values if isinstance(v, (str, int, float)))
    return StateValues({name: list(values) for name, values in by_field.items()}, list(strings) or list(WORDS))


def leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the scalars in nested data, each as a pair with the name of its field.

    Keys of objects that are ids, and words in plain text that look like ids, are included.
    """
    for name, part, outer, _ in walk(value):
        if outer is not None and not _FIELD.fullmatch(name):
            yield outer, name
        if isinstance(part, str) and not name:
            yield from (("", t.strip(".:/")) for t in _TOKEN.findall(part) if re.search(r"[\d_/-]", t))
        elif part is not None and not isinstance(part, (dict, list)):
            yield name, part


@dataclass(frozen=True)
class Sampler(CallSampler):
    """Sampler of calls that match their schemas. The values in `given` have priority."""

    given: Mapping[str, Sequence[Any]] | None = None
    """Mapping from parameter name to the only values to use for this parameter."""
    words: Sequence[str] = WORDS
    """Strings for new records. There are only a few, so that records refer to each other."""
    strange: bool = False
    """Whether to use strings that no record contains, so that most tools refuse the call."""
    exact: bool = False
    """Whether to always use strings from fields with the name of the parameter, if there are any."""

    def call_of(self, tool: str) -> Call | None:
        """Return a sampled call of a tool, or None if no sample matches its schema."""
        schema = self._schema(tool)
        for _ in range(TRIES):
            made = self._value("", schema, schema)
            call = Call(tool, made if isinstance(made, dict) else {})
            if not complaint_about(call, self.interface):
                return call
        return None

    def with_drawn(self, call: Call, name: str) -> Call:
        """Return a copy of a call with a sampled value for one parameter."""
        schema = self._schema(call.tool)
        return Call(call.tool, {**call.arguments, name: self._value(name, schema["properties"][name], schema, 1)})

    def fitting(self, call: Call) -> Call | None:
        """Return the call if it matches the schema of its tool, else None."""
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
        """Return the values of a field, and of fields whose name is its ending, as ``name`` is for ``entityNames``."""
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
    """Return a sampler that uses the values in earlier results."""
    values = values_in(results, given)
    known = [s for s in values.strings if s not in STRANGERS] or list(words)
    return Sampler(
        rng, interface, StateValues(values.by_field, known), given=given, words=words, strange=strange, exact=exact
    )
