"""Lint rules for mutations.

A function of a module may modify only `self`, objects reachable from `self`, and objects that the function created.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from trace_gym.sandbox.aliasing import CHOOSERS, CONTAINERS, DRAWERS, PARTS
from trace_gym.sandbox.object_sources import MADE, OWN, ObjectSources, Sources, results
from trace_gym.sandbox.scopes import BindingOrigin, NameContext, keys_of, unpacked

ReportFunction = Callable[[ast.AST, str, str], None]
FieldUse = tuple[str, bool]
"""Field name, and whether the entry refers to the contents of the field's value instead of the value itself."""
KEYS = "[]"
"""Suffix of a field name, for an entry that refers to the keys of containers in the field."""
BY_KEY = frozenset({"copy", "get", "pop", "setdefault", "values"})
"""Methods that return values or a copy of a container, but not its keys."""
HOW = "Modify only self, objects reachable from self, or objects that this function created"


class Changes:
    """Checker for all mutations in a module. Mutations through fields are checked at the end, in `finish`.

    Args:
        tree: Syntax tree of the module.
        context: Names of the module, and the scopes around the current position.
        report: Function that records a violation. Its arguments are a node, a rule and a message.
    """

    def __init__(self, tree: ast.Module, context: NameContext, report: ReportFunction) -> None:
        self.context, self.report = context, report
        self.object_sources = ObjectSources(tree, context)
        self._fields = {
            kind.name: [line.target.id for line in kind.body if _is_field(line)]  # type: ignore[attr-defined]
            for kind in tree.body
            if isinstance(kind, ast.ClassDef)
        }
        self._shared_fields: set[FieldUse] = set()
        """Fields that may refer to objects that all episodes share."""
        self._external_fields: set[FieldUse] = set()
        """Fields that may refer to objects from outside the module."""
        self._mutations: list[tuple[ast.AST, ast.expr, set[FieldUse]]] = []
        """Mutations as tuples of the node, the modified object, and (for assignments) the fields on the path to it."""

    def check_store(self, node: ast.Attribute | ast.Subscript) -> None:
        """Check an assignment to an attribute or item, or the deletion of an item."""
        text = ast.unparse(node)[:80]
        if self.context.shared(node.value):
            self.report(
                node, "shared-state", f"{text} is modified, but all episodes share the object. Copy the object first"
            )
            return
        if isinstance(node, ast.Attribute) and node.attr not in self.context.names.fields:
            message = f".{node.attr} is not declared as a field by a class of the module or its target"
            self.report(node, "assignment", message)
        if strange := self._parameter_of(node.value) or external_source(self.object_sources.sources(node.value)):
            self.report(node, "assignment", f"{text} is modified, but the object comes from {strange}. {HOW}")
        self._mutations.append((node, node.value, set(self._fields_on_path(node.value))))

    def _parameter_of(self, node: ast.expr) -> str:
        """Return a description of the parameter that refers to the modified object, or `""` if there is none."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        name = node.id if isinstance(node, ast.Name) else ""
        handed = name != "self" and any(isinstance(value, ast.arg) for value in self.context.bound(name))
        return f"outside ({name})" if handed else ""

    def check_mutation(self, node: ast.AST, changed: ast.expr) -> None:
        """Check a call of a method that modifies its object."""
        if self.context.shared(changed):
            text = ast.unparse(node)[:80]
            self.report(
                node, "shared-state", f"{text} modifies an object that all episodes share. Copy the object first"
            )
        self._mutations.append((node, changed, set()))

    def record_assignment(self, target: ast.expr, value: ast.expr) -> None:
        """Record the values that an assignment stores in fields."""
        for one, other in unpacked(target, value):
            self._record_fields(list(_last(one)), other, inside=isinstance(one, ast.Subscript))
            self._record_keys(one, keys_of(one))

    def record_insertion(self, container: ast.expr, node: ast.Call) -> None:
        """Record the values that a method call, such as ``append``, stores in a container."""
        count = isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault"
        self._record_keys(container, [*node.args[:count], *keys_of(container)])
        for value in (*node.args[count:], *(k.value for k in node.keywords)):
            self._record_fields(list(_last(container)), value, inside=True)

    def _record_keys(self, container: ast.expr, keys: Iterable[ast.expr]) -> None:
        """Record the keys that are stored in a container, because iteration over the container returns the keys."""
        for key in keys:
            self._record_fields([f + KEYS for f in _last(container)], key, inside=True)

    def check_construction(self, node: ast.Call) -> None:
        """Record the values that a call of a constructor or of `replace` stores in fields."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        is_replace = name == "replace" or self.context.imported(node.func) is replace
        if name != "cls" and name not in self._fields and not is_replace:
            return
        for keyword in node.keywords:
            fields = [keyword.arg] if keyword.arg else self._fields_of(name)
            self._record_fields(fields, keyword.value)
        for value in node.args:
            self._record_fields(self._fields_of(name), value)

    def finish(self) -> None:
        """Check the recorded mutations through fields. Call this method after the whole module has been visited."""
        for node, changed, fields in self._mutations:
            text = ast.unparse(node)[:80]
            if shared := sorted(set(_chain(changed)) & self._shared_fields):
                message = f"{text} is modified, but .{shared[0][0]} may be shared by all episodes. Store a copy"
                self.report(node, "shared-state", message)
            elif unknown := sorted(fields & self._external_fields):
                message = f"{text} is modified, but .{unknown[0][0]} may refer to an object from outside. Store a copy"
                self.report(node, "assignment", message)

    def _fields_on_path(
        self, node: ast.AST, inside: bool = False, seen: set[FieldUse] | None = None
    ) -> Iterator[FieldUse]:
        """Yield the fields on the path to an object.

        The object is the value of the expression or, if `inside` is True, a part of this value.
        """
        seen = set() if seen is None else seen
        match node:
            case ast.Attribute(value=value, attr=attr):
                yield from ((attr, False), *([(attr, True)] if inside else []))
                if isinstance(value, (ast.Attribute, ast.Subscript, ast.Call)) or self._looked_up(value):
                    yield from self._fields_on_path(value, True, seen)
            case ast.Subscript(value=ast.Call() as value, slice=ast.Constant(kind="part")):
                yield from self._fields_on_path(value, True, seen)
            case ast.Subscript(value=value, slice=ast.Constant(kind="part")) | ast.comprehension(iter=value):
                yield from _with_keys(self._fields_on_path(value, True, seen))
            case ast.Subscript(value=value):
                yield from self._fields_on_path(value, True, seen)
            case ast.Name(id=name):
                known = self.context.bound(name) if self.context.local(name) and (name, inside) not in seen else []
                seen.add((name, inside))
                for bound in filter(None, known):
                    yield from self._fields_on_path(bound, inside, seen)
            case ast.Call(func=func, args=args):
                named = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
                if named in CONTAINERS | CHOOSERS | DRAWERS | PARTS:
                    for part in (*args, *([func.value] if isinstance(func, ast.Attribute) else [])):
                        way = self._fields_on_path(part, True, seen)
                        yield from way if named in BY_KEY else _with_keys(way)
                yield from self._read_by(named)
            case ast.Starred(value=value):
                yield from _with_keys(self._fields_on_path(value, inside, seen))
            case ast.IfExp() | ast.BoolOp() | ast.NamedExpr():
                for child in ast.iter_child_nodes(node):
                    yield from self._fields_on_path(child, inside, seen)
            case ast.expr() if inside:  # a display, or another expression with parts
                for child in ast.iter_child_nodes(node):
                    yield from self._fields_on_path(child, inside, seen)

    def _looked_up(self, node: ast.expr) -> bool:
        """Return whether an expression is a name that is bound to an attribute or item of another object."""
        known = self.context.bound(node.id) if isinstance(node, ast.Name) else []
        return any(isinstance(value, (ast.Attribute, ast.Subscript)) for value in known)

    def _read_by(self, method: str) -> Iterator[FieldUse]:
        """Yield the fields that the module's methods with this name use to compute their results."""
        for value in (v for m in self.object_sources.methods.get(method, ()) for v in self._results(m)):
            way = [
                (n.attr, inside) for n in ast.walk(value) if isinstance(n, ast.Attribute) for inside in (False, True)
            ]
            yield from way if _looks_up(value) else _with_keys(way)

    def _results(self, method: ast.FunctionDef) -> list[ast.expr]:
        """Return the result expressions of a method, and the expressions that are bound to names in them."""
        found = list(results(method.body))
        seen: set[str] = set()
        for value in found:  # the loop appends to found
            for name in {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} - seen:
                seen.add(name)
                found += [v for v in self.context.scope(method).get(name, ()) if isinstance(v, ast.expr)]
        return found

    def _fields_of(self, name: str) -> list[str]:
        return self._fields.get(name, [f for fields in self._fields.values() for f in fields])

    def _record_fields(self, fields: Iterable[str], value: ast.expr, inside: bool = False) -> None:
        """Record that fields refer to a value or, if `inside`, to a container of the value."""
        itself, holders = {(f, inside) for f in fields}, {(f, True) for f in fields}
        if self.context.shared(value):
            self._shared_fields |= itself | holders
        declared = {p for scope in self.context.scopes for p, held in scope.items() if any(map(_is_declared, held))}
        if external_source(self.object_sources.sources(value) - declared):
            self._external_fields |= itself | holders
        elif external_source(self.object_sources.sources(value, parts=True) - declared):
            self._external_fields |= holders


