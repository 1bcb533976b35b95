"""Checks of values that all episodes share: module constants, class attributes and parameter defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from trace_gym.sandbox.read_only_containers import is_mutable

ITERATORS = frozenset({"enumerate", "filter", "iter", "map", "reversed", "zip"})
"""Builtins that return an iterator."""
READERS = frozenset(
    {"all", "any", "dict", "frozenset", "len", "list", "max", "min", "set", "sorted", "str", "sum", "tuple"}
)
"""Builtins that consume an iterator and do not keep a reference to it."""


def creates_iterator(node: ast.AST, functions: Mapping[str, ast.FunctionDef], imported: Iterable[str]) -> bool:
    """Return whether the value of an expression is or contains an iterator, which can be read only once.

    Args:
        node: The expression.
        functions: Functions of the module by name.
        imported: Names of objects that the module imports from `itertools`.
    """
    match node:
        case ast.GeneratorExp():
            return True
        case ast.Call(func=ast.Name(id=name), args=read) if name in READERS:
            return any(creates_iterator(part, functions, imported) for value in read for part in _parts(value))
        case ast.Starred(value=value):
            return any(creates_iterator(part, functions, imported) for part in _parts(value))
        case ast.Call(func=ast.Attribute(attr="join")):
            return False
        case ast.Call(func=ast.Name(id=name)) if name in ITERATORS or name in imported:
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in imported:
            return True
        case ast.Call(func=ast.Name(id=name)) if name in functions:
            body = functions[name]
            rest = {n: f for n, f in functions.items() if n != name}
            if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(body)):
                return True
            results = [part.value for part in ast.walk(body) if isinstance(part, ast.Return) and part.value is not None]
            return any(creates_iterator(value, rest, imported) for value in results)
        case ast.ListComp() | ast.SetComp() | ast.DictComp():
            made = [node.value] if isinstance(node, ast.DictComp) else [node.elt]
            return any(creates_iterator(value, functions, imported) for value in made)
        case ast.Lambda():
            return False
    return any(creates_iterator(child, functions, imported) for child in ast.iter_child_nodes(node))


def _parts(node: ast.AST) -> list[ast.expr]:
    """Return the element expressions of a display or a comprehension."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return parts
        case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part):
            return [part]
    return []


def is_shared_default(node: ast.AST) -> bool:
    """Return whether a parameter default is an object that one call could modify for all later calls."""
    return is_mutable(node) or any(isinstance(part, (ast.Call, ast.GeneratorExp)) for part in ast.walk(node))
