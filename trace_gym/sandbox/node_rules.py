"""Lint rules that apply to single syntax nodes: node types, identifiers, literals and sizes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trace_gym.sandbox.allowlist import ALLOWED_NODES, DUNDERS, OPERATOR_NODES, RESERVED_BUILTINS
from trace_gym.sandbox.lint_rules import MAX_EXPONENT, MAX_INT, MAX_ITEMS, MAX_STRING, LintViolation

_DUNDER = re.compile(r"__\w+__")
_WALK = re.compile(r"\{\w*[.\[][^{}]*\}")
"""Pattern of a replacement field that accesses an attribute or item of its value."""


def node_violations(tree: ast.Module) -> Iterator[LintViolation]:
    """Yield the violations that can be detected from single nodes without their context."""
    docstrings = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        if type(node) not in ALLOWED_NODES and not isinstance(node, OPERATOR_NODES):
            yield LintViolation(line, "statement", f"{type(node).__name__} is not allowed in environments")
        for name in _names(node):
            if not name.isascii():
                yield LintViolation(line, "encoding", f"the name {name!a} is not ASCII")
            if name.startswith("__") and not (isinstance(node, ast.FunctionDef) and name in DUNDERS):
                yield LintViolation(
                    line, "dunder", f"{name} is not allowed; a class may define {', '.join(sorted(DUNDERS))}"
                )
        if (bound := _bound(node)) in RESERVED_BUILTINS:
            yield LintViolation(line, "builtin", f"the builtin {bound} must not be rebound. Choose another name")
        if isinstance(node, ast.Constant):
            yield from _constant(node, id(node) in docstrings)
        elif message := _size(node):
            yield LintViolation(line, "literal", message)


def _names(node: ast.AST) -> Iterator[str]:
    """Yield every identifier that a node contains."""
    for field in ("id", "attr", "arg", "name", "asname", "rest"):
        if isinstance(name := getattr(node, field, None), str):
            yield name
    for field in ("names", "kwd_attrs"):
        yield from (n for n in getattr(node, field, ()) if isinstance(n, str))


def _bound(node: ast.AST) -> str | None:
    """Return the name that a node binds, or None. Attributes do not count as names."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return name
        case ast.ClassDef(name=name) | ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
        case ast.FunctionDef(name=name) | ast.MatchMapping(rest=name) | ast.alias(asname=name):
            return name
    return None


def _constant(node: ast.Constant, docstring: bool) -> Iterator[LintViolation]:
    match node.value:
        case bytes() | complex():
            yield LintViolation(
                node.lineno, "literal", f"{type(node.value).__name__} literals are not allowed. Use str or int"
            )
        case int() | float() as number if abs(number) > MAX_INT:
            yield LintViolation(node.lineno, "literal", f"found a number above the maximum {MAX_INT:.0e}")
        case str() as text if len(text) > MAX_STRING:
            yield LintViolation(
                node.lineno, "literal", f"found a string of {len(text)} characters, expected at most {MAX_STRING}"
            )
        case str() as text if not docstring:
            if found := _DUNDER.search(text):
                yield LintViolation(node.lineno, "dunder", f"the string contains the special name {found[0]}")
            if found := _WALK.search(text):
                yield LintViolation(
                    node.lineno,
                    "format",
                    f"the template accesses a part of a value: {found[0]}. Insert the value itself",
                )


def _size(node: ast.AST) -> str:
    """Return an error message if an expression is too large, else `""`."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return (
                f"found a display of {len(parts)} items, expected at most {MAX_ITEMS}" if len(parts) > MAX_ITEMS else ""
            )
        case (
            ast.BinOp(op=ast.Pow() | ast.LShift(), right=right)
            | ast.AugAssign(op=ast.Pow() | ast.LShift(), value=right)
        ):
            small = isinstance(right, ast.Constant) and isinstance(right.value, (int, float))
            if not small or right.value > MAX_EXPONENT:  # type: ignore[attr-defined]  # `small` implies a constant
                return f"found an exponent or shift that is not a constant number of at most {MAX_EXPONENT}"
    return ""
