"""Statements of a module: what stands at the top and in classes, who inherits and decorates, what is caught."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from trace_gym import world
from trace_gym.sandbox.allowed import AT_THE_TOP, DUNDERS, EXCEPTIONS, IN_A_CLASS
from trace_gym.sandbox.annotations import is_alias, type_faults
from trace_gym.sandbox.expressions import Expressions
from trace_gym.sandbox.lasting import makes_iterator
from trace_gym.sandbox.names import bound, is_record_base
from trace_gym.sandbox.scopes import parameters, part_of
from trace_gym.sandbox.tables import depth
from trace_gym.world import ToolError, World

INHERITED = frozenset({"copy", "interface"})
"""What no world may replace."""


class Statements(Expressions):
    """Visits a whole module."""

    def visit_Module(self, node: ast.Module) -> None:
        for line in node.body:
            if not isinstance(line, AT_THE_TOP) or not _docstring(line):
                self.fault(line, "statement", "only imports, constants, functions and classes stand at the top")
            elif not isinstance(line, (ast.Import, ast.ImportFrom)):
                self.visit(line)
        self.changes.finish()

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.fault(node, "statement", "imports stand at the top")

    visit_ImportFrom = visit_Import

    # Classes

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not isinstance(self.parent(node), ast.Module):
            self.fault(node, "statement", f"the class {node.name} stands inside of a class or a function")
        self.binds(node, node.name)
        self._inherits(node)
        self._decorated(node, ("dataclass",))
        self.where.body = {name for line in node.body for name in bound(line)}
        for line in node.body:
            if not isinstance(line, IN_A_CLASS) or not _docstring(line):
                self.fault(line, "statement", "only constants, fields and methods stand in a class")
            else:
                self.visit(line)
        self.where.body = set()

    def _inherits(self, node: ast.ClassDef) -> None:
        if node.keywords:
            self.fault(node, "class", f"{node.name} has keywords; a class has bases only")
        for base in node.bases:
            found = self.where.resolve(base)
            own = isinstance(base, ast.Name) and isinstance(self.names.top.get(base.id, [None])[0], ast.ClassDef)
            ours = isinstance(found, type) and (issubclass(found, (World, ToolError)) or _of_a_target(found))
            if not (own or ours or is_record_base(found)):
                self.fault(base, "class", f"{ast.unparse(base)} is no class that environments inherit from")
        kept = INHERITED if node.bases else {"interface"}
        replaced = {name for line in node.body for name in bound(line)} & kept
        for name in sorted(replaced):
            self.fault(node, "class", f"{node.name} replaces {name}, which stays as it is inherited")

    # Functions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        around = self.parent(node)
        in_class = isinstance(around, ast.ClassDef)
        if not in_class and node.name in DUNDERS:
            self.fault(node, "dunder", f"{node.name} stands outside of a class")
        self.binds(node, node.name)
        self._decorated(node, ("tool", "classmethod", "staticmethod", "property") if in_class else ())
        for part in parameters(node):
            self._type(part.annotation)
        self._type(node.returns)
        self.in_scope(node)

    def _decorated(self, node: ast.ClassDef | ast.FunctionDef, offered: tuple[str, ...]) -> None:
        for decorator in node.decorator_list:
            call = isinstance(decorator, ast.Call)
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            constant = not isinstance(decorator, ast.Call) or (
                not decorator.args and all(k.arg and isinstance(k.value, ast.Constant) for k in decorator.keywords)
            )
            name = named.id if isinstance(named, ast.Name) else getattr(self.where.resolve(named), "__name__", "")
            real = name not in ("dataclass", "tool") or self.where.resolve(named) in _DECORATORS
            plain = call is False or name in ("dataclass", "tool")
            if not (name in offered and constant and real and plain):
                told = ", ".join(f"@{o}" for o in offered) or "none"
                self.fault(decorator, "decorator", f"@{ast.unparse(decorator)[:60]}; offered here: {told}")

    # Assignments

    def _lasts(self, node: ast.Assign | ast.AnnAssign) -> None:
        """Refuse an iterator that all episodes would read from."""
        if node.value is None or not isinstance(self.parent(node), (ast.Module, ast.ClassDef)):
            return
        imports = self.names.imports.items()
        iterators = [n for n, v in imports if "itertools" in (getattr(v, "__module__", ""), getattr(v, "__name__", ""))]
        if makes_iterator(node.value, self.changes.owners.functions, iterators):
            says = (
                f"found the iterator {ast.unparse(node.value)[:60]}, which all episodes would share, expected a tuple"
            )
            self.fault(node, "shared-state", f"{says}. Write tuple(...), or make it in a method")

    def visit_Assign(self, node: ast.Assign) -> None:
        self._lasts(node)
        for target in node.targets:
            self.changes.assigned(target, node.value)
            self.visit(target)
        if not (self.at_top(node) and is_alias(node.value, self.where)):
            self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._type(node.annotation)
        self._lasts(node)
        if node.value is not None:
            self.changes.assigned(node.target, node.value)
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)
        if node.value is not None and not (self.at_top(node) and is_alias(node.value, self.where)):
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.changes.assigned(node.target, node.value)
        self.sized(node)
        if isinstance(node.target, ast.Name) and not _is_scalar(node.value):
            held = [value for value in self.where.bound(node.target.id) if isinstance(value, ast.expr)]
            if any(self.where.shared(value) and depth(value, self.where) for value in held):
                self.changes.mutated(node, node.target)  # a list grows where it stands, under all of its names
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self.changes.assigned(node.target, part_of(node.iter))
        self.generic_visit(node)

    def at_top(self, node: ast.AST) -> bool:
        return isinstance(self.parent(node), ast.Module)

    def visit_arg(self, node: ast.arg) -> None:
        self._type(node.annotation)

    def _type(self, annotation: ast.expr | None) -> None:
        for says in type_faults(annotation, self.where) if annotation is not None else ():
            self.fault(annotation or ast.Pass(), "annotation", says)

    # Exceptions

    def visit_Try(self, node: ast.Try) -> None:
        if node.finalbody:
            self.fault(node, "statement", "finally outlasts whoever stops the module; leave it out")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        for kind in caught:
            name = kind.id if isinstance(kind, ast.Name) and not self.where.local(kind.id) else ""
            own = isinstance(self.names.top.get(name, [None])[0], ast.ClassDef)
            if not (own or name in EXCEPTIONS or (kind is not None and self.where.resolve(kind) is ToolError)):
                found = f"except {ast.unparse(kind)}" if kind else "except without an exception"
                named = ", ".join(sorted({"ToolError", *EXCEPTIONS}))
                self.fault(node, "exception", f"found {found}, expected one of {named}. Catch the one that is raised")
        for line in node.body:
            self.visit(line)


_DECORATORS = (world.tool, dataclass)


def _is_scalar(node: ast.expr) -> bool:
    """Return whether an expression is certain to be a text or a number, with which no container can be extended."""
    if isinstance(node, ast.IfExp):
        return _is_scalar(node.body) and _is_scalar(node.orelse)
    return isinstance(node, (ast.JoinedStr, ast.Compare, ast.Constant))


def _docstring(line: ast.stmt) -> bool:
    """Whether an expression that stands alone is a text; other statements are not judged."""
    return not isinstance(line, ast.Expr) or (
        isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)
    )


def _of_a_target(found: type) -> bool:
    return found.__module__.startswith("trace_gym.targets.")
