"""Base class of the lint rules: a syntax tree visitor that tracks scopes and collects violations."""

from __future__ import annotations

import ast

from trace_gym.sandbox.lint_rules import LintViolation
from trace_gym.sandbox.module_names import ModuleNames
from trace_gym.sandbox.mutation_rules import Changes
from trace_gym.sandbox.scopes import Comprehension, FunctionNode, NameContext, parameters, part_of
from trace_gym.sandbox.shared_values import is_shared_default


class ScopeVisitor(ast.NodeVisitor):
    """Syntax tree visitor that tracks the scopes around each node. The attribute `violations` contains the violations.

    Args:
        tree: Syntax tree of the module.
        names: Imported and defined names of the module.
    """

    def __init__(self, tree: ast.Module, names: ModuleNames) -> None:
        self.names, self.context = names, NameContext(names)
        self.mutations = Changes(tree, self.context, self.report)
        self.context.read(tree)
        self.parents = self.context.parents
        self.violations: list[LintViolation] = []

    def report(self, node: ast.AST, rule: str, message: str) -> None:
        """Record a violation at a node."""
        self.violations.append(LintViolation(getattr(node, "lineno", 1), rule, message))

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.parents.get(id(node))

    def called(self, node: ast.AST) -> bool:
        """Return whether an expression is directly called, such as ``f`` in ``f(x)``."""
        parent = self.parent(node)
        return isinstance(parent, ast.Call) and parent.func is node

    # Scopes

    def in_scope(self, node: FunctionNode) -> None:
        """Visit the defaults of a function in the surrounding scope, and its body in a new scope."""
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
                if is_shared_default(default):
                    message = (
                        f"found the default {ast.unparse(default)[:60]}, expected a constant. Create it in the body"
                    )
                    self.report(default, "shared-state", message)
        self._named_self(node)
        self.context.scopes.append(self.context.scope(node))
        for part in node.body if isinstance(node, ast.FunctionDef) else [node.body]:
            self.visit(part)
        self.context.scopes.pop()

    visit_Lambda = in_scope

    def _named_self(self, node: FunctionNode) -> None:
        """Report parameters named `self` or `cls` that are not the first parameter of a method or a classmethod."""
        marks = {ast.unparse(d) for d in node.decorator_list} if isinstance(node, ast.FunctionDef) else set()
        own = "" if not isinstance(self.parent(node), ast.ClassDef) or "staticmethod" in marks else "self"
        own = "cls" if own and "classmethod" in marks else own
        for n, part in enumerate(parameters(node)):
            if part.arg in ("self", "cls") and not (n == 0 and part.arg == own):
                self.report(
                    part,
                    "assignment",
                    f"the parameter {part.arg} is not the first parameter of a method. Rename the parameter",
                )

    def in_comprehension(self, node: Comprehension) -> None:
        first = node.generators[0].iter
        self.visit(first)  # only this part is evaluated in the enclosing scope
        self.context.scopes.append(self.context.scope(node))
        for generator in node.generators:
            self.mutations.record_assignment(generator.target, part_of(generator.iter))
            for part in (generator.target, *generator.ifs, *([generator.iter] if generator.iter is not first else [])):
                self.visit(part)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        self.context.scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = in_comprehension

    def in_function(self, node: ast.AST) -> bool:
        """Return whether a node is inside a function."""
        around = self.parent(node)
        return around is not None and (isinstance(around, FunctionNode) or self.in_function(around))
