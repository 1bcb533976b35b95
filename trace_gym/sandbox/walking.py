"""A walk through a module that knows the scopes around each expression and collects faults."""

from __future__ import annotations

import ast

from trace_gym.sandbox.changes import Changes
from trace_gym.sandbox.lasting import is_lasting_default
from trace_gym.sandbox.names import Names
from trace_gym.sandbox.rules import Fault
from trace_gym.sandbox.scopes import Comprehension, Function, Where, parameters, part_of


class Walk(ast.NodeVisitor):
    """Visits expressions and keeps track of the scopes around them. `faults` contains what it found.

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
        """Visit the body of a function in a new scope; the defaults belong to the surrounding scope."""
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
                if is_lasting_default(default):
                    says = (
                        f"found the default {ast.unparse(default)[:60]}, expected a constant. Make it in the function"
                    )
                    self.fault(default, "shared-state", says)
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

    def in_function(self, node: ast.AST) -> bool:
        """Return whether a function is around a node."""
        around = self.parent(node)
        return around is not None and (isinstance(around, Function) or self.in_function(around))
