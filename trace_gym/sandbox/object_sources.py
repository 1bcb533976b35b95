"""Data-flow analysis of the sources of objects, which determine whether a module may modify an object.

The result for an expression is a set of strings: `OWN` for objects reachable from ``self``, `MADE` for objects that the
function created, and `FOREIGN` for objects of unknown origin. When a function is analyzed on behalf of its callers, the
set also contains names of parameters. For a call of such a function, the sources of the arguments replace these names.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from trace_gym.sandbox.aliasing import BY_KEY, CHOOSERS, CONTAINERS, DRAWERS, PARTS, SETTINGS
from trace_gym.sandbox.allowlist import METHODS
from trace_gym.sandbox.module_names import UNKNOWN
from trace_gym.sandbox.scopes import PART, Bindings, Comprehension, NameContext, parameters, part_of

Sources = frozenset[str]
SourceKey = tuple[int, str, str]
"""Key of a cached result: id of a scope or function, a name, and the method of `ObjectSources` that was used."""
OWN, MADE, FOREIGN = "self", "", "?"
NEW, ELSEWHERE = frozenset({MADE}), frozenset({FOREIGN})


class ObjectSources:
    """Analysis of the sources of expressions in one module.

    Args:
        tree: Syntax tree of the module.
        context: Names of the module, and the scopes around the current expression.
    """

    def __init__(self, tree: ast.Module, context: NameContext) -> None:
        self.context = context
        self.functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        self.methods: dict[str, list[ast.FunctionDef]] = {}
        for kind in tree.body:
            for node in kind.body if isinstance(kind, ast.ClassDef) else ():
                if isinstance(node, ast.FunctionDef):
                    self.methods.setdefault(node.name, []).append(node)
        self._known: dict[SourceKey, Sources] = {}
        """Sources that were found so far for names and functions."""
        self._final: set[SourceKey] = set()
        self._seen: set[SourceKey] = set()
        """Keys that were analyzed in this round. `_final` contains the keys whose sources are complete."""
        self._grew = False

    def of(self, node: ast.AST) -> Sources:
        """Return the sources of the value of an expression."""
        match node:
            case ast.Name(id=name):
                return self._of_name(name, self.of)
            case ast.Subscript(slice=ast.Constant(kind="value"), value=ast.Subscript(value=ast.Call(func=items))):
                plain = isinstance(items, ast.Attribute) and items.attr not in self.methods
                return (
                    self.values(items.value) if plain and isinstance(items, ast.Attribute) else self.parts(node.value)
                )
            case ast.Subscript(value=value, slice=at) if not (isinstance(at, ast.Constant) and at.kind == PART):
                found = self.context.imported(node)
                return self.values(value) if found is UNKNOWN else _of_import(found)
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                found = self.context.imported(node)
                return self.parts(value) if found is UNKNOWN else _of_import(found)
            case ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self.of(value)
            case ast.IfExp(body=one, orelse=other):
                return self.of(one) | self.of(other)
            case ast.BoolOp(values=values):
                return self._all(values)
            case ast.Call():
                return self._of_call(node, parts=False)
            case ast.Yield() | ast.YieldFrom() | ast.Lambda():
                return ELSEWHERE
        return NEW

    def parts(self, node: ast.AST) -> Sources:
        """Return the sources of all objects within an object, at any depth."""
        match node:
            case ast.Name(id=name):
                return self._of_name(name, self.parts)
            case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
                return NEW | self._all(values) | self._within(values)
            case ast.Dict(keys=keys, values=values):
                held = [*filter(None, keys), *values]
                return NEW | self._all(held) | self._within(held)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._of_comprehension(node)
            case ast.BinOp(left=left, right=right):
                return self.parts(left) | self.parts(right)
            case ast.IfExp(body=one, orelse=other):
                return self.parts(one) | self.parts(other)
            case ast.BoolOp(values=values):
                return self._within(values)
            case ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self.parts(value)
            case ast.Call():
                return self._of_call(node, parts=True)
        return self.of(node)

    def values(self, node: ast.AST) -> Sources:
        """Return the sources of the values in a container, at any depth, excluding the container's keys.

        In contrast, `parts` includes the keys, because a key that is hashed by identity can be mutable.
        """
        match node:
            case ast.Name(id=name):
                return self._of_name(name, self.values)
            case ast.Dict(values=values) if all(key is not None for key in node.keys):
                return NEW | self._all(values) | self._within(values)
            case ast.DictComp(value=value):
                return self._of_comprehension(node, [value])
            case ast.IfExp(body=one, orelse=other):
                return self.values(one) | self.values(other)
            case ast.BoolOp(values=values):
                return NEW.union(*map(self.values, values))
        return self.parts(node)

    def _all(self, nodes: Iterable[ast.AST]) -> Sources:
        return frozenset().union(*(self.of(n) for n in nodes))

    def _within(self, nodes: Iterable[ast.AST]) -> Sources:
        return NEW.union(*(self.parts(n) for n in nodes))

    def _of_name(self, name: str, look: Callable[[ast.AST], Sources]) -> Sources:
        if name == "self":
            return frozenset({OWN})
        imported = self.context.imported(ast.Name(name))
        if imported is not UNKNOWN:
            return _of_import(imported)
        if (
            name in self.context.names.top_level
            and self.context.names.constant(name) is None
            and not self.context.local(name)
        ):
            return ELSEWHERE
        depth = next((n for n in range(len(self.context.scopes), 0, -1) if name in self.context.scopes[n - 1]), 0)
        scopes = self.context.scopes[:depth]

        def found() -> Iterator[Sources]:
            for value in self.context.bound(name):
                if isinstance(value, ast.expr):
                    yield look(value)
                elif not (isinstance(value, ast.arg) and _is_scalar(value.annotation)):
                    yield frozenset({name})

        return self._once((id(scopes[-1]) if scopes else 0, name, look.__name__), scopes, found)

    def _once(self, key: SourceKey, scopes: list[Bindings], found: Callable[[], Iterator[Sources]]) -> Sources:
        """Return the sources for a key, which is analyzed only once per round.

        Without this restriction, names that are defined in terms of themselves would cause infinite recursion.
        """
        if key not in self._seen and key not in self._final:
            self._seen.add(key)
            kept, self.context.scopes = self.context.scopes, scopes
            now = NEW.union(*found())
            self.context.scopes = kept
            if not now <= self._known.get(key, NEW):
                self._known[key] = self._known.get(key, NEW) | now
                self._grew = True
        return self._known.get(key, NEW)

    def sources(self, node: ast.AST, parts: bool = False) -> Sources:
        """Return the sources of an object or of its parts. The analysis is repeated until no source is added."""
        while True:
            self._grew = False
            self._seen = set()
            made = self.parts(node) if parts else self.of(node)
            if not self._grew:
                self._final |= self._seen
                return made

    def _of_comprehension(self, node: Comprehension, values: list[ast.expr] | None = None) -> Sources:
        self.context.scopes = [*self.context.scopes, self.context.scope(node)]
        if values is None:
            values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found = self._all(values) | self._within(values)
        self.context.scopes = self.context.scopes[:-1]
        return found

    # Calls

    def _of_call(self, node: ast.Call, parts: bool) -> Sources:
        given = [*node.args, *(k.value for k in node.keywords)]
        match node.func:
            case ast.Name(id=name) if self.context.local(name) and name != "cls":
                return ELSEWHERE
            case ast.Name(id=name) if name in CONTAINERS or name in CHOOSERS:
                given = [*node.args[name == "filter" :], *(k.value for k in node.keywords if k.arg not in SETTINGS)]
                if name in CONTAINERS:
                    return self._within(given) if parts else NEW
                return self._all(given) | self._within(given)
            case ast.Name(id=name) if name in self.functions:
                return self._of_own(node, [self.functions[name]], NEW)
            case ast.Name(id=name) as func:
                if name in self.context.names.top_level and not self._is_class(name):
                    return ELSEWHERE
                return self._of_imported(self.context.imported(func), given, parts)
            case ast.Attribute(value=value, attr=attr) as func:
                if isinstance(self.context.imported(value), ModuleType):
                    return self._of_imported(self.context.imported(func), given, parts)
                return self._of_method(node, value, attr, parts)
        return ELSEWHERE

    def _of_imported(self, found: Any, given: list[ast.expr], parts: bool) -> Sources:
        """Return the sources of the result of an imported class or function, which creates a new object."""
        if parts and (isinstance(found, type) or found is UNKNOWN):
            return self._all(given) | self._within(given)
        return NEW

    def _of_method(self, node: ast.Call, value: ast.expr, attr: str, parts: bool) -> Sources:
        given = [*node.args, *(k.value for k in node.keywords)]
        if attr in DRAWERS:
            return self._within(given) if parts or attr == "choice" else NEW
        if attr == "copy" and not parts:
            return NEW
        is_super = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
        is_class = isinstance(value, ast.Name) and (value.id == "cls" or self._is_class(value.id))
        holder = frozenset({OWN, MADE}) if is_super else NEW if is_class else self.parts(value)
        if attr in BY_KEY and attr not in self.methods and not (is_super or is_class):
            has_key = bool(node.args) and not isinstance(node.args[0], ast.Starred)
            holder, given = self.values(value), given[has_key:]
        # If a method of the module has the same name as a dict method, either of them may be called.
        found = self._of_own(node, self.methods[attr], holder) if attr in self.methods and not is_super else None
        if attr in PARTS:
            return holder | self._all(given) | self._within(given) | (found or NEW)
        if found is not None:
            return found
        if attr in self.context.names.attributes or isinstance(self.context.imported(value), type) or is_super:
            return NEW | holder
        return NEW if attr in METHODS else ELSEWHERE

    def _is_class(self, name: str) -> bool:
        return isinstance(self.context.names.top_level.get(name, [None])[0], ast.ClassDef)

    def _of_own(self, node: ast.Call, made: list[ast.FunctionDef], holder: Sources) -> Sources:
        """Return the sources of the results of the module's functions, with arguments in place of parameters."""
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
                    found |= self._all(values) | self._within(values)
        return frozenset(found) or NEW

    def returned(self, function: ast.FunctionDef) -> Sources:
        """Return the sources of the values that a function returns or yields, in terms of its parameters."""
        values = results(function.body)
        key = (id(function), "", "")
        return self._once(key, [self.context.scope(function)], lambda: (self.of(v) | self.parts(v) for v in values))


def _is_scalar(annotation: ast.expr | None) -> bool:
    """Return whether an annotation contains only immutable types: strings, numbers and literals."""
    names = {n.id for n in ast.walk(annotation) if isinstance(n, ast.Name)} if annotation is not None else set()
    return bool(names) and names <= {"str", "int", "float", "bool", "Literal"}


def _of_import(found: Any) -> Sources:
    """Return the sources of an imported object. Imported data counts as new; the rule ``shared-state`` protects it."""
    return ELSEWHERE if callable(found) or isinstance(found, ModuleType) else NEW


def results(body: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Yield the expressions that a function returns or yields."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.Lambda():
                continue
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                yield value
            case ast.YieldFrom(value=value):
                yield part_of(value)
        yield from results(ast.iter_child_nodes(node))
