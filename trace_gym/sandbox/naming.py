"""Names of a module: which may be read and bound, and where imported things and classes may be used."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, field
from random import Random
from types import GenericAlias, ModuleType, UnionType
from typing import Any, cast

from trace_gym.sandbox.allowed import BUILTINS
from trace_gym.sandbox.names import is_record_base
from trace_gym.sandbox.patterns import compiles
from trace_gym.sandbox.positions import class_position, function_position
from trace_gym.sandbox.walking import Walk
from trace_gym.world import tool


class NameRules(Walk):
    """Visits names."""

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            self.binds(node, name)
        elif name == "cls":
            self.as_value(node, name)
        elif self.where.local(name):
            return
        elif hasattr(builtins, name) and name not in BUILTINS:
            self.fault(node, "builtin", f"{name} is not offered; offered are {', '.join(sorted(BUILTINS))}")
        elif name in self.names.imports:
            self.imported(node, self.names.imports[name])
        elif name in ("vars", "super"):
            self._narrow(node)
        elif not (name in self.names.top or name in BUILTINS or name in self.where.body):
            self.fault(node, "builtin", f"{name} is not defined here, not imported and not offered")
        elif self.where.is_class(name):
            self.as_value(node, name)

    def binds(self, node: ast.AST, name: str) -> None:
        """A name that is bound here."""
        if name in ("self", "cls"):
            self.fault(node, "assignment", f"{name} is bound again; choose another name")
        elif name in self.names.imports and not self.where.scopes:
            self.fault(node, "import", f"{name} is imported; choose another name")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if not self.in_function(node):
            self.fault(node, "statement", "an assignment inside of an expression, outside of functions")
        self.generic_visit(node)

    def _narrow(self, node: ast.Name) -> None:
        """Allow `vars` only to copy the fields of a world, and `super` only to call what is inherited."""
        call = self.parent(node)
        around = self.parent(call) if call else None
        match node.id, call, around:
            case "super", ast.Call(args=[], keywords=[]), ast.Attribute(ctx=ast.Load()):
                return
            case "vars", ast.Call(args=[of], keywords=[]), ast.Call(func=ast.Name(id="dict"), args=[only]) if (
                only is call and self._is_self(of)
            ):
                return
            case "vars", ast.Call(args=[of], keywords=[]), ast.Dict(keys=keys, values=values) if self._is_self(of):
                if any(key is None and value is call for key, value in zip(keys, values, strict=True)):
                    return
        says = "call it without arguments" if node.id == "super" else "write dict(vars(self)), or asdict(x) of a record"
        self.fault(node, "builtin", f"{node.id}: {says}")

    def _is_self(self, node: ast.expr) -> bool:
        """Return whether an expression is `self`, or a parameter that is declared to be such an object."""
        if not isinstance(node, ast.Name):
            return False
        return node.id == "self" or [
            ast.unparse(v.annotation) if isinstance(v, ast.arg) and v.annotation else ""
            for v in self.where.bound(node.id)
        ] == ["Self"]

    def imported(self, node: ast.expr, found: Any) -> None:
        """Judge an imported thing where an expression uses it."""
        parent, text = self.parent(node), ast.unparse(node)
        if isinstance(found, ModuleType):
            if not (isinstance(parent, ast.Attribute) and parent.value is node):
                self.fault(
                    node, "value", f"found the module {text} as a value, expected an attribute of it. Write {text}.NAME"
                )
        elif found is Random:
            self.fault(node, "random", "draw from the rng that generate is given; Random stands in annotations only")
        elif found in (tool, dataclass):
            self.fault(node, "decorator", f"{text} is a decorator; write @{text} above what it decorates")
        elif found is field:
            if not self._is_default(parent):
                self.fault(
                    node,
                    "value",
                    f"found {text} as a value, expected the default of a field. Write it in the body of a dataclass",
                )
        elif is_record_base(found):
            self.fault(node, "class", f"{text} is a base class; write class Name({text})")
        elif isinstance(found, type) or _is_form(found):
            self.as_value(node, text)
        elif compiles(found) and not self.called(node):
            self.fault(node, "regex", f"call {text} with a constant pattern")
        elif callable(found) and not (self.called(node) or function_position(node, self.parents, self.where)):
            says = (
                f"found the imported function {text} as a value, expected a call. Call it, or pass it as key= or to map"
            )
            self.fault(node, "value", says)

    def _is_default(self, call: ast.AST | None) -> bool:
        """Return whether a call is the default of a field in the body of a dataclass."""
        line = self.parent(call) if isinstance(call, ast.Call) else None
        kind = self.parent(line) if isinstance(line, ast.AnnAssign) and line.value is call else None
        return isinstance(kind, ast.ClassDef) and bool(kind.decorator_list)

    def as_value(self, node: ast.expr, text: str) -> None:
        """Judge a class, or a form of `typing`, where an expression uses it."""
        if not class_position(node, self.parents, self.where):
            says = (
                f"found the type {text} as a value, expected a call, a base class or a test. Store a name or an object"
            )
            self.fault(node, "value", says)


def _is_form(value: Any) -> bool:
    """Return whether an imported thing is a type but not a class, such as `typing.Optional` or `dict[str, Any]`."""
    made = isinstance(value, (GenericAlias, UnionType))
    return made or (getattr(value, "__module__", "") == "typing" and value is not cast)
