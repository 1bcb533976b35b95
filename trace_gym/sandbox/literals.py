"""What each piece of syntax may be wherever it stands: kinds of nodes, names, literals, sizes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trace_gym.sandbox.allowed import DUNDERS, MEANT, NODES, PLAIN
from trace_gym.sandbox.rules import MAX_EXPONENT, MAX_INT, MAX_ITEMS, MAX_STRING, Fault

_DUNDER = re.compile(r"__\w+__")
_WALK = re.compile(r"\{\w*[.\[][^{}]*\}")
"""A replacement field that looks into its value."""


def plain_faults(tree: ast.Module) -> Iterator[Fault]:
    """Faults that show in a node alone."""
    docstrings = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        if type(node) not in NODES and not isinstance(node, PLAIN):
            yield Fault(line, "statement", f"{type(node).__name__} is not among the syntax that environments may use")
        for name in _names(node):
            if not name.isascii():
                yield Fault(line, "encoding", f"the name {name!a} is not ASCII")
            if name.startswith("__") and not (isinstance(node, ast.FunctionDef) and name in DUNDERS):
                yield Fault(line, "dunder", f"{name} is not to be used; definable are {', '.join(sorted(DUNDERS))}")
        if (bound := _bound(node)) in MEANT:
            yield Fault(line, "builtin", f"{bound} keeps its meaning; choose another name")
        if isinstance(node, ast.Constant):
            yield from _constant(node, id(node) in docstrings)
        elif says := _size(node):
            yield Fault(line, "literal", says)


def _names(node: ast.AST) -> Iterator[str]:
    """Every identifier that a node holds as text."""
    for field in ("id", "attr", "arg", "name", "asname", "rest"):
        if isinstance(name := getattr(node, field, None), str):
            yield name
    for field in ("names", "kwd_attrs"):
        yield from (n for n in getattr(node, field, ()) if isinstance(n, str))


def _bound(node: ast.AST) -> str | None:
    """A name that a node binds, other than as an attribute."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return name
        case ast.ClassDef(name=name) | ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
        case ast.FunctionDef(name=name) | ast.MatchMapping(rest=name) | ast.alias(asname=name):
            return name
    return None


def _constant(node: ast.Constant, docstring: bool) -> Iterator[Fault]:
    match node.value:
        case bytes() | complex():
            yield Fault(node.lineno, "literal", f"{type(node.value).__name__} literals are not needed; use str or int")
        case int() | float() as number if abs(number) > MAX_INT:
            yield Fault(node.lineno, "literal", f"a number beyond {MAX_INT:.0e}")
        case str() as text if len(text) > MAX_STRING:
            yield Fault(node.lineno, "literal", f"a string of {len(text)} characters; at most {MAX_STRING}")
        case str() as text if not docstring:
            if found := _DUNDER.search(text):
                yield Fault(node.lineno, "dunder", f"the string holds the name {found[0]}")
            if found := _WALK.search(text):
                yield Fault(
                    node.lineno, "format", f"the template looks into a value: {found[0]}; fill in the value itself"
                )


def _size(node: ast.AST) -> str:
    """What is too large about an expression."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return f"a display of {len(parts)} items; at most {MAX_ITEMS}" if len(parts) > MAX_ITEMS else ""
        case (
            ast.BinOp(op=ast.Pow() | ast.LShift(), right=right)
            | ast.AugAssign(op=ast.Pow() | ast.LShift(), value=right)
        ):
            small = isinstance(right, ast.Constant) and isinstance(right.value, (int, float))
            if not small or right.value > MAX_EXPONENT:  # type: ignore[attr-defined]  # small says it is a constant
                return f"an exponent or shift that is no number up to {MAX_EXPONENT}"
    return ""
