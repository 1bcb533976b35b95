"""Lint rules for expressions: attribute access, calls, and sizes of results."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import getattr_static
from types import FunctionType, ModuleType
from typing import Any, cast

from trace_gym.sandbox import format_templates, regex_rules
from trace_gym.sandbox.allowlist import (
    BUILTINS,
    CLOCK_NAMES,
    METHODS,
    MUTATORS,
    RANDOM_NAMES,
    SELF_ONLY,
    UNSAFE_ATTRIBUTES,
)
from trace_gym.sandbox.annotations import annotation_errors
from trace_gym.sandbox.constant_sizes import size_errors
from trace_gym.sandbox.module_names import UNKNOWN, exported
from trace_gym.sandbox.name_rules import NameRules


class Expressions(NameRules):
    """Visitor that checks expressions."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        base = self.context.imported(node.value)
        if not isinstance(base, ModuleType):
            self.visit(node.value)
            offered = METHODS | CLOCK_NAMES | RANDOM_NAMES  # `check_attribute` handles these names
            if base is not UNKNOWN and node.attr not in offered and not _is_ours(base):
                self.report(
                    node,
                    "attribute",
                    f"{ast.unparse(node.value)} has no attribute {node.attr} that environments may use",
                )
            elif isinstance(node.ctx, ast.Load):
                self.check_attribute(node, node.attr)
                self._unbound(node)
            if (node.attr in SELF_ONLY or node.attr.startswith("_")) and not self._is_own(node.value):
                self.report(node, "attribute", f".{node.attr} is private. Access it only on self")
        elif node.attr not in exported(base):
            self.report(node, "attribute", f"{base.__name__} has no attribute {node.attr} that environments may use")
        else:
            self.check_import_use(node, self.context.imported(node))
        if isinstance(node.ctx, ast.Del):
            self.report(node, "statement", f"found del of the attribute {node.attr}. Assign None instead")
        elif isinstance(node.ctx, ast.Store):
            self.mutations.check_store(node)
        elif node.attr in MUTATORS:
            self.mutations.check_mutation(node, node.value)
            self._changing(node)
        elif node.attr == "format" and not self.called(node):
            self.report(node, "format", "format is used as a value. Call format directly on the template")

    def _changing(self, node: ast.Attribute) -> None:
        """Report a mutating method that is used as a value or called on a class."""
        if node.attr in self.names.attributes:
            return
        if not self.called(node):
            message = f"found the method {ast.unparse(node)[:60]} as a value, expected a call. Call it in a loop"
            self.report(node, "value", message)
        elif (
            isinstance(node.value, ast.Name)
            and self.context.is_class(node.value.id)
            and not self.context.local(node.value.id)
        ):
            message = f"found {ast.unparse(node)} as a function, expected a method of an object. Call it on the object"
            self.report(node, "value", message)

    def _is_own(self, node: ast.expr) -> bool:
        """Return whether an expression certainly refers to `self`, or to an object or class of the module."""
        named = node.id if isinstance(node, ast.Name) else ""
        inherited = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
        own = not self.context.local(named) and isinstance(self.names.top_level.get(named, [None])[0], ast.ClassDef)
        return inherited or own or named == "cls" or self._is_self(node)

    def _unbound(self, node: ast.Attribute) -> None:
        """Report access to a method through a class, because the method could modify any object.

        A call with `self` as the first argument is allowed.
        """
        match self.parent(node):
            case ast.Call(func=func, args=[ast.Name(id="self"), *_]) if func is node:
                return
        kind = self.context.imported(node.value)
        held = getattr_static(kind, node.attr, None) if isinstance(kind, type) and _is_ours(kind) else None
        own = [line for named in self._classes(node.value) for line in named.body]
        methods = [line for line in own if isinstance(line, ast.FunctionDef) and line.name == node.attr]
        if isinstance(held, FunctionType) or any(not _static(line) for line in methods):
            text = ast.unparse(node)
            message = f"found the method {text} of a class, expected one of an object. Call it on self or by super()"
            self.report(node, "value", message)

    def _classes(self, node: ast.expr, seen: set[str] | None = None) -> Iterator[ast.ClassDef]:
        """Yield all classes of the module that an expression may refer to."""
        seen = set() if seen is None else seen
        match node:
            case ast.Name(id="cls"):
                yield from (n for nodes in self.names.top_level.values() for n in nodes if isinstance(n, ast.ClassDef))
            case ast.Name(id=name) if name not in seen and self.context.local(name):
                seen.add(name)
                for value in self.context.bound(name):
                    if isinstance(value, ast.expr):
                        yield from self._classes(value, seen)
            case ast.Name(id=name):
                yield from (n for n in self.names.top_level.get(name, ()) if isinstance(n, ast.ClassDef))
            case ast.Subscript(value=value):
                yield from self._classes(value, seen)
            case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Dict(values=values):
                for value in values:
                    yield from self._classes(value, seen)

    def check_attribute(self, node: ast.AST, attr: str) -> None:
        """Report an attribute that a module must not read."""
        own = attr in self.names.attributes
        if attr in CLOCK_NAMES and not (own and not any(map(_of_datetime, self.names.imports.values()))):
            self.report(
                node,
                "clock",
                f".{attr} may read the clock. Derive dates from constants, or rename an attribute that you defined",
            )
        elif attr in RANDOM_NAMES:
            self.report(node, "random", f".{attr} is not allowed. Draw values with other methods of rng")
        elif attr in UNSAFE_ATTRIBUTES or not (attr in METHODS or own):
            self.report(
                node,
                "attribute",
                f".{attr} is not defined by the module or its target, and is not allowed on other values",
            )

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)  # reports a subscripted type, such as list[str], outside annotations
        if not isinstance(node.ctx, ast.Load):
            self.mutations.check_store(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for attr in node.kwd_attrs:
            self.check_attribute(node, attr)
            if attr in SELF_ONLY or attr.startswith("_"):
                self.report(node, "attribute", f".{attr} is private. Access it only on self")
        self.generic_visit(node)

    # Sizes and calls

    def check_size(self, node: ast.expr | ast.AugAssign) -> None:
        """Report an expression whose result is too large."""
        for message in size_errors(node, self.context):
            self.report(node, "literal", message)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.check_size(node)
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        self.check_size(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.mutations.check_construction(node)
        self.check_size(node)
        found = self.context.imported(node.func)
        if regex_rules.compiles(found) and getattr(found, "__name__", "") != "escape":
            for message in regex_rules.pattern_call_errors(node, self.context):
                self.report(node, "regex", message)
        if isinstance(node.func, ast.Attribute):
            self._method(node, node.func)
        if found is cast and len(node.args) == 2 and not node.keywords:
            for message in annotation_errors(node.args[0], self.context):
                self.report(node, "annotation", message)
            self.visit(node.func)
            self.visit(node.args[1])
        else:
            self.generic_visit(node)

    def _method(self, node: ast.Call, func: ast.Attribute) -> None:
        if func.attr == "format":
            for message in format_templates.violations(func.value, self.context):
                self.report(node, "format", message)
        if func.attr in MUTATORS:
            self.mutations.record_insertion(func.value, node)
        unbound = (
            isinstance(func.value, ast.Name) and func.value.id in BUILTINS and not self.context.local(func.value.id)
        )
        if func.attr == "shuffle" or (unbound and func.attr in MUTATORS):  # such as list.append(x, 1)
            for changed in node.args[:1]:
                self.mutations.check_mutation(node, changed)


def _is_ours(value: Any) -> bool:
    """Return whether an imported object is data or is defined in the package trace_gym."""
    return not callable(value) or str(getattr(value, "__module__", "")).startswith("trace_gym.")


def _static(node: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id in ("classmethod", "staticmethod") for d in node.decorator_list)


def _of_datetime(value: Any) -> bool:
    return value is not UNKNOWN and "datetime" in (getattr(value, "__module__", ""), getattr(value, "__name__", ""))
