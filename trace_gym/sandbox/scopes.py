"""Static analysis of the scopes of functions and comprehensions, and of the values to which names are bound there."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from trace_gym.sandbox.allowlist import MUTATORS
from trace_gym.sandbox.module_names import UNKNOWN, ModuleNames, exported

FunctionNode = ast.FunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
BindingOrigin = ast.expr | ast.arg | None
"""Value to which a name is bound: an expression, a parameter, or None if it is unknown."""
Bindings = dict[str, list[BindingOrigin]]
"""Names that a scope binds, each with all values that it may have."""

PART = "part"
"""Marker (`kind`) of an artificial index, whose subscript represents an arbitrary part of a container, even a key."""
VALUE = "value"
"""Marker (`kind`) of an artificial index, whose subscript represents the value of a key-value pair."""
LOOK_UPS = frozenset(["choice", "get", "items", "pop", "setdefault", "values"])
"""Methods that return the object itself or a part of the object."""


def parameters(node: FunctionNode) -> list[ast.arg]:
    """Return all parameters of a function."""
    a = node.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]


def bindings_of(node: FunctionNode | Comprehension) -> Bindings:
    """Return the names that a function or a comprehension binds, with their values."""
    found: Bindings = {}
    if isinstance(node, FunctionNode):
        body = node.body if isinstance(node, ast.FunctionDef) else [node.body]
        made = [pair for line in body for pair in _stored(line)]
        found = {p.arg: [p] for p in parameters(node)}
    else:
        made = [pair for g in node.generators for pair in _unpacked(g.target, part_of(g.iter))]
    for name, value in made:
        found.setdefault(name, []).append(value)
    sources = {name: {root for o in origins if o is not None for root in _roots(o)} for name, origins in found.items()}
    for name, value in _added(node):  # new content is added to names of this scope and to their aliases
        for reached in _reached(name, sources):
            found[reached].append(value)
    return found


def _roots(node: ast.AST) -> Iterator[str]:
    """Yield the names that may refer to the value of an expression."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
            yield from (*_roots(one), *_roots(other))


def _reached(name: str, sources: dict[str, set[str]]) -> set[str]:
    """Return the names of a scope that may refer to the same object as `name`."""
    found, waiting = set[str](), [name]
    while waiting:
        if (one := waiting.pop()) in sources and one not in found:
            found.add(one)
            waiting += sources[one]
            waiting += [other for other, names in sources.items() if one in names]
    return found


