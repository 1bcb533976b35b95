"""Expressions of a module: what is looked up, called, and computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from inspect import getattr_static
from types import FunctionType, ModuleType
from typing import Any, cast

from trace_gym.sandbox import formats, patterns
from trace_gym.sandbox.allowed import BUILTINS, CLOCK, METHODS, MUTATORS, NEVER, PRIVATE, RANDOM
from trace_gym.sandbox.annotations import type_faults
from trace_gym.sandbox.names import UNKNOWN, exported
from trace_gym.sandbox.naming import NameRules
from trace_gym.sandbox.sizes import size_faults


class Expressions(NameRules):
    """Visits expressions."""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        base = self.where.resolve(node.value)
        if not isinstance(base, ModuleType):
            self.visit(node.value)
            offered = METHODS | CLOCK | RANDOM  # of these, the next look says more
            if base is not UNKNOWN and node.attr not in offered and not _is_ours(base):
                self.fault(node, "attribute", f"{ast.unparse(node.value)} offers no {node.attr} to environments")
            elif isinstance(node.ctx, ast.Load):
                self.looked_up(node, node.attr)
                self._unbound(node)
            if (node.attr in PRIVATE or node.attr.startswith("_")) and not self._is_own(node.value):
                self.fault(node, "attribute", f".{node.attr} is private; look it up in self only")
        elif node.attr not in exported(base):
            self.fault(node, "attribute", f"{base.__name__} offers no {node.attr} to environments")
        else:
            self.imported(node, self.where.resolve(node))
        if isinstance(node.ctx, ast.Del):
            self.fault(node, "statement", f"del of the attribute {node.attr}; assign None")
        elif isinstance(node.ctx, ast.Store):
            self.changes.stored(node)
        elif node.attr in MUTATORS:
            self.changes.mutated(node, node.value)
            self._changing(node)
        elif node.attr == "format" and not self.called(node):
            self.fault(node, "format", "call format where the template stands")

    def _changing(self, node: ast.Attribute) -> None:
        """Refuse a method that changes its object where it is not called on that object."""
        if node.attr in self.names.attributes:
            return
        if not self.called(node):
            says = f"found the method {ast.unparse(node)[:60]} as a value, expected a call. Call it in a loop"
            self.fault(node, "value", says)
        elif (
            isinstance(node.value, ast.Name)
            and self.where.is_class(node.value.id)
            and not self.where.local(node.value.id)
        ):
            says = f"found {ast.unparse(node)} as a function, expected a method of an object. Call it on the object"
            self.fault(node, "value", says)

    def _is_own(self, node: ast.expr) -> bool:
        """Return whether an expression is certain to be an object or a class of the module."""
        named = node.id if isinstance(node, ast.Name) else ""
        inherited = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
        own = not self.where.local(named) and isinstance(self.names.top.get(named, [None])[0], ast.ClassDef)
        return inherited or own or named == "cls" or self._is_self(node)

    def _unbound(self, node: ast.Attribute) -> None:
        """Refuse a method that is looked up in a class, except to call it with `self`: it would change any object."""
        match self.parent(node):
            case ast.Call(func=func, args=[ast.Name(id="self"), *_]) if func is node:
                return
        kind = self.where.resolve(node.value)
        held = getattr_static(kind, node.attr, None) if isinstance(kind, type) and _is_ours(kind) else None
        own = [line for named in self._classes(node.value) for line in named.body]
        methods = [line for line in own if isinstance(line, ast.FunctionDef) and line.name == node.attr]
        if isinstance(held, FunctionType) or any(not _static(line) for line in methods):
            text = ast.unparse(node)
            says = f"found the method {text} of a class, expected one of an object. Call it on self or by super()"
            self.fault(node, "value", says)

    def _classes(self, node: ast.expr, seen: set[str] | None = None) -> Iterator[ast.ClassDef]:
        """The own classes that an expression may stand for."""
        seen = set() if seen is None else seen
        match node:
            case ast.Name(id="cls"):
                yield from (n for nodes in self.names.top.values() for n in nodes if isinstance(n, ast.ClassDef))
            case ast.Name(id=name) if name not in seen and self.where.local(name):
                seen.add(name)
                for value in self.where.bound(name):
                    if isinstance(value, ast.expr):
                        yield from self._classes(value, seen)
            case ast.Name(id=name):
                yield from (n for n in self.names.top.get(name, ()) if isinstance(n, ast.ClassDef))
            case ast.Subscript(value=value):
                yield from self._classes(value, seen)
            case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Dict(values=values):
                for value in values:
                    yield from self._classes(value, seen)

    def looked_up(self, node: ast.AST, attr: str) -> None:
        """An attribute that is read of some object."""
        own = attr in self.names.attributes
        if attr in CLOCK and not (own and not any(map(_of_datetime, self.names.imports.values()))):
            self.fault(
                node, "clock", f".{attr}: derive dates from constants; give an attribute of your own another name"
            )
        elif attr in RANDOM:
            self.fault(node, "random", f".{attr}: draw from the rng as it is given")
        elif attr in NEVER or not (attr in METHODS or own):
            self.fault(node, "attribute", f".{attr} is no attribute that the module or its target defines")

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)  # which refuses a type that is looked into, such as list[str] outside of annotations
        if not isinstance(node.ctx, ast.Load):
            self.changes.stored(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for attr in node.kwd_attrs:
            self.looked_up(node, attr)
            if attr in PRIVATE or attr.startswith("_"):
                self.fault(node, "attribute", f".{attr} is private; look it up in self only")
        self.generic_visit(node)

    # Sizes and calls

    def sized(self, node: ast.expr | ast.AugAssign) -> None:
        """Judge the size of what an expression makes."""
        for says in size_faults(node, self.where):
            self.fault(node, "literal", says)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.sized(node)
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        self.sized(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.changes.made(node)
        self.sized(node)
        found = self.where.resolve(node.func)
        if patterns.compiles(found) and getattr(found, "__name__", "") != "escape":
            for says in patterns.call_faults(node, self.where):
                self.fault(node, "regex", says)
        if isinstance(node.func, ast.Attribute):
            self._method(node, node.func)
        if found is cast and len(node.args) == 2 and not node.keywords:
            for says in type_faults(node.args[0], self.where):
                self.fault(node, "annotation", says)
            self.visit(node.func)
            self.visit(node.args[1])
        else:
            self.generic_visit(node)

    def _method(self, node: ast.Call, func: ast.Attribute) -> None:
        if func.attr == "format":
            for says in formats.faults(func.value, self.where):
                self.fault(node, "format", says)
        if func.attr in MUTATORS:
            self.changes.added(func.value, node)
        unbound = isinstance(func.value, ast.Name) and func.value.id in BUILTINS and not self.where.local(func.value.id)
        if func.attr == "shuffle" or (unbound and func.attr in MUTATORS):  # such as list.append(x, 1)
            for changed in node.args[:1]:
                self.changes.mutated(node, changed)


def _is_ours(value: Any) -> bool:
    """Whether an imported thing is a class of the contract or of a target, or data."""
    return not callable(value) or str(getattr(value, "__module__", "")).startswith("trace_gym.")


def _static(node: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id in ("classmethod", "staticmethod") for d in node.decorator_list)


def _of_datetime(value: Any) -> bool:
    return value is not UNKNOWN and "datetime" in (getattr(value, "__module__", ""), getattr(value, "__name__", ""))
