"""Displays that have a name: how deep they are, and whether anything in the module can change what they hold.

A list or a dict can be changed under another name, by a function that it is handed to, or by a method of its class.
What it holds is known only where every use of its name reads it.
"""

from __future__ import annotations

import ast

from trace_gym.sandbox.names import UNKNOWN
from trace_gym.sandbox.scopes import Where

DEEP = 99
"""The depth of what cannot be told."""
READ_BY = {"get": -1, "values": 0, "items": 1, "keys": 0, "copy": 0, "index": -DEEP, "count": -DEEP}
"""Methods that read a container, and how much deeper than the container their result is."""
HANDED_BY = {
    **{"choice": -1, "choices": 0, "sample": 0, "len": -DEEP, "max": 0, "min": 0, "next": 0},
    **dict.fromkeys(("dict", "list", "tuple", "set", "frozenset", "sorted", "reversed", "iter"), 0),
    **dict.fromkeys(("enumerate", "zip"), 1),
}
"""Functions that read a container which is an argument, and how much deeper their result is."""
Seen = set[tuple[str, int]]


def depth(node: ast.AST, where: Where, known: dict[str, int] | None = None) -> int:
    """Return how many containers are around the values of an expression, at most; 0 for a text or a number."""
    known = {} if known is None else known
    match node:
        case ast.Constant() | ast.JoinedStr() | ast.Compare():
            return 0
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return 1 + max((depth(part, where, known) for part in parts), default=0)
        case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
            return max(depth(one, where, known), depth(other, where, known))
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(attr="choice"), args=[value]):
            inner = depth(value, where, known)
            return DEEP if inner >= DEEP else max(0, inner - 1)
        case ast.Name(id=name) if where.resolve(node) is UNKNOWN:
            if name not in known:
                found = where.origins(name)
                known[name] = DEEP  # of a name that leads back to itself
                depths = [depth(origin, where, known) for origin in found or ()]
                known[name] = max(depths) if depths else DEEP
            return known[name]
    return DEEP


def is_mutable(node: ast.AST) -> bool:
    """Return whether an expression makes something that can be changed."""
    made = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    return any(isinstance(part, made) for part in ast.walk(node))


def is_only_read(name: str, where: Where, levels: int, seen: Seen | None = None) -> bool:
    """Return whether every use of a name in the module reads the container that it stands for.

    Args:
        name: The name, in whichever scope.
        where: The names of the module.
        levels: Containers around the values that the name stands for.
        seen: Names that have been judged.
    """
    seen = set() if seen is None else seen
    if levels <= 0 or (name, levels) in seen:
        return True
    if levels > DEEP:
        return False
    seen.add((name, levels))
    return all(_reads(node, where, levels, seen) for node in where.uses.get(name, ()))


def _reads(node: ast.AST, where: Where, levels: int, seen: Seen) -> bool:
    """Return whether the place at which a container stands only reads it."""
    if levels <= 0:
        return True
    parent = where.parents.get(id(node))
    match parent:
        case ast.Subscript(value=value, slice=at, ctx=ast.Load()) if value is node:
            return _reads(parent, where, levels - (not isinstance(at, ast.Slice)), seen)
        case ast.Attribute(attr=attr) if attr in READ_BY:
            call = where.parents.get(id(parent))
            called = isinstance(call, ast.Call) and call.func is parent
            return called and call is not None and _reads(call, where, levels + READ_BY[attr], seen)
        case ast.Call(func=func) if func is not node:
            named = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
            of = func.value if isinstance(func, ast.Attribute) else None
            own = named in (where.names.constants if of else where.names.top) or where.local(named)
            plain = named in HANDED_BY and not own and (of is None or (isinstance(of, ast.Name) and of.id != "self"))
            return plain and _reads(parent, where, levels + HANDED_BY[named], seen)
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value) if value is node:
            return _bound(target, where, levels - 1, seen)
        case ast.Assign(targets=targets):
            return all(_bound(target, where, levels, seen) for target in targets)
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            return _bound(target, where, levels, seen) and (
                not isinstance(parent, ast.NamedExpr) or _reads(parent, where, levels, seen)
            )
        case ast.IfExp(test=test) if test is node:
            return True
        case ast.IfExp() | ast.BoolOp():
            return _reads(parent, where, levels, seen)
        case ast.Tuple() | ast.List() | ast.Dict() | ast.Starred():
            return _reads(parent, where, levels + 1, seen) if levels < DEEP else False
    return isinstance(parent, (ast.Compare, ast.FormattedValue, ast.Expr, ast.If, ast.While, ast.Assert))


def _bound(target: ast.AST, where: Where, levels: int, seen: Seen) -> bool:
    """Return whether all names of a target are only read."""
    match target:
        case ast.Name(id=name):
            return is_only_read(name, where, levels, seen)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(_bound(part, where, levels - 1, seen) for part in parts)
    return levels <= 0
