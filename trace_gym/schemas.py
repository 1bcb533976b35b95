"""Whether a call fits its tool's JSON Schema, and if not, what the agent is told.

`jsonschema` decides; it costs some 40 µs a call, more than the rest of a turn. So each schema is first compiled
to a few closures over the common keywords (`_quick`). Their yes is final; to a no, or where a schema uses
a keyword that they do not know, `jsonschema` has the last word.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
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
    """What is known of one tool's parameters."""

    schema: dict[str, Any]
    quick: Test | None
    slow: jsonschema.Draft202012Validator


def complaint_about(call: Call, interface: Interface) -> str:
    """What is wrong with a call by the interface's schemas, and what is possible; empty when nothing is wrong.

    An argument that the schema does not name is wrong too, whatever `additionalProperties` says.
    """
    return settle(call, interface)[1]


def settle(call: Call, interface: Interface) -> tuple[dict[str, Any], str]:
    """The arguments as the tool takes them, and what is wrong with them (empty when nothing is).

    Where the schema asks for an integer, ``2.0`` becomes ``2``: JSON has one kind of number, Python two.
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
    return _whole(call.arguments, tool.schema, tool.schema.get("$defs", {})), ""


def _whole(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """`value` with its integral floats as integers, wherever `schema` asks for an integer."""
    schema = definitions.get(str(schema.get("$ref", "")).removeprefix("#/$defs/"), schema)
    for option in schema.get("anyOf", ()):
        value = _whole(value, option, definitions)
    if isinstance(value, float) and value.is_integer() and "integer" in _listed(schema.get("type")):
        return int(value)
    if isinstance(value, dict):
        parts = schema.get("properties", {})
        return {k: _whole(v, parts.get(k, {}), definitions) for k, v in value.items()}
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [_whole(v, schema["items"], definitions) for v in value]
    return value


_compiled: dict[int, tuple[Interface, dict[str, _Tool]]] = {}
"""Tools by interface identity, the quick key; the interface is kept beside them so that its id stays taken."""
_by_content: dict[str, dict[str, _Tool]] = {}
"""The same tools by content: an interface that comes out of a pickle is a new object with old schemas."""
_KEPT = 64
"""Interfaces remembered before both tables are emptied."""


def tools_of(interface: Interface) -> dict[str, _Tool]:
    """The compiled schemas of an interface by tool name, in its order."""
    if (known := _compiled.get(id(interface))) is not None:
        return known[1]
    if len(_compiled) >= _KEPT:
        _compiled.clear()
        _by_content.clear()
    content = hashlib.sha256(json.dumps(interface.tools, sort_keys=True).encode()).hexdigest()
    tools = _by_content.get(content)
    if tools is None:
        schemas = {t["function"]["name"]: t["function"].get("parameters", {}) for t in interface.tools}
        # `properties` is named so that a tool without parameters still refuses arguments.
        tools = {
            n: _Tool(s, _quick({"properties": {}, **s}, s.get("$defs", {})), jsonschema.Draft202012Validator(s))
            for n, s in schemas.items()
        }
        _by_content[content] = tools  # another thread may empty the table at any time, so it is not read again
    _compiled[id(interface)] = (interface, tools)
    return tools


def _quick(schema: Any, definitions: dict[str, Any], depth: int = 0) -> Test | None:
    """A test whose yes implies that `schema` is satisfied; None when a keyword is not understood."""
    if not isinstance(schema, dict) or depth > 8:  # a schema that refers to itself is left to jsonschema
        return None
    if "$ref" in schema:
        target = definitions.get(str(schema["$ref"]).removeprefix("#/$defs/"))
        return _quick(target, definitions, depth + 1) if schema.keys() <= {"$ref"} | _ANNOTATIONS else None
    if not schema.keys() <= _KNOWN:
        return None
    tests: list[Test] = []
    for made in _parts(schema, definitions, depth):
        if made is None:
            return None
        tests.append(made)
    if len(tests) == 1:
        return tests[0]
    return lambda x: all(test(x) for test in tests)


def _parts(schema: dict[str, Any], definitions: dict[str, Any], depth: int) -> Iterator[Test | None]:
    """One test per keyword of `schema`."""
    structured = not schema.keys().isdisjoint({"properties", "required", "additionalProperties"})
    if "type" in schema and not (structured and schema["type"] == "object"):  # _object tests that type itself
        yield _any([_TYPES.get(t) for t in _listed(schema["type"])])
    if "enum" in schema or "const" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        # Only strings: 1 == True in Python and not in JSON.
        yield None if {"enum", "const"} <= schema.keys() else lambda x: type(x) is str and x in allowed
    if "anyOf" in schema:
        yield _any([_quick(s, definitions, depth + 1) for s in schema["anyOf"]])
    if "items" in schema:
        yield _items(_quick(schema["items"], definitions, depth + 1))
    if structured:
        properties = {k: _quick(s, definitions, depth + 1) for k, s in schema.get("properties", {}).items()}
        # Keys outside `properties` are not accepted here, whatever `additionalProperties` allows.
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
