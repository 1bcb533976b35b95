"""Checks that a module never modifies a container that is bound to a name.

The linter can rely on the literal content of a container only if the module does not modify it later. A module can
modify a list or a dict through an alias, through a function that receives the container, or through a method. The check
therefore accepts a container only if it can prove that every use of its name only reads it.
"""

from __future__ import annotations

import ast

from trace_gym.sandbox.module_names import UNKNOWN
from trace_gym.sandbox.scopes import NameContext

DEEP = 99
"""Nesting depth that represents an unknown depth."""
READ_BY = {"get": -1, "values": 0, "items": 1, "keys": 0, "copy": 0, "index": -DEEP, "count": -DEEP}
"""Methods that only read a container, with the nesting depth of their result relative to the container."""
HANDED_BY = {
    **{"choice": -1, "choices": 0, "sample": 0, "len": -DEEP, "max": 0, "min": 0, "next": 0},
    **dict.fromkeys(("dict", "list", "tuple", "set", "frozenset", "sorted", "reversed", "iter"), 0),
    **dict.fromkeys(("enumerate", "zip"), 1),
}
"""Functions that only read a container argument, with the nesting depth of their result relative to the container."""
VisitedNames = set[tuple[str, int]]


def depth(node: ast.AST, context: NameContext, known: dict[str, int] | None = None) -> int:
    """Return the maximum nesting depth of containers in an expression. The depth of a string or number is 0."""
    known = {} if known is None else known
    match node:
        case ast.Constant() | ast.JoinedStr() | ast.Compare():
            return 0
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return 1 + max((depth(part, context, known) for part in parts), default=0)
        case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
            return max(depth(one, context, known), depth(other, context, known))
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(attr="choice"), args=[value]):
            inner = depth(value, context, known)
            return DEEP if inner >= DEEP else max(0, inner - 1)
        case ast.Name(id=name) if context.imported(node) is UNKNOWN:
            if name not in known:
                found = context.origins(name)
                known[name] = DEEP  # prevents infinite recursion if the name is defined in terms of itself
                depths = [depth(origin, context, known) for origin in found or ()]
                known[name] = max(depths) if depths else DEEP
            return known[name]
    return DEEP


def is_mutable(node: ast.AST) -> bool:
    """Return whether an expression creates a mutable object."""
    made = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
    return any(isinstance(part, made) for part in ast.walk(node))


def is_only_read(name: str, context: NameContext, levels: int, seen: VisitedNames | None = None) -> bool:
    """Return whether every use of a name in the module only reads the container that the name refers to.

    Args:
        name: The name. Its uses in all scopes are checked.
        context: The names of the module.
        levels: Nesting depth of the container.
        seen: Pairs of a name and a depth that were already checked.
    """
    seen = set() if seen is None else seen
    if levels <= 0 or (name, levels) in seen:
        return True
    if levels > DEEP:
        return False
    seen.add((name, levels))
    return all(_reads(node, context, levels, seen) for node in context.uses.get(name, ()))


def _reads(node: ast.AST, context: NameContext, levels: int, seen: VisitedNames) -> bool:
    """Return whether the parent of a container expression only reads the container."""
    if levels <= 0:
        return True
    parent = context.parents.get(id(node))
    match parent:
        case ast.Subscript(value=value, slice=at, ctx=ast.Load()) if value is node:
            return _reads(parent, context, levels - (not isinstance(at, ast.Slice)), seen)
        case ast.Attribute(attr=attr) if attr in READ_BY:
            call = context.parents.get(id(parent))
            called = isinstance(call, ast.Call) and call.func is parent
            return called and call is not None and _reads(call, context, levels + READ_BY[attr], seen)
        case ast.Call(func=func) if func is not node:
            named = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
            of = func.value if isinstance(func, ast.Attribute) else None
            own = named in (context.names.constants if of else context.names.top_level) or context.local(named)
            plain = named in HANDED_BY and not own and (of is None or (isinstance(of, ast.Name) and of.id != "self"))
            return plain and _reads(parent, context, levels + HANDED_BY[named], seen)
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value) if value is node:
            return _bound(target, context, levels - 1, seen)
        case ast.Assign(targets=targets):
            return all(_bound(target, context, levels, seen) for target in targets)
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            return _bound(target, context, levels, seen) and (
                not isinstance(parent, ast.NamedExpr) or _reads(parent, context, levels, seen)
            )
        case ast.IfExp(test=test) if test is node:
            return True
        case ast.IfExp() | ast.BoolOp():
            return _reads(parent, context, levels, seen)
        case ast.Tuple() | ast.List() | ast.Dict() | ast.Starred():
            return _reads(parent, context, levels + 1, seen) if levels < DEEP else False
    return isinstance(parent, (ast.Compare, ast.FormattedValue, ast.Expr, ast.If, ast.While, ast.Assert))


def _bound(target: ast.AST, context: NameContext, levels: int, seen: VisitedNames) -> bool:
    """Return whether the module only reads the containers bound to the names in an assignment target."""
    match target:
        case ast.Name(id=name):
            return is_only_read(name, context, levels, seen)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(_bound(part, context, levels - 1, seen) for part in parts)
    return levels <= 0
