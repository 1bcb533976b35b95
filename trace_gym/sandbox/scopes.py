"""Where an expression stands: the scopes around it, and so what its names lead to."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from trace_gym.sandbox.allowed import MUTATORS
from trace_gym.sandbox.names import UNKNOWN, Names, exported

Function = ast.FunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Origin = ast.expr | ast.arg | None
"""What a name is bound to: an expression, a parameter, or something that cannot be told."""
Bindings = dict[str, list[Origin]]
"""Names that a scope binds, with all that each is bound to."""

PART = "part"
"""The kind of constant with which a part is looked up that may be a key as well."""
VALUE = "value"
"""The kind of constant with which the value is taken from a pair of a key and a value."""
LOOK_UPS = frozenset(["choice", "get", "items", "pop", "setdefault", "values"])
"""Methods that hand out what they were asked about, or a part of it."""


def parameters(node: Function) -> list[ast.arg]:
    """All parameters of a function."""
    a = node.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]


def bindings_of(node: Function | Comprehension) -> Bindings:
    """What a function or a comprehension binds."""
    found: Bindings = {}
    if isinstance(node, Function):
        body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
        made = [pair for line in body for pair in _stored(line)]
        found = {p.arg: [p] for p in parameters(node)}
    else:
        made = [pair for g in node.generators for pair in _unpacked(g.target, part_of(g.iter))]
    for name, value in made:
        found.setdefault(name, []).append(value)
    sources = {name: {root for o in origins if o is not None for root in _roots(o)} for name, origins in found.items()}
    for name, value in _added(node):  # only to names of this scope, and to what these are other names of
        for reached in _reached(name, sources):
            found[reached].append(value)
    return found


def _roots(node: ast.AST) -> Iterator[str]:
    """Yield the names of the object that an expression stands for."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
            yield from (*_roots(one), *_roots(other))


def _reached(name: str, sources: dict[str, set[str]]) -> set[str]:
    """Return the names of a scope that may stand for the same object as `name`."""
    found, waiting = set[str](), [name]
    while waiting:
        if (one := waiting.pop()) in sources and one not in found:
            found.add(one)
            waiting += sources[one]
            waiting += [other for other, names in sources.items() if one in names]
    return found