def _stored(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield each name that a statement binds in its scope, with its value, or None if the value is unknown."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from (pair for target in targets for pair in _unpacked(target, value))
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            yield from _unpacked(target, value)
        case ast.For(target=target, iter=value):
            yield from _unpacked(target, part_of(value))
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            yield name, container_of(value)
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.ExceptHandler(name=str() as name):
            yield name, None
        case ast.Match(subject=subject, cases=cases):
            taken = [name for c in cases for part in ast.walk(c.pattern) for name in _captured(part)]
            yield from ((name, part_of(subject)) for name in taken)
        case ast.FunctionDef(name=name):
            yield name, None
            yield from ((n, None) for part in ast.walk(node) if isinstance(part, ast.Nonlocal) for n in part.names)
            return  # other names are local to the nested function
        case ast.Lambda():
            return
    for child in ast.iter_child_nodes(node):
        yield from _stored(child)


def _added(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name of each container or object that receives new content, with an expression for the content."""
    for part in ast.walk(node):
        values: list[ast.expr] = []
        match part:
            case ast.Assign(targets=targets, value=value):
                for one, bound in [pair for target in targets for pair in unpacked(target, value)]:
                    if not isinstance(one, ast.Name):
                        yield _root(one), container_of(bound)
                        yield from _record_keys(one)
            case (
                ast.AnnAssign(target=ast.Attribute() | ast.Subscript() as into, value=ast.expr() as value)
                | ast.AugAssign(target=ast.Attribute() | ast.Subscript() as into, value=value)
                | ast.For(target=ast.Attribute() | ast.Subscript() as into, iter=value)
            ):
                values = [value]
            case ast.Call(func=ast.Attribute(value=into, attr=attr)) if attr in MUTATORS:
                values = [*part.args, *(k.value for k in part.keywords)]
                if attr == "setdefault" and isinstance(into, ast.Name) and not any(map(_is_starred, part.args)):
                    yield from ((into.id, container_with_key(key)) for key in values[:1])
                    values = values[1:]
        if values:
            yield from ((_root(into), container_of(value)) for value in values)
            yield from _record_keys(into)


def _root(node: ast.expr) -> str:
    """Return the name of the container of an item, or `""` if the container is not a name."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _record_keys(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name of an item's container with an expression for the content that each key on the path adds.

    The last key is a key of the container itself, and the other keys are keys of nested containers.
    """
    keys = list(keys_of(node))
    own = _is_item_of_a_name(node)
    yield from ((_root(node), container_of(key)) for key in (keys[:-1] if own else keys))
    yield from ((_root(node), container_with_key(key)) for key in (keys[-1:] if own else ()))


def _is_item_of_a_name(node: ast.expr) -> bool:
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name)


def _is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


def keys_of(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the keys on the path to an item, innermost container first."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            yield node.slice
        node = node.value


def container_of(value: ast.expr) -> ast.expr:
    """Return an expression for a new container that holds a value and the elements of this value."""
    return ast.BinOp(ast.List([value], ast.Load()), ast.Add(), ast.List([ast.Starred(value, ast.Load())], ast.Load()))


def container_with_key(key: ast.expr) -> ast.expr:
    """Return an expression for a new dict with a key and an arbitrary value."""
    return ast.Dict([key], [ast.Constant(None)])


def part_of(value: ast.expr) -> ast.expr:
    """Return an expression for an arbitrary part of a value."""
    return ast.Subscript(value, ast.Constant(0, kind=PART), ast.Load())


def unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each single target of an assignment, with the value or the part of the value that it receives."""
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
class NameContext:
    """Context for resolving names at one position in a module."""

    names: ModuleNames
    scopes: list[Bindings] = field(default_factory=list)
    """Scopes of the enclosing functions and comprehensions, innermost last."""
    body: set[str] = field(default_factory=set)
    """Names bound in the body of the class that is being visited."""

    parents: dict[int, ast.AST] = field(default_factory=dict)
    """Parent of each node of the module, by the id of the node."""
    uses: dict[str, list[ast.Name]] = field(default_factory=dict)
    """Mapping from name to the nodes, in all scopes, that read it or modify it with an augmented assignment."""

    _scopes: dict[int, Bindings] = field(default_factory=dict)

    def read(self, tree: ast.Module) -> None:
        """Record the parents of nodes and the uses of names in a module."""
        for node in ast.walk(tree):
            self.parents |= {id(child): node for child in ast.iter_child_nodes(node)}
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self.uses.setdefault(node.id, []).append(node)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.uses.setdefault(node.target.id, []).append(node.target)

    def scope(self, node: FunctionNode | Comprehension) -> Bindings:
        """Return the bindings of a function or a comprehension, which are computed only once."""
        if id(node) not in self._scopes:
            self._scopes[id(node)] = bindings_of(node)
        return self._scopes[id(node)]

    def local(self, name: str) -> bool:
        """Return whether a name is bound in an enclosing function or comprehension."""
        return any(name in scope for scope in self.scopes)

    def is_class(self, name: str) -> bool:
        """Return whether a name that is not local refers to a class of the module or to a builtin class."""
        if name in self.names.top_level:
            return any(isinstance(node, ast.ClassDef) for node in self.names.top_level[name])
        return isinstance(getattr(builtins, name, None), type) and name not in self.names.imports

    def imported(self, node: ast.AST) -> Any:
        """Return the imported object that an expression refers to, else `UNKNOWN`."""
        match node:
            case ast.Name(id=name) if not self.local(name):
                return self.names.imports.get(name, UNKNOWN)
            case ast.Attribute(value=value, attr=attr) if isinstance(base := self.imported(value), ModuleType):
                return getattr(base, attr, UNKNOWN) if attr in exported(base) else UNKNOWN
        return UNKNOWN

    def bound(self, name: str) -> list[BindingOrigin]:
        """Return all values to which a name is bound."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return [self.names.constant(name)]

    def origins(self, name: str) -> list[ast.expr] | None:
        """Return the expressions to which a name is bound, or None if a value is unknown."""
        found = self.bound(name)
        known = [value for value in found if isinstance(value, ast.expr)]
        return known if len(known) == len(found) else None

    def shared(self, node: ast.AST, seen: set[str] | None = None) -> bool:
        """Return whether an expression refers to an imported, module-level or class-level object.

        All episodes share such objects. The method follows names, attributes, items, conditional expressions, and a few
        kinds of calls.
        """
        seen = set() if seen is None else seen
        match node:
            case ast.Name(id=name) if not self.local(name):
                return name in self.names.imports or name in self.names.top_level or name == "cls"
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
                return not isinstance(self.imported(value), (ModuleType, type)) and self.shared(value, seen)
            case ast.IfExp(body=one, orelse=other) | ast.BoolOp(values=[one, other]):
                return self.shared(one, seen) or self.shared(other, seen)
        return False
