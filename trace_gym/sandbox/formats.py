"""Templates that `str.format` is called on: constants whose fields name a value and do not look into it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

from trace_gym.sandbox.names import UNKNOWN
from trace_gym.sandbox.scopes import Where
from trace_gym.sandbox.sizes import width_faults
from trace_gym.sandbox.tables import depth, is_mutable, is_only_read

_FIELD = re.compile(r"[A-Za-z_]\w*|\d*")
HOW = "format a literal, a constant of the module that is only read, or a choice among them; or write an f-string"


def faults(receiver: ast.expr, where: Where) -> Iterator[str]:
    """What is wrong with calling `format` on an expression."""
    texts = templates(receiver, where)
    if texts is None:
        yield f"{ast.unparse(receiver)[:60]} is no constant template; {HOW}"
    for text in texts or ():
        if wrong := _walking(text):
            yield f"the template {text[:60]!r} {wrong}; fill in the value itself"


def templates(node: ast.expr, where: Where, seen: set[str] | None = None) -> list[str] | None:
    """Every text that an expression may come to; None where that cannot be said."""
    seen = set() if seen is None else seen
    if (found := where.resolve(node)) is not UNKNOWN:
        return list(_strings(found))
    match node:
        case ast.Constant(value=value):
            return [value] if isinstance(value, str) else []
        case ast.Name(id=name):
            origins = where.origins(name) if name not in seen else []
            seen.add(name)
            if any(map(is_mutable, origins or ())) and not is_only_read(name, where, depth(node, where)):
                return None
            return _all(origins, where, seen)
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return templates(value, where, seen)
        case ast.Call(func=ast.Attribute(attr="choice"), args=[value], keywords=[]):
            return templates(value, where, seen)
        case ast.IfExp(body=one, orelse=other):
            return _all([one, other], where, seen)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return _all(parts, where, seen)
    return None


def _all(parts: list[ast.expr] | None, where: Where, seen: set[str]) -> list[str] | None:
    found = None if parts is None else [templates(part, where, seen) for part in parts]
    return None if found is None or None in found else [text for texts in found for text in texts or ()]


def _strings(value: Any) -> Iterator[str]:
    """Every string in imported data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (s for part in value.values() for s in _strings(part))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from (s for part in value for s in _strings(part))


def _walking(template: str) -> str:
    """What is wrong with a template."""
    try:
        for _, field, spec, _ in Formatter().parse(template):
            if field is not None and not _FIELD.fullmatch(field):
                return f"looks into a value: {{{field}}}"
            if spec and "{" in spec:
                return f"has a field inside of a field: {spec}"
            if wide := next(width_faults(spec or ""), ""):
                return f"has a field that is too wide ({wide})"
    except ValueError as error:
        return f"is no template ({error})"
    return ""
