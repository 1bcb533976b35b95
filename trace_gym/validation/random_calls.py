"""Random tool calls with argument values from an environment's state.

Calls with purely random text would be rejected immediately and reach few interesting cases.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from trace_gym.schemas import resolved
from trace_gym.types import Call, Interface
from trace_gym.world import World

JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2.5,
    10**15,
    "",
    "nobody",
    "x" * 300,
    "\u2603 {} %s",
    [],
    [[]],
    {},
    {"": None},
)
"""Values that violate most schemas or that do not occur in any record."""


SCALARS = frozenset({str, int, float, bool, type(None)})
_fields: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()
"""Names of the fields of each dataclass."""


def to_plain_data(value: Any) -> Any:
    """Return a deep copy of a state as dicts, lists and scalars."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is dict or isinstance(value, Mapping):
        return {str(k): v if type(v) in SCALARS else to_plain_data(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [v if type(v) in SCALARS else to_plain_data(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(to_plain_data, value), key=repr)
    if (names := _fields.get(kind)) is None and is_dataclass(kind):
        names = _fields.setdefault(kind, tuple(f.name for f in fields(kind)))
    if names is not None:
        return {name: to_plain_data(getattr(value, name)) for name in names}
    if isinstance(value, World):
        return {name: to_plain_data(part) for name, part in vars(value).items()}
    return value if isinstance(value, (str, int, float)) else repr(value)


@dataclass(frozen=True)
class StateValues:
    """Values in a state: scalars by field name, and all strings."""

    by_field: dict[str, list[Any]]
    strings: list[str]

    @classmethod
    def of(cls, world: World) -> StateValues:
        by_field: dict[str, dict[Any, None]] = {}
        strings: dict[str, None] = {}

        def collect(data: Any, name: str) -> None:  # a generator such as `keys_and_scalars` takes twice as long
            if type(data) is dict:
                for key, part in data.items():
                    strings[key] = None
                    by_field.setdefault(name, {})[key] = None
                    collect(part, key)
            elif type(data) is list:
                for part in data:
                    collect(part, name)
            else:
                if isinstance(data, str):
                    strings[data] = None
                by_field.setdefault(name, {})[data] = None

        collect(to_plain_data(world), "")
        return cls({name: list(found) for name, found in by_field.items()}, list(strings) or [""])

    def named(self, name: str) -> list[Any]:
        """Return the values of a field and the record ids of the table with a matching name.

        For example, the table ``rooms`` matches the field names ``room`` and ``room_id``.
        """
        stem = name.removesuffix("_id").removesuffix("_number")
        fields = (name, f"{stem}s", f"{stem}es")
        return list(dict.fromkeys(v for field in fields for v in self.by_field.get(field, ())))


@dataclass(frozen=True)
class CallSampler:
    """Sampler of tool calls. Each value is replaced by a junk value with the probability `junk`."""

    rng: Random
    interface: Interface
    values: StateValues
    junk: float = 0.0

    def call(self, kinds: Collection[str] = ("read", "write", "generic")) -> Call:
        """Return a random call of a tool of one of these kinds."""
        names = [n for n, kind in self.interface.kinds.items() if kind in kinds]
        name = self.rng.choice(names)
        if self._chance(self.junk):
            return Call(name, self.rng.choice(({}, {"nonsense": 1}, {self.rng.choice(self.values.strings): None})))
        schema = self._schema(name)
        made = self._value("", schema, schema)
        return Call(name, made if isinstance(made, dict) else {})

    def changed(self, call: Call) -> Call:
        """Return the call with a new random value for one of its arguments."""
        schema = self._schema(call.tool)
        known = schema.get("properties", {})
        if not call.arguments or not (keys := [k for k in call.arguments if k in known]):
            return call
        key = self.rng.choice(keys)
        return replace(call, arguments={**call.arguments, key: self._value(key, known[key], schema)})

    def _chance(self, share: float) -> bool:
        # `rng.random()` is not suitable: with Hypothesis, it often returns 0.0, which Hypothesis regards as simplest.
        return self.rng.randrange(100) < 100 * share

    def _schema(self, name: str) -> dict[str, Any]:
        made: dict[str, Any] = next(t["function"] for t in self.interface.tools if t["function"]["name"] == name)
        return dict(made.get("parameters", {}))

    def _value(self, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> Any:
        if depth and self._chance(self.junk):
            return self.rng.choice(JUNK)
        schema = resolved(schema, root)
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return self._value(name, self.rng.choice(options), root, depth + 1)
        if "enum" in schema or "const" in schema:
            return self.rng.choice(schema.get("enum") or [schema["const"]])
        kind = schema.get("type", "string")
        return self._typed(self.rng.choice(kind) if isinstance(kind, list) else kind, name, schema, root, depth)

    def _typed(self, kind: str, name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
        match kind:
            case "object":
                parts, needed = schema.get("properties", {}), schema.get("required", ())
                given = [k for k in parts if k in needed or self._chance(0.5)]
                return {k: self._value(k, parts[k], root, depth + 1) for k in given}
            case "array":
                count = 0 if depth > 6 else self.rng.choice((1, 1, 2, 0))
                return [self._value(name, schema.get("items", {}), root, depth + 1) for _ in range(count)]
            case "integer" | "number":
                fitting_types = (int,) if kind == "integer" else (int, float)
                seen = [v for v in self.values.named(name) if type(v) in fitting_types]
                return self.rng.choice([*seen, 0, 1, 2, 50])
            case "boolean":
                return self._chance(0.5)
            case "null":
                return None
        fitting = [v for v in self.values.named(name) if isinstance(v, str)]
        return self.rng.choice(fitting if fitting and self._chance(0.8) else self.values.strings)
