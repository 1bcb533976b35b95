"""Expressions of a module: where each name comes from, what is looked up, called and filled in."""

from __future__ import annotations

import ast
import builtins
from random import Random
from types import ModuleType
from typing import Any

from trace_gym.sandbox import formats, patterns
from trace_gym.sandbox.allowed import BUILTINS, CLOCK, METHODS, MUTATORS, NEVER, RANDOM
from trace_gym.sandbox.changes import Changes
from trace_gym.sandbox.names import UNKNOWN, Names, exported
from trace_gym.sandbox.rules import Fault
from trace_gym.sandbox.scopes import Comprehension, Function, Where, bindings_of

TAKES_CLASSES = ("isinstance", "issubclass", "map", "filter", "defaultdict", "cast")


class Expressions(ast.NodeVisitor):
    """Visits expressions, knowing what encloses them; `faults` holds what it found.

    Args:
        tree: The module.
        names: What its names stand for.
    """

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self.names, self.where = names, Where(names)
        self.changes = Changes(tree, self.where, self.fault)
        self.parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
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
        self.where.scopes.append(bindings_of(node))
        for part in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
            self.visit(part)
        self.where.scopes.pop()

    visit_Lambda = in_scope

    def in_comprehension(self, node: Comprehension) -> None:
        first = node.generators[0].iter
        self.visit(first)  # the only part that is evaluated outside
        self.where.scopes.append(bindings_of(node))
        for generator in node.generators:
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
        """`vars` only to copy the fields of an object, `super` only to call what is inherited."""
        call = self.parent(node)
        around = self.parent(call) if call else None
        match node.id, call, around:
            case "super", ast.Call(args=[], keywords=[]), ast.Attribute(ctx=ast.Load()):
                return
            case "vars", ast.Call(args=[_], keywords=[]), ast.Call(func=ast.Name(id="dict"), args=[only]) if (
                only is call
            ):
                return
            case "vars", ast.Call(args=[_], keywords=[]), ast.Dict(keys=keys, values=values):
                if any(key is None and value is call for key, value in zip(keys, values, strict=True)):
                    return
        says = "call it without arguments" if node.id == "super" else "write dict(vars(x)), or use dataclasses.asdict"
        self.fault(node, "builtin", f"{node.id}: {says}")

    def imported(self, node: ast.expr, found: Any) -> None:
        """An imported thing where an expression uses it."""
        parent, text = self.parent(node), ast.unparse(node)
        if isinstance(found, ModuleType):
            if not (isinstance(parent, ast.Attribute) and parent.value is node):
                self.fault(node, "value", f"{text} is a module; name what is needed of it")
        elif found is Random:
            self.fault(node, "random", "draw from the rng that generate is given; Random stands in annotations only")
        elif not isinstance(found, type):
            if getattr(found, "__module__", "") == "re" and callable(found) and not self.called(node):
                self.fault(node, "regex", f"call {text} with a constant pattern")
        elif not self._class_position(node, parent):
            self.fault(node, "value", f"{text} is a class; call it, inherit from it or test for it")

    def _class_position(self, node: ast.AST, parent: ast.AST | None) -> bool:
        match parent:
            case ast.Attribute(ctx=ast.Load()) | ast.MatchClass() | ast.Raise() | ast.ExceptHandler() | ast.ClassDef():
                return True
            case ast.keyword(arg="default_factory") | ast.Subscript():
                return True
            case ast.Tuple() | ast.BinOp(op=ast.BitOr()):  # several classes to test for
                around = self.parent(parent)
                tested = (ast.Call, ast.ExceptHandler, ast.Subscript)
                return isinstance(around, tested) and self._class_position(parent, around)
            case ast.Call(func=ast.Name(id=name)) if name in TAKES_CLASSES and not self.where.local(name):
                return True
        return self.called(node)

    # Attributes and items

    def visit_Attribute(self, node: ast.Attribute) -> None:
        base = self.where.resolve(node.value)
        if not isinstance(base, ModuleType):
            self.visit(node.value)
            if isinstance(node.ctx, ast.Load):
                self.looked_up(node, node.attr)
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
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self.changes.stored(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for attr in node.kwd_attrs:
            self.looked_up(node, attr)
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
        self.generic_visit(node)

    def _method(self, node: ast.Call, func: ast.Attribute) -> None:
        if func.attr == "format":
            for says in formats.faults(func.value, self.where):
                self.fault(node, "format", says)
        unbound = isinstance(func.value, ast.Name) and func.value.id in BUILTINS and not self.where.local(func.value.id)
        if func.attr == "shuffle" or (unbound and func.attr in MUTATORS):  # such as list.append(x, 1)
            for changed in node.args[:1]:
                self.changes.mutated(node, changed)


def _of_datetime(value: Any) -> bool:
    return value is not UNKNOWN and "datetime" in (getattr(value, "__module__", ""), getattr(value, "__name__", ""))
