"""Where objects come from: what a module may change is `self`, what it reaches from there, and what it made itself.

The source of an expression is a set of words: `OWN` for what is reached from ``self``, `MADE` for what the function
created, `FOREIGN` for what it cannot be followed to, and, while a function is read on behalf of its callers, the name
of a parameter. Calls of the module's own functions are followed into what these return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from trace_gym.sandbox.allowed import METHODS
from trace_gym.sandbox.names import UNKNOWN
from trace_gym.sandbox.scopes import Comprehension, Where, bindings_of, parameters, part_of

Sources = frozenset[str]
OWN, MADE, FOREIGN = "self", "", "?"
NEW, ELSEWHERE = frozenset({MADE}), frozenset({FOREIGN})

CONTAINERS = frozenset(
    {
        *("dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "range", "reversed", "set", "slice"),
        *("sorted", "tuple", "zip"),
    }
)
"""Builtins that make a container of what they are given."""
CHOOSERS = frozenset({"cast", "max", "min", "next", "vars"})
"""Functions that hand out what they are given, or a part of it."""
SETTINGS = frozenset({"key", "reverse", "start", "strict"})
"""Their arguments that are not handed out."""
DRAWERS = frozenset({"choice", "choices", "sample"})
"""Methods of the generator that hand out parts of their argument."""
PARTS = frozenset(
    {
        *("copy", "difference", "elements", "fromkeys", "get", "items", "keys", "most_common", "pop", "popitem"),
        *("popleft", "setdefault", "union", "values"),
    }
)
"""Methods of plain containers that hand out their parts."""


class Owners:
    """Tells the sources of expressions, in the scopes of `where`.

    Args:
        tree: The module.
        where: Its names, and the scopes around the expression in question.
    """

    def __init__(self, tree: ast.Module, where: Where) -> None:
        self.where = where
        self.functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        self.methods: dict[str, list[ast.FunctionDef]] = {}
        for kind in tree.body:
            for node in kind.body if isinstance(kind, ast.ClassDef) else ():
                if isinstance(node, ast.FunctionDef):
                    self.methods.setdefault(node.name, []).append(node)
        self._returned: dict[int, Sources] = {}

    def of(self, node: ast.AST, seen: frozenset[str] = frozenset()) -> Sources:
        """The sources of the object that an expression stands for."""
        match node:
            case ast.Name(id=name):
                return self._of_name(name, seen, parts=False)
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                found = self.where.resolve(node)
                return self.parts(value, seen) if found is UNKNOWN else _of_import(found)
            case ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self.of(value, seen)
            case ast.IfExp(body=one, orelse=other):
                return self.of(one, seen) | self.of(other, seen)
            case ast.BoolOp(values=values):
                return self._all(values, seen)
            case ast.Call():
                return self._of_call(node, seen, parts=False)
            case ast.Yield() | ast.YieldFrom() | ast.Lambda():
                return ELSEWHERE
        return NEW

    def parts(self, node: ast.AST, seen: frozenset[str] = frozenset()) -> Sources:
        """The sources of what an object holds, however deep."""
        match node:
            case ast.Name(id=name):
                return self._of_name(name, seen, parts=True)
            case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values) | ast.Dict(values=values):
                return NEW | self._all(values, seen) | self._within(values, seen)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._of_comprehension(node, seen)
            case ast.BinOp(left=left, right=right):
                return self.parts(left, seen) | self.parts(right, seen)
            case ast.IfExp(body=one, orelse=other):
                return self.parts(one, seen) | self.parts(other, seen)
            case ast.BoolOp(values=values):
                return self._within(values, seen)
            case ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self.parts(value, seen)
            case ast.Call():
                return self._of_call(node, seen, parts=True)
        return self.of(node, seen)

    def _all(self, nodes: Iterable[ast.AST], seen: frozenset[str]) -> Sources:
        return frozenset().union(*(self.of(n, seen) for n in nodes))

    def _within(self, nodes: Iterable[ast.AST], seen: frozenset[str]) -> Sources:
        return NEW.union(*(self.parts(n, seen) for n in nodes))

    def _of_name(self, name: str, seen: frozenset[str], parts: bool) -> Sources:
        if name == "self":
            return frozenset({OWN})
        if name in seen:
            return NEW
        imported = self.where.resolve(ast.Name(name))
        if imported is not UNKNOWN:
            return _of_import(imported)
        if name in self.where.names.top and self.where.names.constant(name) is None and not self.where.local(name):
            return ELSEWHERE
        look = self.parts if parts else self.of
        found = NEW
        for value in self.where.bound(name):
            if isinstance(value, ast.expr):
                found |= look(value, seen | {name})
            elif not (isinstance(value, ast.arg) and _is_scalar(value.annotation)):
                found |= {name}
        return found

    def _of_comprehension(self, node: Comprehension, seen: frozenset[str]) -> Sources:
        self.where.scopes.append(bindings_of(node))
        values = [node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found = self._all(values, seen) | self._within(values, seen)
        self.where.scopes.pop()
        return found

    # Calls

    def _of_call(self, node: ast.Call, seen: frozenset[str], parts: bool) -> Sources:
        given = [*node.args, *(k.value for k in node.keywords)]
        match node.func:
            case ast.Name(id=name) if self.where.local(name) and name != "cls":
                return ELSEWHERE
            case ast.Name(id=name) if name in CONTAINERS or name in CHOOSERS:
                given = [*node.args[name == "filter" :], *(k.value for k in node.keywords if k.arg not in SETTINGS)]
                if name in CONTAINERS:
                    return self._within(given, seen) if parts else NEW
                return self._all(given, seen) | self._within(given, seen)
            case ast.Name(id=name) if name in self.functions:
                return self._of_own(node, [self.functions[name]], NEW, seen)
            case ast.Name(id=name) as func:
                if name in self.where.names.top and not self._is_class(name):
                    return ELSEWHERE
                return self._of_imported(self.where.resolve(func), given, seen, parts)
            case ast.Attribute(value=value, attr=attr) as func:
                if isinstance(self.where.resolve(value), ModuleType):
                    return self._of_imported(self.where.resolve(func), given, seen, parts)
                return self._of_method(node, value, attr, seen, parts)
        return ELSEWHERE

    def _of_imported(self, found: Any, given: list[ast.expr], seen: frozenset[str], parts: bool) -> Sources:
        """What a class makes, or a function of a library or the target, which hand out nothing that is not new."""
        if parts and (isinstance(found, type) or found is UNKNOWN):
            return self._all(given, seen) | self._within(given, seen)
        return NEW

    def _of_method(self, node: ast.Call, value: ast.expr, attr: str, seen: frozenset[str], parts: bool) -> Sources:
        given = [*node.args, *(k.value for k in node.keywords)]
        if attr in DRAWERS:
            return self._within(given, seen) if parts or attr == "choice" else NEW
        if attr == "copy" and not parts:
            return NEW
        is_super = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
        is_class = isinstance(value, ast.Name) and (value.id == "cls" or self._is_class(value.id))
        holder = frozenset({OWN, MADE}) if is_super else NEW if is_class else self.parts(value, seen)
        if attr in self.methods and not is_super:
            return self._of_own(node, self.methods[attr], holder, seen)
        if attr in PARTS:
            return holder | self._all(given, seen) | self._within(given, seen)
        if attr in self.where.names.attributes or isinstance(self.where.resolve(value), type) or is_super:
            return NEW | holder
        return NEW if attr in METHODS else ELSEWHERE

    def _is_class(self, name: str) -> bool:
        return isinstance(self.where.names.top.get(name, [None])[0], ast.ClassDef)

    def _of_own(self, node: ast.Call, made: list[ast.FunctionDef], holder: Sources, seen: frozenset[str]) -> Sources:
        """What own functions return, with what they are given in place of their parameters."""
        found: set[str] = set()
        for function in made:
            names = [p.arg for p in parameters(function)]
            if names[:1] in (["self"], ["cls"]):
                names = names[1:]
            given: dict[str, list[ast.expr]] = {k.arg or "": [k.value] for k in node.keywords}
            for n, value in enumerate(node.args):
                given.setdefault(names[min(n, len(names) - 1)] if names else "", []).append(value)
            for source in self.returned(function):
                if source == OWN:
                    found |= holder
                elif source in (MADE, FOREIGN):
                    found.add(source)
                else:  # a parameter
                    values = [*given.get(source, ()), *given.get("", ())]
                    found |= self._all(values, seen) | self._within(values, seen)
        return frozenset(found) or NEW

    def returned(self, function: ast.FunctionDef) -> Sources:
        """The sources of what a function returns or yields, in terms of its parameters."""
        if id(function) not in self._returned:
            self._returned[id(function)] = NEW  # while it is read: a call of itself adds nothing
            kept, self.where.scopes = self.where.scopes, [bindings_of(function)]
            found = [self.of(v) | self.parts(v) for v in results(function.body)]
            self.where.scopes = kept
            self._returned[id(function)] = NEW.union(*found)
        return self._returned[id(function)]


def _is_scalar(annotation: ast.expr | None) -> bool:
    """Whether a parameter is declared to be what nobody can change: a text or a number."""
    names = {n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)} if annotation is not None else set()
    return bool(names) and names <= {"str", "int", "float", "bool", "Literal"}


def _of_import(found: Any) -> Sources:
    """What an import leads to: the tables of a target hold plain data, and the rule on shared state protects them."""
    return ELSEWHERE if callable(found) or isinstance(found, ModuleType) else NEW


def results(body: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """The values that a function returns or yields."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.Lambda():
                continue
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                yield value
            case ast.YieldFrom(value=value):
                yield part_of(value)
        yield from results(ast.iter_child_nodes(node))
