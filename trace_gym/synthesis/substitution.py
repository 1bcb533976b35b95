"""Substitution in the code of a function: arguments replace parameters, and values replace names of constants."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

LONGEST_CONSTANT = 120
"""Maximum number of characters of a constant's value. A longer value does not replace the constant's name."""
LONGEST_EXPRESSION = 60
"""Maximum number of characters of an expression in the text of a refusal. A longer expression appears as ``...``."""
Substitutions = Mapping[str, ast.expr]
"""Mapping from parameter name to the expression of the argument."""


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return the syntax tree of a function."""
    [node] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    return node


class Substituter(ast.NodeTransformer):
    """Syntax tree transformer that replaces parameters with arguments, and names of constants with their values."""

    def __init__(self, bindings: Substitutions, names: Mapping[str, Any]) -> None:
        self.bindings, self.names = bindings, names

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if name not in self.bindings:
                table = self.names.get(name)
                value = table.get(key) if isinstance(table, Mapping) else None
                if isinstance(value, (str, int, float)):
                    return ast.Constant(value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            if node.id in self.bindings:
                return self.bindings[node.id]
            value = self.names.get(node.id)
            if isinstance(value, (str, int, float, tuple)) and len(repr(value)) <= LONGEST_CONSTANT:
                return ast.parse(repr(value), mode="eval").body
        return node


def arguments_of(function: FunctionType, call: ast.Call, skipped: bool) -> dict[str, ast.expr]:
    """Return the argument for each parameter in a call. Defaults are used for parameters without an argument.

    Args:
        function: Called function.
        call: Call expression.
        skipped: Whether the call does not contain an argument for the first parameter, such as ``self``.
    """
    spec = definition(function).args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)][1 if skipped else 0 :]
    found: dict[str, ast.expr] = {}
    if spec.defaults:
        found |= dict(zip(names[-len(spec.defaults) :], spec.defaults, strict=False))
    found |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
    found |= dict(zip(names, call.args, strict=False))
    known = {*names, *(a.arg for a in spec.kwonlyargs)}
    named = {k.arg: k.value for k in call.keywords if k.arg is not None}
    found |= {name: value for name, value in named.items() if name in known}
    if spec.kwarg is not None:
        rest = {name: value for name, value in named.items() if name not in known}
        found[spec.kwarg.arg] = ast.Dict([ast.Constant(name) for name in rest], list(rest.values()))
    if spec.vararg is not None:
        found[spec.vararg.arg] = ast.Tuple(list(call.args[len(names) :]), ast.Load())
    return {name: value for name, value in found.items() if not isinstance(value, ast.Starred)}


def template_of(node: ast.expr) -> str:
    """Return the text of a string expression, with each embedded expression in braces."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(map(template_of, parts))
        case ast.FormattedValue(value=ast.Constant(value=value), format_spec=form):
            return format(value, template_of(form) if form else "")
        case ast.FormattedValue(value=ast.JoinedStr() as inner):
            return template_of(inner)
        case ast.FormattedValue(value=value):
            return _template_of_code(value)
    return _template_of_code(node)


def _template_of_code(node: ast.expr) -> str:
    code = re.sub("[{}]", "", ast.unparse(node))
    return f"{{{code}}}" if len(code) <= LONGEST_EXPRESSION else "{...}"
