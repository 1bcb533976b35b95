"""What a module changes: fields and items of `self`, of what is reached from there, and of what it made itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from trace_gym.sandbox.owners import MADE, OWN, Owners, Sources
from trace_gym.sandbox.scopes import Where, unpacked

Report = Callable[[ast.AST, str, str], None]
HOW = "change self, what is reached from it, or what this function made"


class Changes:
    """Judges every change that a module makes; what is kept in fields is judged at the end.

    Args:
        tree: The module.
        where: Its names, and the scopes around the place in question.
        fault: Notes a fault: a node, a rule, and what is wrong.
    """

    def __init__(self, tree: ast.Module, where: Where, fault: Report) -> None:
        self.where, self.fault = where, fault
        self.owners = Owners(tree, where)
        self._fields = {
            kind.name: [line.target.id for line in kind.body if _is_field(line)]  # type: ignore[attr-defined]
            for kind in tree.body
            if isinstance(kind, ast.ClassDef)
        }
        self._shared: set[str] = set()
        """Fields that somewhere are made to lead to what all episodes share."""
        self._foreign: set[str] = set()
        """Fields that somewhere are made to lead to what did not come from the module."""
        self._deep: list[tuple[ast.AST, set[str], bool]] = []
        """Changes by way of fields: where, which fields, and whether something is assigned."""

    def stored(self, node: ast.Attribute | ast.Subscript) -> None:
        """Judge an attribute or item that is assigned to, or an item that is deleted."""
        text = ast.unparse(node)[:80]
        if self.where.shared(node.value):
            self.fault(node, "shared-state", f"{text} is changed, and all episodes share it; copy it first")
            return
        if isinstance(node, ast.Attribute) and node.attr not in self.where.names.fields:
            says = f".{node.attr} is no field that a class of the module or its target declares"
            self.fault(node, "assignment", says)
        if strange := _strange(self.owners.of(node.value)):
            self.fault(node, "assignment", f"{text} is changed, which comes from {strange}; {HOW}")
        self._deep.append((node, set(_way(node.value)), True))

    def mutated(self, node: ast.AST, changed: ast.expr) -> None:
        """Judge an object whose method changes it."""
        if self.where.shared(changed):
            text = ast.unparse(node)[:80]
            self.fault(node, "shared-state", f"{text} changes what all episodes share; copy it first")
        self._deep.append((node, set(_way(changed)), False))

    def assigned(self, target: ast.expr, value: ast.expr) -> None:
        """Note what the fields among the targets of an assignment lead to."""
        for one, other in unpacked(target, value):
            if isinstance(one, ast.Attribute):
                self._keep([one.attr], other)

    def made(self, node: ast.Call) -> None:
        """Note what the fields of an object lead to that a call makes."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name != "cls" and name not in self._fields and name != "replace":
            return
        for keyword in node.keywords:
            fields = [keyword.arg] if keyword.arg else self._fields_of(name)
            self._keep(fields, keyword.value)
        for value in node.args:
            self._keep(self._fields_of(name), value)

    def finish(self) -> None:
        """Judge the changes by way of fields, now that all that is kept in fields is known."""
        for node, fields, assigns in self._deep:
            text = ast.unparse(node)[:80]
            if shared := sorted(fields & self._shared):
                says = f"{text} is changed, and .{shared[0]} may lead to what all episodes share; keep a copy there"
                self.fault(node, "shared-state", says)
            elif assigns and (foreign := sorted(fields & self._foreign)):
                says = f"{text} is changed, and .{foreign[0]} may lead to what the module was handed; keep a copy there"
                self.fault(node, "assignment", says)

    def _fields_of(self, name: str) -> list[str]:
        return self._fields.get(name, [f for fields in self._fields.values() for f in fields])

    def _keep(self, fields: list[str], value: ast.expr) -> None:
        if self.where.shared(value):
            self._shared.update(fields)
        if _strange(self.owners.of(value) | self.owners.parts(value)):
            self._foreign.update(fields)


def _strange(sources: Sources) -> str:
    """Where an object comes from that is not the module's to change; empty where it is."""
    strange = sorted(sources - {OWN, MADE})
    named = [s for s in strange if s.isidentifier()]
    return f"outside ({named[0]})" if named else "elsewhere" if strange else ""


def _way(node: ast.expr) -> Iterator[str]:
    """The fields on the way to an object."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.value


def _is_field(line: ast.stmt) -> bool:
    return isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
