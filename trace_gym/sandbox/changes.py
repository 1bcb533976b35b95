"""What a module changes: fields and items of `self`, of what is reached from there, and of what it made itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from trace_gym.sandbox.handing import CHOOSERS, CONTAINERS, DRAWERS, PARTS
from trace_gym.sandbox.owners import MADE, OWN, Owners, Sources, results
from trace_gym.sandbox.scopes import Origin, Where, keys_of, unpacked

Report = Callable[[ast.AST, str, str], None]
Kept = tuple[str, bool]
"""A field, and whether what matters is what it holds rather than its value itself."""
KEYS = "[]"
"""What follows the name of a field where the keys of what it holds are meant."""
BY_KEY = frozenset({"copy", "get", "pop", "setdefault", "values"})
"""Methods that do not hand out keys."""
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
        self._shared: set[Kept] = set()
        """Fields that somewhere are made to lead to what all episodes share."""
        self._foreign: set[Kept] = set()
        """Fields that somewhere are made to lead to what did not come from the module."""
        self._deep: list[tuple[ast.AST, ast.expr, set[Kept]]] = []
        """Changes: where, of what, and, of those that assign, the fields by which it is reached."""

    def stored(self, node: ast.Attribute | ast.Subscript) -> None:
        """Judge an attribute or item that is assigned to, or an item that is deleted."""
        text = ast.unparse(node)[:80]
        if self.where.shared(node.value):
            self.fault(node, "shared-state", f"{text} is changed, and all episodes share it; copy it first")
            return
        if isinstance(node, ast.Attribute) and node.attr not in self.where.names.fields:
            says = f".{node.attr} is no field that a class of the module or its target declares"
            self.fault(node, "assignment", says)
        if strange := self._handed(node.value) or _strange(self.owners.sources(node.value)):
            self.fault(node, "assignment", f"{text} is changed, which comes from {strange}; {HOW}")
        self._deep.append((node, node.value, set(self._way(node.value))))

    def _handed(self, node: ast.expr) -> str:
        """The parameter by which what is changed was handed to the function, whatever it is declared to be."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        name = node.id if isinstance(node, ast.Name) else ""
        handed = name != "self" and any(isinstance(value, ast.arg) for value in self.where.bound(name))
        return f"outside ({name})" if handed else ""

    def mutated(self, node: ast.AST, changed: ast.expr) -> None:
        """Judge an object whose method changes it."""
        if self.where.shared(changed):
            text = ast.unparse(node)[:80]
            self.fault(node, "shared-state", f"{text} changes what all episodes share; copy it first")
        self._deep.append((node, changed, set()))

    def assigned(self, target: ast.expr, value: ast.expr) -> None:
        """Note what the fields among the targets of an assignment lead to."""
        for one, other in unpacked(target, value):
            self._keep(list(_last(one)), other, inside=isinstance(one, ast.Subscript))
            self._keyed(one, keys_of(one))

    def added(self, container: ast.expr, node: ast.Call) -> None:
        """Note what is put into a container that a field leads to."""
        count = isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault"
        self._keyed(container, [*node.args[:count], *keys_of(container)])
        for value in (*node.args[count:], *(k.value for k in node.keywords)):
            self._keep(list(_last(container)), value, inside=True)

    def _keyed(self, container: ast.expr, keys: Iterable[ast.expr]) -> None:
        """Note the keys of a container that a field leads to; they matter to whoever goes through them."""
        for key in keys:
            self._keep([f + KEYS for f in _last(container)], key, inside=True)

    def made(self, node: ast.Call) -> None:
        """Note what the fields of an object lead to that a call makes."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        is_replace = name == "replace" or self.where.resolve(node.func) is replace
        if name != "cls" and name not in self._fields and not is_replace:
            return
        for keyword in node.keywords:
            fields = [keyword.arg] if keyword.arg else self._fields_of(name)
            self._keep(fields, keyword.value)
        for value in node.args:
            self._keep(self._fields_of(name), value)

    def finish(self) -> None:
        """Judge the changes by way of fields, now that all that is kept in fields is known."""
        for node, changed, fields in self._deep:
            text = ast.unparse(node)[:80]
            if shared := sorted(set(_chain(changed)) & self._shared):
                says = f"{text} is changed, and .{shared[0][0]} may lead to what all episodes share; keep a copy there"
                self.fault(node, "shared-state", says)
            elif foreign := sorted(fields & self._foreign):
                says = f"{text} is changed, and .{foreign[0][0]} may lead to what was handed over; keep a copy there"
                self.fault(node, "assignment", says)

    def _way(self, node: ast.AST, inside: bool = False, seen: set[Kept] | None = None) -> Iterator[Kept]:
        """The fields by which an object is reached; `inside` where it is a part of what the expression stands for."""
        seen = set() if seen is None else seen
        match node:
            case ast.Attribute(value=value, attr=attr):
                yield from ((attr, False), *([(attr, True)] if inside else []))
                if isinstance(value, (ast.Attribute, ast.Subscript, ast.Call)) or self._looked_up(value):
                    yield from self._way(value, True, seen)
            case ast.Subscript(value=ast.Call() as value, slice=ast.Constant(kind="part")):
                yield from self._way(value, True, seen)
            case ast.Subscript(value=value, slice=ast.Constant(kind="part")) | ast.comprehension(iter=value):
                yield from _with_keys(self._way(value, True, seen))
            case ast.Subscript(value=value):
                yield from self._way(value, True, seen)
            case ast.Name(id=name):
                known = self.where.bound(name) if self.where.local(name) and (name, inside) not in seen else []
                seen.add((name, inside))
                for bound in filter(None, known):
                    yield from self._way(bound, inside, seen)
            case ast.Call(func=func, args=args):
                named = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
                if named in CONTAINERS | CHOOSERS | DRAWERS | PARTS:
                    for part in (*args, *([func.value] if isinstance(func, ast.Attribute) else [])):
                        way = self._way(part, True, seen)
                        yield from way if named in BY_KEY else _with_keys(way)
                yield from self._read_by(named)
            case ast.Starred(value=value):
                yield from _with_keys(self._way(value, inside, seen))
            case ast.IfExp() | ast.BoolOp() | ast.NamedExpr():
                for child in ast.iter_child_nodes(node):
                    yield from self._way(child, inside, seen)
            case ast.expr() if inside:  # a display, or something that is made of parts
                for child in ast.iter_child_nodes(node):
                    yield from self._way(child, inside, seen)

    def _looked_up(self, node: ast.expr) -> bool:
        """Whether a name is bound to what was looked up, and not to an object that the function made."""
        known = self.where.bound(node.id) if isinstance(node, ast.Name) else []
        return any(isinstance(value, (ast.Attribute, ast.Subscript)) for value in known)

    def _read_by(self, method: str) -> Iterator[Kept]:
        """The fields that own methods of a name read to find what they return."""
        for value in (v for m in self.owners.methods.get(method, ()) for v in self._results(m)):
            way = [
                (n.attr, inside) for n in ast.walk(value) if isinstance(n, ast.Attribute) for inside in (False, True)
            ]
            yield from way if _looks_up(value) else _with_keys(way)

    def _results(self, method: ast.FunctionDef) -> list[ast.expr]:
        """What a method returns, and what the names are taken from that it returns."""
        found = list(results(method.body))
        seen: set[str] = set()
        for value in found:  # which grows meanwhile
            for name in {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} - seen:
                seen.add(name)
                found += [v for v in self.where.scope(method).get(name, ()) if isinstance(v, ast.expr)]
        return found

    def _fields_of(self, name: str) -> list[str]:
        return self._fields.get(name, [f for fields in self._fields.values() for f in fields])

    def _keep(self, fields: Iterable[str], value: ast.expr, inside: bool = False) -> None:
        """Note that fields lead to a value, or, with `inside`, to something that holds it."""
        itself, holders = {(f, inside) for f in fields}, {(f, True) for f in fields}
        if self.where.shared(value):
            self._shared |= itself | holders
        declared = {p for scope in self.where.scopes for p, held in scope.items() if any(map(_is_declared, held))}
        if _strange(self.owners.sources(value) - declared):
            self._foreign |= itself | holders
        elif _strange(self.owners.sources(value, parts=True) - declared):
            self._foreign |= holders


def _strange(sources: Sources) -> str:
    """Where an object comes from that is not the module's to change; empty where it is."""
    strange = sorted(sources - {OWN, MADE})
    named = [s for s in strange if s.isidentifier()]
    return f"outside ({named[0]})" if named else "elsewhere" if strange else ""


