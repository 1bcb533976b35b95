"""Positions in which a class may stand: it is called, looked into, tested for, or makes values for a container."""

from __future__ import annotations

import ast

from trace_gym.sandbox.names import UNKNOWN
from trace_gym.sandbox.scopes import Where

ARGUMENTS = {"isinstance": 1, "issubclass": 1, "map": 0, "filter": 0, "defaultdict": 0}
"""Functions that take classes, and the position at which they do."""
TESTS = ("isinstance", "issubclass")


def class_position(node: ast.AST, parents: dict[int, ast.AST], where: Where) -> bool:
    """Return whether a class may stand at a node, where nobody can take it for a value of the module."""
    parent = parents.get(id(node))
    match parent:
        case ast.Attribute(ctx=ast.Load()):
            return where.resolve(node) is UNKNOWN or isinstance(where.resolve(node), type)
        case ast.MatchClass() | ast.Raise() | ast.ExceptHandler() | ast.ClassDef():
            return True
        case ast.keyword(arg="default_factory"):
            call = parents.get(id(parent))
            return isinstance(call, ast.Call) and getattr(where.resolve(call.func), "__name__", "") == "field"
        case ast.keyword(arg="key", value=ast.Name(id=name)):
            return name not in where.names.imports and name not in where.names.top
        case ast.Tuple() | ast.BinOp(op=ast.BitOr()):  # several classes to test for
            around = parents.get(id(parent))
            tested = isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in TESTS
            nested = isinstance(around, (ast.ExceptHandler, ast.Tuple, ast.BinOp))
            return (tested or nested) and class_position(parent, parents, where)
        case ast.Call(func=func, args=args) if node is not func:
            named = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
            return not where.local(named) and any(
                arg is node and ARGUMENTS.get(named) == at for at, arg in enumerate(args)
            )
    return isinstance(parent, ast.Call)


def function_position(node: ast.AST, parents: dict[int, ast.AST], where: Where) -> bool:
    """Return whether an imported function at a node is called by a builtin that calls it and keeps nothing."""
    keyword = isinstance(parents.get(id(node)), ast.keyword) and getattr(parents[id(node)], "arg", "") == "key"
    return keyword or class_position(node, parents, where)
