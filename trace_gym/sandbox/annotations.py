"""Lint checks of type annotations.

Annotations, including annotations in strings, are evaluated when tool schemas are created. An annotation may therefore
contain only types.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from types import GenericAlias, UnionType
from typing import Literal

from trace_gym.sandbox.allowlist import BUILTINS
from trace_gym.sandbox.scopes import NameContext

TYPES = BUILTINS | {"object"}


def annotation_errors(node: ast.expr, context: NameContext, seen: set[str] | None = None) -> Iterator[str]:
    """Yield a message for each part of an annotation that is not a type."""
    seen = set() if seen is None else seen
    match node:
        case ast.Constant(value=None) | ast.Constant(value=builtins.Ellipsis):
            return
        case ast.Constant(value=str() as text):
            yield from _in_text(text, context, seen)
        case ast.Name(id=name):
            if not _is_type(name, context):
                yield f"{name} is not a type"
            elif (
                name in context.names.top_level
                and name not in seen
                and (value := context.names.constant(name)) is not None
            ):
                seen.add(name)
                yield from annotation_errors(value, context, seen)
        case ast.Attribute():
            if not isinstance(context.imported(node), (type, GenericAlias, UnionType)):  # a class, or dict[str, Any]
                yield f"{ast.unparse(node)} is not a type"
        case ast.Subscript(value=value) if context.imported(value) is Literal:
            if not all(isinstance(n, (ast.Constant, ast.Tuple, ast.Load)) for n in ast.walk(node.slice)):
                yield f"{ast.unparse(node)} contains more than constants"
        case ast.Subscript(value=value, slice=inner):
            yield from (*annotation_errors(value, context, seen), *annotation_errors(inner, context, seen))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from (violation for part in parts for violation in annotation_errors(part, context, seen))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from (*annotation_errors(left, context, seen), *annotation_errors(right, context, seen))
        case _:
            yield f"{ast.unparse(node)[:60]} is not a type"


def is_alias(node: ast.expr, context: NameContext) -> bool:
    """Return whether the value of a module-level name is a type alias such as ``dict[str, Any]``."""
    made = isinstance(node, (ast.Subscript, ast.BinOp))
    return (
        made
        and all(not isinstance(n, ast.Constant) or n.value in (None, ...) for n in ast.walk(node))
        and not any(annotation_errors(node, context))
    )


def _is_type(name: str, context: NameContext) -> bool:
    if context.local(name):
        return False
    match context.names.top_level.get(name):
        case None:
            return name in context.names.imports or name in TYPES
        case [ast.ClassDef()]:
            return True
    return context.names.constant(name) is not None


def _in_text(text: str, context: NameContext, seen: set[str]) -> Iterator[str]:
    try:
        inner = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield f"{text[:60]!r} is not a type"
        return
    yield from annotation_errors(inner, context, seen)