def external_source(sources: Sources) -> str:
    """Return a description of the origin of an object that must not be modified, or `""` if it may be modified."""
    strange = sorted(sources - {OWN, MADE})
    named = [s for s in strange if s.isidentifier()]
    return f"outside ({named[0]})" if named else "elsewhere" if strange else ""


def _is_declared(value: BindingOrigin) -> bool:
    """Return whether the annotation of a parameter is a specific type, such as a record or a table."""
    if not isinstance(value, ast.arg) or value.annotation is None:
        return False
    names = {n.id for n in ast.walk(value.annotation) if isinstance(n, ast.Name)}
    return not names & {"Any", "object", "Random", "Callable", "Self", "World"}


def _looks_up(node: ast.AST) -> bool:
    """Return whether an expression looks up values in containers and cannot evaluate to a key."""
    match node:
        case ast.Subscript(slice=ast.Constant(kind="part")):
            return False
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            return _looks_up(value)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)):
            return attr in BY_KEY and _looks_up(value)
    return isinstance(node, ast.Name)


def _with_keys(way: Iterable[FieldUse]) -> Iterator[FieldUse]:
    """Yield the given entries and, for each of them, an entry for the keys of containers in the field."""
    for name, inside in way:
        yield from ((name, inside), *([] if name.endswith(KEYS) else [(name + KEYS, True)]))


def _last(node: ast.expr) -> Iterator[str]:
    """Yield the name of the field that contains an item, if the container is a field."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        yield node.attr


def _chain(node: ast.expr) -> Iterator[FieldUse]:
    """Yield the fields that appear as attributes in the expression of a modified object."""
    inside = False
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            yield from ((node.attr, False), *([(node.attr, True)] if inside else []))
        node, inside = node.value, True


def _is_field(line: ast.stmt) -> bool:
    return isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
