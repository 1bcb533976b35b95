"""Annotations: types and nothing else, as the schema of a tool evaluates them, in strings too."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from types import GenericAlias, UnionType
from typing import Literal

from trace_gym.sandbox.allowed import BUILTINS
from trace_gym.sandbox.scopes import Where

TYPES = BUILTINS | {"object"}


def type_faults(node: ast.expr, where: Where, seen: set[str] | None = None) -> Iterator[str]:
    """What is no type in an annotation."""
    seen = set() if seen is None else seen
    match node:
        case ast.Constant(value=None) | ast.Constant(value=builtins.Ellipsis):
            return
        case ast.Constant(value=str() as text):
            yield from _in_text(text, where, seen)
        case ast.Name(id=name):
            if not _is_type(name, where):
                yield f"{name} is no type"
            elif name in where.names.top and name not in seen and (value := where.names.constant(name)) is not None:
                seen.add(name)
                yield from type_faults(value, where, seen)
        case ast.Attribute():
            if not isinstance(where.resolve(node), (type, GenericAlias, UnionType)):  # a class, or dict[str, Any]
                yield f"{ast.unparse(node)} is no type"
        case ast.Subscript(value=value) if where.resolve(value) is Literal:
            if not all(isinstance(n, (ast.Constant, ast.Tuple, ast.Load)) for n in ast.walk(node.slice)):
                yield f"{ast.unparse(node)} holds more than constants"
        case ast.Subscript(value=value, slice=inner):
            yield from (*type_faults(value, where, seen), *type_faults(inner, where, seen))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from (fault for part in parts for fault in type_faults(part, where, seen))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from (*type_faults(left, where, seen), *type_faults(right, where, seen))
        case _:
            yield f"{ast.unparse(node)[:60]} is no type"


def is_alias(node: ast.expr, where: Where) -> bool:
    """Whether the value of a name at the top is a type made of others, such as ``dict[str, Any]``."""
    made = isinstance(node, (ast.Subscript, ast.BinOp))
    return (
        made
        and all(not isinstance(n, ast.Constant) or n.value in (None, ...) for n in ast.walk(node))
        and not any(type_faults(node, where))
    )


def _is_type(name: str, where: Where) -> bool:
    if where.local(name):
        return False
    match where.names.top.get(name):
        case None:
            return name in where.names.imports or name in TYPES
        case [ast.ClassDef()]:
            return True
    return where.names.constant(name) is not None


def _in_text(text: str, where: Where, seen: set[str]) -> Iterator[str]:
    try:
        inner = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield f"{text[:60]!r} is no type"
        return
    yield from type_faults(inner, where, seen)
