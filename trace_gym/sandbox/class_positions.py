"""Checks of the syntactic positions in which a class or an imported function may appear in a module."""

from __future__ import annotations

import ast

from trace_gym.sandbox.module_names import UNKNOWN
from trace_gym.sandbox.scopes import NameContext

ARGUMENTS = {"isinstance": 1, "issubclass": 1, "map": 0, "filter": 0, "defaultdict": 0}
"""Mapping from function name to the index of the argument that may be a class."""
TESTS = ("isinstance", "issubclass")


def class_position(node: ast.AST, parents: dict[int, ast.AST], context: NameContext) -> bool:
    """Return whether a class may appear at a node. This is allowed if the class cannot be stored or passed on there."""
    parent = parents.get(id(node))
    match parent:
        case ast.Attribute(ctx=ast.Load()):
            return context.imported(node) is UNKNOWN or isinstance(context.imported(node), type)
        case ast.MatchClass() | ast.Raise() | ast.ExceptHandler() | ast.ClassDef():
            return True
        case ast.keyword(arg="default_factory"):
            call = parents.get(id(parent))
            return isinstance(call, ast.Call) and getattr(context.imported(call.func), "__name__", "") == "field"
        case ast.keyword(arg="key", value=ast.Name(id=name)):
            return name not in context.names.imports and name not in context.names.top_level
        case ast.Tuple() | ast.BinOp(op=ast.BitOr()):  # several classes, as in isinstance(x, (A, B))
            around = parents.get(id(parent))
            tested = isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in TESTS
            nested = isinstance(around, (ast.ExceptHandler, ast.Tuple, ast.BinOp))
            return (tested or nested) and class_position(parent, parents, context)
        case ast.Call(func=func, args=args) if node is not func:
            named = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
            return not context.local(named) and any(
                arg is node and ARGUMENTS.get(named) == at for at, arg in enumerate(args)
            )
    return isinstance(parent, ast.Call)


def function_position(node: ast.AST, parents: dict[int, ast.AST], context: NameContext) -> bool:
    """Return whether an imported function may appear at a node: only as an argument of a builtin that calls it."""
    keyword = isinstance(parents.get(id(node)), ast.keyword) and getattr(parents[id(node)], "arg", "") == "key"
    return keyword or class_position(node, parents, context)
