"""Validation of tool calls against the JSON Schemas of the tools, with error messages for the agent.

A validation with `jsonschema` takes about 40 µs, more than the rest of a turn. Therefore each schema is compiled to a
few functions for the common keywords (`_quick`). If they accept a call, the call is valid. If they reject it, or if the
schema uses another keyword, `jsonschema` validates the call.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema

from trace_gym.types import Call, Interface

Test = Callable[[Any], bool]

_TYPES: dict[str, Test] = {
    "string": lambda x: type(x) is str,
    "integer": lambda x: type(x) is int,
    "number": lambda x: type(x) is int or type(x) is float,
    "boolean": lambda x: type(x) is bool,
    "null": lambda x: x is None,
    "array": lambda x: type(x) is list,
    "object": lambda x: type(x) is dict,
}
_ANNOTATIONS = {"title", "description", "default", "examples", "$defs", "$schema"}
_KNOWN = _ANNOTATIONS | {"type", "enum", "const", "anyOf", "properties", "required", "items", "additionalProperties"}


@dataclass(frozen=True, slots=True)
class _Tool:
    """Compiled parameter schema of one tool."""

    schema: dict[str, Any]
    quick: Test | None
    """Fast test of the arguments; None if the schema has unsupported keywords."""
    slow: jsonschema.Draft202012Validator
    """Complete validator. It is used if the fast test rejects the arguments or does not exist."""


def complaint_about(call: Call, interface: Interface) -> str:
    """Return the error message for an invalid call, with the valid alternatives; empty if the call is valid.

    Arguments that the schema does not define are invalid even if `additionalProperties` allows them.
    """
    return settle(call, interface)[1]


def settle(call: Call, interface: Interface) -> tuple[dict[str, Any], str]:
    """Convert the arguments to the types that the tool requires; return them and an error message (empty if valid).

    If the schema requires an integer, ``2.0`` is converted to ``2``, because JSON has only one type of number.
    """
    tools = tools_of(interface)
    if (tool := tools.get(call.tool)) is None:
        return {}, f"there is no tool {call.tool[:80]!r}; the tools are {', '.join(tools)}"
    if tool.quick is not None and tool.quick(call.arguments):
        return call.arguments, ""
    known = tool.schema.get("properties", {})
    faults = [f"{e.json_path[:80]}: {e.message[:200]}" for e in tool.slow.iter_errors(call.arguments)]
    faults += [f"unknown argument {k[:80]!r}" for k in call.arguments if k not in known]
    if faults:
        return {}, f"{call.tool} takes {', '.join(known) or 'no arguments'}; {'; '.join(faults[:3])}"
    return _whole(call.arguments, tool.schema, tool.schema), ""


def resolved(schema: Mapping[str, Any] | bool, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema to which a reference refers; a schema without a reference is returned unchanged.

    Keywords next to the reference are added to the result, and replace the same keywords of the schema.

    The result is the empty schema, which accepts every value, if the reference cannot be resolved (for example, because
    it refers to itself) or if the schema is a Boolean.

    Args:
        schema: A part of `root`.
        root: JSON Schema that contains the definitions, such as the parameters of a tool.
    """
    followed = set[str]()
    while isinstance(schema, Mapping) and "$ref" in schema:
        reference = str(schema["$ref"])
        if reference in followed or not reference.startswith("#"):
            return {}
        followed.add(reference)
        found = _at(root, reference.split("/")[1:])
        if not isinstance(found, Mapping):
            return {}
        schema = {**found, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}
    return schema if isinstance(schema, Mapping) else {}


def _at(value: Any, names: Sequence[str]) -> Any:
    """Return the part of a JSON value to which the names of a JSON pointer lead; None if there is no such part."""
    for name in (escaped.replace("~1", "/").replace("~0", "~") for escaped in names):
        match value:
            case Mapping():
                value = value.get(name)
            case list() if name.isdecimal() and int(name) < len(value):
                value = value[int(name)]
            case _:
                return None
    return value