def _stored(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a statement binds in its scope, each with what it is taken from."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from (pair for target in targets for pair in _unpacked(target, value))
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield from _unpacked(target, value)
        case ast.For(target=target, iter=value):
            yield from _unpacked(target, part_of(value))
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            yield name, holding(value)
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.ExceptHandler(name=str() as name):
            yield name, None
        case ast.Match(subject=subject, cases=cases):
            taken = [name for c in cases for part in ast.walk(c.pattern) for name in _captured(part)]
            yield from ((name, part_of(subject)) for name in taken)
        case ast.FunctionDef(name=name):
            yield name, None
            yield from ((n, None) for part in ast.walk(node) if isinstance(part, ast.Nonlocal) for n in part.names)
            return  # what else it binds is its own
        case ast.Lambda():
            return
    for child in ast.iter_child_nodes(node):
        yield from _stored(child)


def _added(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names of containers and objects that something is put into, each with what it then holds."""
    for part in ast.walk(node):
        values: list[ast.expr] = []
        match part:
            case ast.Assign(targets=targets, value=value):
                pairs = [pair for target in targets for pair in unpacked(target, value)]
                changed = [(one, v) for one, v in pairs if not isinstance(one, ast.Name)]
                for one, value in changed:
                    yield _root(one), holding(value)
                    yield from _keyed(one)
            case ast.AnnAssign(target=ast.Attribute() | ast.Subscript() as into, value=ast.expr() as value):
                values = [value]
            case ast.AugAssign(target=ast.Attribute() | ast.Subscript() as into, value=value):
                values = [value]
            case ast.For(target=ast.Attribute() | ast.Subscript() as into, iter=value):
                values = [value]
            case ast.Call(func=ast.Attribute(value=into, attr=attr)) if attr in MUTATORS:
                values = [*part.args, *(k.value for k in part.keywords)]
                if attr == "setdefault" and isinstance(into, ast.Name) and not any(map(_is_starred, part.args)):
                    yield from ((into.id, holding_key(key)) for key in values[:1])
                    values = values[1:]
        if values:
            yield from ((_root(into), holding(value)) for value in values)
            yield from _keyed(into)


def _root(node: ast.expr) -> str:
    """The name of the container that an item belongs to; empty where it is no name. Fields are followed elsewhere."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _keyed(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the container that an item belongs to with each key on the way to the item.

    The last key is one of the container itself; the others are keys of what it holds.
    """
    keys = list(keys_of(node))
    own = _is_item_of_a_name(node)
    yield from ((_root(node), holding(key)) for key in (keys[:-1] if own else keys))
    yield from ((_root(node), holding_key(key)) for key in (keys[-1:] if own else ()))


def _is_item_of_a_name(node: ast.expr) -> bool:
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name)


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def keys_of(node: ast.expr) -> Iterator[ast.expr]:
    """The keys under which something is put into a container and the containers around it."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            yield node.slice
        node = node.value


def holding(value: ast.expr) -> ast.expr:
    """An expression that stands for a new object which holds a value, and what that holds."""
    return ast.BinOp(ast.List([value], ast.Load()), ast.Add(), ast.List([ast.Starred(value, ast.Load())], ast.Load()))


def holding_key(key: ast.expr) -> ast.expr:
    """Return an expression that stands for a new container with a key and a value of no interest."""
    return ast.Dict([key], [ast.Constant(None)])


def part_of(value: ast.expr) -> ast.expr:
    """An expression that stands for a part of a value, whichever it is."""
    return ast.Subscript(value, ast.Constant(0, kind=PART), ast.Load())


def unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each single target of an assignment, with what is assigned to it: the value, or a part of it."""
    match target, value:
        case ((ast.Tuple(elts=names) | ast.List(elts=names)), (ast.Tuple(elts=values) | ast.List(elts=values))) if len(
            names
        ) == len(values) and not any(isinstance(n, ast.Starred) for n in (*names, *values)):
            for one, other in zip(names, values, strict=True):
                yield from unpacked(one, other)
        case (
            ast.Tuple(elts=[key, item]),
            ast.Subscript(value=ast.Call(func=ast.Attribute(attr="items"), args=[]), slice=ast.Constant(kind="part")),
        ) if not isinstance(key, ast.Starred) and not isinstance(item, ast.Starred):
            yield from unpacked(key, part_of(value))
            yield from unpacked(item, ast.Subscript(value, ast.Constant(1, kind=VALUE), ast.Load()))
        case ((ast.Tuple(elts=names) | ast.List(elts=names)), _):
            for one in names:
                yield from unpacked(one, part_of(value))
        case ast.Starred(value=one), _:
            yield from unpacked(one, value)
        case _:
            yield target, value


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    return ((one.id, other) for one, other in unpacked(target, value) if isinstance(one, ast.Name))


def _captured(pattern: ast.AST) -> Iterator[str]:
    match pattern:
        case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
            yield name


@dataclass
class Where:
    """What names lead to at one place of a module."""

    names: Names
    scopes: list[Bindings] = field(default_factory=list)
    """Of the functions and comprehensions around, the innermost last."""
    body: set[str] = field(default_factory=set)
    """What the class binds whose body is being read, outside of its functions."""

    parents: dict[int, ast.AST] = field(default_factory=dict)
    """What is directly around each node of the module."""
    uses: dict[str, list[ast.Name]] = field(default_factory=dict)
    """The places at which each name of the module is read or added to, in whichever scope."""

    _scopes: dict[int, Bindings] = field(default_factory=dict)

    def read(self, tree: ast.Module) -> None:
        """Note the places of a module."""
        for node in ast.walk(tree):
            self.parents |= {id(child): node for child in ast.iter_child_nodes(node)}
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self.uses.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.uses.setdefault(node.target.id, []).append(node.target)

    def scope(self, node: Function | Comprehension) -> Bindings:
        """What a function or a comprehension of the module binds."""
        if id(node) not in self._scopes:
            self._scopes[id(node)] = bindings_of(node)
        return self._scopes[id(node)]

    def local(self, name: str) -> bool:
        """Whether a name belongs to a function or comprehension around here."""
        return any(name in scope for scope in self.scopes)

    def is_class(self, name: str) -> bool:
        """Return whether a name that is not local is a class of the module or a builtin one."""
        if name in self.names.top:
            return any(isinstance(node, ast.ClassDef) for node in self.names.top[name])
        return isinstance(getattr(builtins, name, None), type) and name not in self.names.imports

    def resolve(self, node: ast.AST) -> Any:
        """The imported object that an expression stands for, else `UNKNOWN`."""
        match node:
            case ast.Name(id=name) if not self.local(name):
                return self.names.imports.get(name, UNKNOWN)
            case ast.Attribute(value=value, attr=attr) if isinstance(base := self.resolve(value), ModuleType):
                return getattr(base, attr, UNKNOWN) if attr in exported(base) else UNKNOWN
        return UNKNOWN

    def bound(self, name: str) -> list[Origin]:
        """All that a name of the module is bound to."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return [self.names.constant(name)]

    def origins(self, name: str) -> list[ast.expr] | None:
        """The expressions that a name of the module is taken from; None where that cannot be said."""
        found = self.bound(name)
        known = [value for value in found if isinstance(value, ast.expr)]
        return known if len(known) == len(found) else None

    def shared(self, node: ast.AST, seen: set[str] | None = None) -> bool:
        """Whether an expression leads to something imported, or that stands in the module or a class.

        It follows names, look-ups and choices, and not what passes through other calls.
        """
        seen = set() if seen is None else seen
        match node:
            case ast.Name(id=name) if not self.local(name):
                return name in self.names.imports or name in self.names.top or name == "cls"
            case ast.Name(id="cls"):
                return True
            case ast.Name(id=name):
                known = [v for v in self.bound(name) if isinstance(v, ast.expr)] if name not in seen else []
                seen.add(name)
                return any(self.shared(v, seen) for v in known)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                return attr in self.names.constants or attr in self.names.tables
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                return self.shared(value, seen)
            case ast.Call(func=ast.Attribute(attr="choice"), args=[value]):
                return self.shared(value, seen)
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in LOOK_UPS:
                return not isinstance(self.resolve(value), (ModuleType, type)) and self.shared(value, seen)
            case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
                return self.shared(one, seen) or self.shared(other, seen)
        return False
