"""Expressions of a module: where each name comes from, what is looked up, called and filled in."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from inspect import getattr_static
from random import Random
from types import FunctionType, GenericAlias, ModuleType, UnionType
from typing import Any, cast

from trace_gym.sandbox import formats, patterns
from trace_gym.sandbox.allowed import BUILTINS, CLOCK, METHODS, MUTATORS, NEVER, PRIVATE, RANDOM
from trace_gym.sandbox.annotations import type_faults
from trace_gym.sandbox.changes import Changes
from trace_gym.sandbox.names import UNKNOWN, Names, exported, is_record_base
from trace_gym.sandbox.positions import class_position
from trace_gym.sandbox.rules import Fault
from trace_gym.sandbox.scopes import Comprehension, Function, Where, parameters, part_of
from trace_gym.world import tool


class Expressions(ast.NodeVisitor):
    """Visits expressions, knowing what encloses them; `faults` holds what it found.

    Args:
        tree: The module.
        names: What its names stand for.
    """

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self.names, self.where = names, Where(names)
        self.changes = Changes(tree, self.where, self.fault)
        self.where.read(tree)
        self.parents = self.where.parents
        self.faults: list[Fault] = []

    def fault(self, node: ast.AST, rule: str, says: str) -> None:
        """Note a fault at a node."""
        self.faults.append(Fault(getattr(node, "lineno", 1), rule, says))

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.parents.get(id(node))

    def called(self, node: ast.AST) -> bool:
        """Whether an expression is what a call calls."""
        parent = self.parent(node)
        return isinstance(parent, ast.Call) and parent.func is node

    # Scopes

    def in_scope(self, node: Function) -> None:
        """Visit the body of a function in a scope of its own; its defaults belong to the scope around it."""
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._named_self(node)
        self.where.scopes.append(self.where.scope(node))
        for part in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
            self.visit(part)
        self.where.scopes.pop()

    visit_Lambda = in_scope

    def _named_self(self, node: Function) -> None:
        """Only the first parameter of a method goes by `self`, and of a classmethod by `cls`."""
        marks = {ast.unparse(d) for d in node.decorator_list} if isinstance(node, ast.FunctionDef) else set()
        own = "" if not isinstance(self.parent(node), ast.ClassDef) or "staticmethod" in marks else "self"
        own = "cls" if own and "classmethod" in marks else own
        for n, part in enumerate(parameters(node)):
            if part.arg in ("self", "cls") and not (n == 0 and part.arg == own):
                self.fault(part, "assignment", f"the parameter {part.arg} is not the object of a method; rename it")

    def in_comprehension(self, node: Comprehension) -> None:
        first = node.generators[0].iter
        self.visit(first)  # the only part that is evaluated outside
        self.where.scopes.append(self.where.scope(node))
        for generator in node.generators:
            self.changes.assigned(generator.target, part_of(generator.iter))
            for part in (generator.target, *generator.ifs, *([generator.iter] if generator.iter is not first else [])):
                self.visit(part)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        self.where.scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = in_comprehension

    # Names

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

    def in_function(self, node: ast.AST) -> bool:
        """Whether a function is around a node."""
        around = self.parent(node)
        return around is not None and (isinstance(around, Function) or self.in_function(around))

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
                self.fault(node, "value", f"{text} is a module; name what is needed of it")
        elif found is Random:
            self.fault(node, "random", "draw from the rng that generate is given; Random stands in annotations only")
        elif found in (tool, dataclass):
            self.fault(node, "decorator", f"{text} is a decorator; write @{text} above what it decorates")
        elif found is field:
            if not self._is_default(parent):
                self.fault(node, "value", f"{text} makes the default of a field; write it in the body of a dataclass")
        elif is_record_base(found):
            self.fault(node, "class", f"{text} is a base class; write class Name({text})")
        elif isinstance(found, type) or _is_form(found):
            self.as_value(node, text)
        elif getattr(found, "__module__", "") == "re" and callable(found) and not self.called(node):
            self.fault(node, "regex", f"call {text} with a constant pattern")

    def _is_default(self, call: ast.AST | None) -> bool:
        """Return whether a call is the default of a field in the body of a dataclass."""
        line = self.parent(call) if isinstance(call, ast.Call) else None
        kind = self.parent(line) if isinstance(line, ast.AnnAssign) and line.value is call else None
        return isinstance(kind, ast.ClassDef) and bool(kind.decorator_list)

    def as_value(self, node: ast.expr, text: str) -> None:
        """Judge a class, or a form of `typing`, where an expression uses it."""
        if not class_position(node, self.parents, self.where):
            says = "is a type; call it, inherit from it or test for it; types are no values and no parts of values"
            self.fault(node, "value", f"{text} {says}")

    # Attributes and items

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
        elif node.attr == "format" and not self.called(node):
            self.fault(node, "format", "call format where the template stands")

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
            self.fault(node, "value", f"{ast.unparse(node)} is a method; call it on an object, or by super()")

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

    # Calls

    def visit_Call(self, node: ast.Call) -> None:
        self.changes.made(node)
        found = self.where.resolve(node.func)
        if getattr(found, "__module__", "") == "re" and getattr(found, "__name__", "") != "escape":
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


def _is_form(value: Any) -> bool:
    """Return whether an imported thing is a type that is no class, such as `typing.Optional` or `dict[str, Any]`."""
    made = isinstance(value, (GenericAlias, UnionType))
    return made or (getattr(value, "__module__", "") == "typing" and value is not cast)


def _of_datetime(value: Any) -> bool:
    return value is not UNKNOWN and "datetime" in (getattr(value, "__module__", ""), getattr(value, "__name__", ""))