def _whole(value: Any, schema: Mapping[str, Any] | bool, root: Mapping[str, Any]) -> Any:
    """Return `value` with integral floats converted to integers if `schema` requires integers."""
    schema = resolved(schema, root)
    for option in schema.get("anyOf", ()):
        value = _whole(value, option, root)
    if isinstance(value, float) and value.is_integer() and "integer" in _listed(schema.get("type")):
        return int(value)
    if isinstance(value, dict):
        parts = schema.get("properties", {})
        return {k: _whole(v, parts.get(k, {}), root) for k, v in value.items()}
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_whole(v, schema["items"], root) for v in value]
    return value


_compiled: dict[int, tuple[Interface, dict[str, _Tool]]] = {}
"""Compiled tools by the `id` of the interface. The interface is also stored, so that its `id` is not reused."""
_by_content: dict[str, dict[str, _Tool]] = {}
"""Compiled tools by the content of the interface, for unpickled copies, which are new objects with equal schemas."""
_KEPT = 64
"""Maximum number of interfaces in the two tables, which are cleared when they are full."""


def tools_of(interface: Interface) -> dict[str, _Tool]:
    """Return the compiled schemas of an interface by tool name, in the order of the interface."""
    if (known := _compiled.get(id(interface))) is not None:
        return known[1]
    if len(_compiled) >= _KEPT:
        _compiled.clear()
        _by_content.clear()
    content = hashlib.sha256(json.dumps(interface.tools, sort_keys=True).encode()).hexdigest()
    tools = _by_content.get(content)
    if tools is None:
        schemas = {t["function"]["name"]: t["function"].get("parameters", {}) for t in interface.tools}
        # The default for `properties` makes tools without parameters reject all arguments.
        tools = {
            n: _Tool(s, _quick({"properties": {}, **s}, s), jsonschema.Draft202012Validator(s))
            for n, s in schemas.items()
        }
        _by_content[content] = tools  # not read again, because another thread may clear the cache at any time
    _compiled[id(interface)] = (interface, tools)
    return tools


def _quick(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Test | None:
    """Return a function that accepts only valid values of `schema`; None if the schema uses an unsupported keyword."""
    if not isinstance(schema, dict) or depth > 8:  # a schema that refers to itself is left to jsonschema
        return None
    if "$ref" in schema:
        target = resolved(schema, root)
        return _quick(target, root, depth + 1) if target and schema.keys() <= {"$ref"} | _ANNOTATIONS else None
    if not schema.keys() <= _KNOWN:
        return None
    tests: list[Test] = []
    for made in _parts(schema, root, depth):
        if made is None:
            return None
        tests.append(made)
    if len(tests) == 1:
        return tests[0]
    return lambda x: all(test(x) for test in tests)


def _parts(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Test | None]:
    """Yield one function per keyword of `schema`."""
    structured = not schema.keys().isdisjoint({"properties", "required", "additionalProperties"})
    if "type" in schema and not (structured and schema["type"] == "object"):  # `_object` also tests the type
        yield _any([_TYPES.get(t) for t in _listed(schema["type"])])
    if "enum" in schema or "const" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        # The test accepts only strings, because 1 == True in Python but not in JSON.
        yield None if {"enum", "const"} <= schema.keys() else lambda x: type(x) is str and x in allowed
    if "anyOf" in schema:
        yield _any([_quick(s, root, depth + 1) for s in schema["anyOf"]])
    if "items" in schema:
        yield _items(_quick(schema["items"], root, depth + 1))
    if structured:
        properties = {k: _quick(s, root, depth + 1) for k, s in schema.get("properties", {}).items()}
        # Keys that are not in `properties` are rejected, even if `additionalProperties` allows them.
        yield _object(properties, schema.get("required", []))


def _any(tests: list[Test | None]) -> Test | None:
    sure = [t for t in tests if t is not None]
    if len(sure) < len(tests):
        return None
    return sure[0] if len(sure) == 1 else lambda x: any(t(x) for t in sure)


def _items(test: Test | None) -> Test | None:
    return None if test is None else lambda x: type(x) is list and all(map(test, x))


def _object(properties: dict[str, Test | None], required: list[str]) -> Test | None:
    tests = {k: t for k, t in properties.items() if t is not None}
    if len(tests) < len(properties):
        return None
    needed = set(required)

    def holds(x: Any) -> bool:
        return type(x) is dict and needed <= x.keys() and all(k in tests and tests[k](v) for k, v in x.items())

    return holds


def _listed(types: Any) -> list[str]:
    return types if isinstance(types, list) else [types]