def _is_declared(value: Origin) -> bool:
    """Whether a parameter is declared to be a record or a table, and not anything."""
    if not isinstance(value, ast.arg) or value.annotation is None:
        return False
    names = {n.id for n in ast.walk(value.annotation) if isinstance(n, ast.Name)}
    return not names & {"Any", "object", "Random", "Callable", "Self", "World"}


def _looks_up(node: ast.AST) -> bool:
    """Whether an expression looks up items by their keys, and hands out no keys."""
    match node:
        case ast.Subscript(slice=ast.Constant(kind="part")):
            return False
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            return _looks_up(value)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)):
            return attr in BY_KEY and _looks_up(value)
    return isinstance(node, ast.Name)


def _with_keys(way: Iterable[Kept]) -> Iterator[Kept]:
    """Add the keys of what fields hold to these fields."""
    for name, inside in way:
        yield from ((name, inside), *([] if name.endswith(KEYS) else [(name + KEYS, True)]))


def _last(node: ast.expr) -> Iterator[str]:
    """The field that leads to a container, through its items."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        yield node.attr


def _chain(node: ast.expr) -> Iterator[Kept]:
    """The fields that are written out before what is changed."""
    inside = False
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            yield from ((node.attr, False), *([(node.attr, True)] if inside else []))
        node, inside = node.value, True


def _is_field(line: ast.stmt) -> bool:
    return isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
