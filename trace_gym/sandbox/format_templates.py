"""Lint checks of template strings for `str.format`.

A template must be constant, and its fields may not access attributes or items of the values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

from trace_gym.sandbox.constant_sizes import width_errors
from trace_gym.sandbox.module_names import UNKNOWN
from trace_gym.sandbox.read_only_containers import depth, is_mutable, is_only_read
from trace_gym.sandbox.scopes import NameContext

_FIELD = re.compile(r"[A-Za-z_]\w*|\d*")
HOW = "Use an f-string, or call format on a string literal or an unmodified module constant"


def violations(receiver: ast.expr, context: NameContext) -> Iterator[str]:
    """Yield the lint errors for a call to `format` on an expression."""
    texts = templates(receiver, context)
    if texts is None:
        yield f"{ast.unparse(receiver)[:60]} is not a constant template. {HOW}"
    for text in texts or ():
        if error := _template_error(text):
            yield f"the template {text[:60]!r} {error}. Insert the value itself"


def templates(node: ast.expr, context: NameContext, seen: set[str] | None = None) -> list[str] | None:
    """Return every string that an expression may evaluate to, or None if not all of them are known."""
    seen = set() if seen is None else seen
    if (found := context.imported(node)) is not UNKNOWN:
        return list(_strings(found))
    match node:
        case ast.Constant(value=value):
            return [value] if isinstance(value, str) else []
        case ast.Name(id=name):
            origins = context.origins(name) if name not in seen else []
            seen.add(name)
            if any(map(is_mutable, origins or ())) and not is_only_read(name, context, depth(node, context)):
                return None
            return _all(origins, context, seen)
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return templates(value, context, seen)
        case ast.Call(func=ast.Attribute(attr="choice"), args=[value], keywords=[]):
            return templates(value, context, seen)
        case ast.IfExp(body=one, orelse=other):
            return _all([one, other], context, seen)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return _all(parts, context, seen)
    return None


def _all(parts: list[ast.expr] | None, context: NameContext, seen: set[str]) -> list[str] | None:
    found = None if parts is None else [templates(part, context, seen) for part in parts]
    return None if found is None or None in found else [text for texts in found for text in texts or ()]


def _strings(value: Any) -> Iterator[str]:
    """Yield every string in nested data of an imported object."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (s for part in value.values() for s in _strings(part))
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from (s for part in value for s in _strings(part))


def _template_error(template: str) -> str:
    """Return a description of the error in a template, or `""` if the template is allowed."""
    try:
        for _, field, spec, _ in Formatter().parse(template):
            if field is not None and not _FIELD.fullmatch(field):
                return f"accesses a part of a value: {{{field}}}"
            if spec and "{" in spec:
                return f"has a nested field: {spec}"
            if wide := next(width_errors(spec or ""), ""):
                return f"has a field that is too wide ({wide})"
    except ValueError as error:
        return f"is not a valid template ({error})"
    return ""
