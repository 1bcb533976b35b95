"""Code of a function in terms of its caller: arguments in place of parameters, values in place of constants."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

LONGEST_CONSTANT = 120
"""Characters of a constant that is shown in place of its name."""
LONGEST_EXPRESSION = 60
"""Characters of an expression in the text of a refusal."""
Bound = Mapping[str, ast.expr]
"""What the parameters of a function stand for."""


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """Return the syntax tree of a function."""
    [node] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    return node


class Filled(ast.NodeTransformer):
    """Puts arguments and constants into an expression."""

    def __init__(self, bound: Bound, names: Mapping[str, Any]) -> None:
        self.bound, self.names = bound, names

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)) if name not in self.bound:
                table = self.names.get(name)
                value = table.get(key) if isinstance(table, Mapping) else None
                if isinstance(value, (str, int, float)):
                    return ast.Constant(value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            if node.id in self.bound:
                return self.bound[node.id]
            value = self.names.get(node.id)
            if isinstance(value, (str, int, float, tuple)) and len(repr(value)) <= LONGEST_CONSTANT:
                return ast.parse(repr(value), mode="eval").body
        return node


def arguments_of(function: FunctionType, call: ast.Call, skipped: bool) -> dict[str, ast.expr]:
    """Return the argument of each parameter of a function in a call; what is not given is the default."""
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
    """Return a text with its expressions in braces."""
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
