"""Lint rules for statements: module and class bodies, base classes, decorators, assignments, and exceptions."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from trace_gym import world
from trace_gym.sandbox.allowlist import CLASS_BODY_STATEMENTS, DUNDERS, EXCEPTIONS, TOP_LEVEL_STATEMENTS
from trace_gym.sandbox.annotations import annotation_errors, is_alias
from trace_gym.sandbox.expression_rules import Expressions
from trace_gym.sandbox.module_names import bound, is_record_base
from trace_gym.sandbox.read_only_containers import depth
from trace_gym.sandbox.scopes import parameters, part_of
from trace_gym.sandbox.shared_values import creates_iterator
from trace_gym.world import ToolError, World

INHERITED = frozenset({"copy", "interface"})
"""Methods that a world class must not override."""


class Statements(Expressions):
    """Syntax tree visitor that applies all lint rules to a module."""

    def visit_Module(self, node: ast.Module) -> None:
        for line in node.body:
            if not isinstance(line, TOP_LEVEL_STATEMENTS) or not _docstring(line):
                self.report(
                    line, "statement", "the top level may contain only imports, constants, functions and classes"
                )
            elif not isinstance(line, (ast.Import, ast.ImportFrom)):
                self.visit(line)
        self.mutations.finish()

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.report(node, "statement", "imports are allowed only at the top level")

    visit_ImportFrom = visit_Import

    # Classes

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not isinstance(self.parent(node), ast.Module):
            self.report(
                node,
                "statement",
                f"the class {node.name} is defined inside a class or function. Move it to the top level",
            )
        self.check_binding(node, node.name)
        self._inherits(node)
        self._decorated(node, ("dataclass",))
        self.context.body = {name for line in node.body for name in bound(line)}
        for line in node.body:
            if not isinstance(line, CLASS_BODY_STATEMENTS) or not _docstring(line):
                self.report(line, "statement", "a class body may contain only constants, fields and methods")
            else:
                self.visit(line)
        self.context.body = set()

    def _inherits(self, node: ast.ClassDef) -> None:
        if node.keywords:
            self.report(node, "class", f"{node.name} has keyword arguments. A class may have only base classes")
        for base in node.bases:
            found = self.context.imported(base)
            own = isinstance(base, ast.Name) and isinstance(self.names.top_level.get(base.id, [None])[0], ast.ClassDef)
            ours = isinstance(found, type) and (issubclass(found, (World, ToolError)) or _of_a_target(found))
            if not (own or ours or is_record_base(found)):
                self.report(base, "class", f"{ast.unparse(base)} is not an allowed base class")
        kept = INHERITED if node.bases else {"interface"}
        replaced = {name for line in node.body for name in bound(line)} & kept
        for name in sorted(replaced):
            self.report(node, "class", f"{node.name} overrides {name}, which must be inherited. Delete the definition")

    # Functions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        around = self.parent(node)
        in_class = isinstance(around, ast.ClassDef)
        if not in_class and node.name in DUNDERS:
            self.report(node, "dunder", f"{node.name} is defined outside a class")
        self.check_binding(node, node.name)
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
            name = named.id if isinstance(named, ast.Name) else getattr(self.context.imported(named), "__name__", "")
            real = name not in ("dataclass", "tool") or self.context.imported(named) in _DECORATORS
            plain = call is False or name in ("dataclass", "tool")
            if not (name in offered and constant and real and plain):
                allowed = ", ".join(f"@{o}" for o in offered) or "none"
                self.report(decorator, "decorator", f"@{ast.unparse(decorator)[:60]}; allowed here: {allowed}")

    # Assignments

    def _check_shared_iterator(self, node: ast.Assign | ast.AnnAssign) -> None:
        """Report an iterator at module or class level, because all episodes would share and consume it."""
        if node.value is None or not isinstance(self.parent(node), (ast.Module, ast.ClassDef)):
            return
        imports = self.names.imports.items()
        iterators = [n for n, v in imports if "itertools" in (getattr(v, "__module__", ""), getattr(v, "__name__", ""))]
        if creates_iterator(node.value, self.mutations.object_sources.functions, iterators):
            message = (
                f"found the iterator {ast.unparse(node.value)[:60]}, which all episodes would share, expected a tuple"
            )
            self.report(node, "shared-state", f"{message}. Write tuple(...), or create the iterator in a method")

    def visit_Assign(self, node: ast.Assign) -> None:
        self._check_shared_iterator(node)
        for target in node.targets:
            self.mutations.record_assignment(target, node.value)
            self.visit(target)
        if not (self.at_top(node) and is_alias(node.value, self.context)):
            self.visit(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._type(node.annotation)
        self._check_shared_iterator(node)
        if node.value is not None:
            self.mutations.record_assignment(node.target, node.value)
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)
        if node.value is not None and not (self.at_top(node) and is_alias(node.value, self.context)):
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.mutations.record_assignment(node.target, node.value)
        self.check_size(node)
        if isinstance(node.target, ast.Name) and not _is_scalar(node.value):
            held = [value for value in self.context.bound(node.target.id) if isinstance(value, ast.expr)]
            if any(self.context.shared(value) and depth(value, self.context) for value in held):
                self.mutations.check_mutation(node, node.target)  # += modifies a list in place, also for other names
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        self.mutations.record_assignment(node.target, part_of(node.iter))
        self.generic_visit(node)

    def at_top(self, node: ast.AST) -> bool:
        return isinstance(self.parent(node), ast.Module)

    def visit_arg(self, node: ast.arg) -> None:
        self._type(node.annotation)

    def _type(self, annotation: ast.expr | None) -> None:
        for message in annotation_errors(annotation, self.context) if annotation is not None else ():
            self.report(annotation or ast.Pass(), "annotation", message)

    # Exceptions

    def visit_Try(self, node: ast.Try) -> None:
        if node.finalbody:
            self.report(node, "statement", "finally outlasts whoever stops the module; leave it out")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        for kind in caught:
            name = kind.id if isinstance(kind, ast.Name) and not self.context.local(kind.id) else ""
            own = isinstance(self.names.top_level.get(name, [None])[0], ast.ClassDef)
            if not (own or name in EXCEPTIONS or (kind is not None and self.context.imported(kind) is ToolError)):
                found = f"except {ast.unparse(kind)}" if kind else "except without an exception"
                named = ", ".join(sorted({"ToolError", *EXCEPTIONS}))
                self.report(node, "exception", f"found {found}, expected one of {named}. Catch the one that is raised")
        for line in node.body:
            self.visit(line)


_DECORATORS = (world.tool, dataclass)


def _is_scalar(node: ast.expr) -> bool:
    """Return whether an expression is certainly a string or a number, so that ``+=`` cannot extend a container."""
    if isinstance(node, ast.IfExp):
        return _is_scalar(node.body) and _is_scalar(node.orelse)
    return isinstance(node, (ast.JoinedStr, ast.Compare, ast.Constant))


def _docstring(line: ast.stmt) -> bool:
    """Return True unless a statement is an expression statement other than a docstring."""
    return not isinstance(line, ast.Expr) or (
        isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)
    )


def _of_a_target(found: type) -> bool:
    return found.__module__.startswith("trace_gym.targets.")
