"""Lint rules for reading and binding names, and for the positions in which imported objects and classes appear."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, field
from random import Random
from types import GenericAlias, ModuleType, UnionType
from typing import Any, cast

from trace_gym.sandbox.allowlist import BUILTINS
from trace_gym.sandbox.class_positions import class_position, function_position
from trace_gym.sandbox.module_names import is_record_base
from trace_gym.sandbox.regex_rules import compiles
from trace_gym.sandbox.scope_visitor import ScopeVisitor
from trace_gym.world import tool


class NameRules(ScopeVisitor):
    """Syntax tree visitor that checks the use of names."""

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if not isinstance(node.ctx, ast.Load):
            self.check_binding(node, name)
        elif name == "cls":
            self.check_type_use(node, name)
        elif self.context.local(name):
            return
        elif hasattr(builtins, name) and name not in BUILTINS:
            self.report(
                node, "builtin", f"the builtin {name} is not allowed; allowed are {', '.join(sorted(BUILTINS))}"
            )
        elif name in self.names.imports:
            self.check_import_use(node, self.names.imports[name])
        elif name in ("vars", "super"):
            self._narrow(node)
        elif not (name in self.names.top_level or name in BUILTINS or name in self.context.body):
            self.report(node, "builtin", f"{name} is not defined, not imported and not an allowed builtin")
        elif self.context.is_class(name):
            self.check_type_use(node, name)

    def check_binding(self, node: ast.AST, name: str) -> None:
        """Report a name that a module must not bind."""
        if name in ("self", "cls"):
            self.report(node, "assignment", f"{name} must not be rebound. Choose another name")
        elif name in self.names.imports and not self.context.scopes:
            self.report(node, "import", f"{name} is already imported. Choose another name")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if not self.in_function(node):
            self.report(node, "statement", "found := outside a function. Use an assignment statement")
        self.generic_visit(node)

    def _narrow(self, node: ast.Name) -> None:
        """Report uses of `vars` that do not copy the fields of `self`, and calls of `super` with arguments."""
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
        message = (
            "call super() without arguments"
            if node.id == "super"
            else "use dict(vars(self)), or asdict(x) for a record"
        )
        self.report(node, "builtin", f"{node.id}: {message}")

    def _is_self(self, node: ast.expr) -> bool:
        """Return whether an expression is `self`, or a parameter that is annotated with `Self`."""
        if not isinstance(node, ast.Name):
            return False
        return node.id == "self" or [
            ast.unparse(v.annotation) if isinstance(v, ast.arg) and v.annotation else ""
            for v in self.context.bound(node.id)
        ] == ["Self"]

    def check_import_use(self, node: ast.expr, found: Any) -> None:
        """Report an imported object in a position that is not allowed."""
        parent, text = self.parent(node), ast.unparse(node)
        if isinstance(found, ModuleType):
            if not (isinstance(parent, ast.Attribute) and parent.value is node):
                self.report(
                    node, "value", f"found the module {text} as a value, expected an attribute of it. Write {text}.NAME"
                )
        elif found is Random:
            self.report(node, "random", "use the rng argument of generate. Random is allowed only in annotations")
        elif found in (tool, dataclass):
            self.report(node, "decorator", f"{text} is allowed only as a decorator. Write @{text} above a definition")
        elif found is field:
            if not self._is_default(parent):
                self.report(
                    node,
                    "value",
                    f"found {text} as a value, expected the default of a field. Write it in the body of a dataclass",
                )
        elif is_record_base(found):
            self.report(node, "class", f"{text} is allowed only as a base class. Write class Name({text})")
        elif isinstance(found, type) or _is_form(found):
            self.check_type_use(node, text)
        elif compiles(found) and not self.called(node):
            self.report(node, "regex", f"{text} is used as a value. Call {text} with a constant pattern")
        elif callable(found) and not (self.called(node) or function_position(node, self.parents, self.context)):
            message = (
                f"found the imported function {text} as a value, expected a call. Call it, or pass it as key= or to map"
            )
            self.report(node, "value", message)

    def _is_default(self, call: ast.AST | None) -> bool:
        """Return whether a call is the default value of a field in the body of a dataclass."""
        line = self.parent(call) if isinstance(call, ast.Call) else None
        kind = self.parent(line) if isinstance(line, ast.AnnAssign) and line.value is call else None
        return isinstance(kind, ast.ClassDef) and bool(kind.decorator_list)

    def check_type_use(self, node: ast.expr, text: str) -> None:
        """Report a class or a `typing` construct in a position that is not allowed."""
        if not class_position(node, self.parents, self.context):
            message = (
                f"found the type {text} as a value, expected a call, a base class or a test. Store a name or an object"
            )
            self.report(node, "value", message)


def _is_form(value: Any) -> bool:
    """Return whether an imported object is a type expression other than a class, such as `dict[str, Any]`."""
    made = isinstance(value, (GenericAlias, UnionType))
    return made or (getattr(value, "__module__", "") == "typing" and value is not cast)
