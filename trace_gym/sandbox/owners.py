"""Where objects come from: what a module may change is `self`, what it reaches from there, and what it made itself.

The source of an expression is a set of words: `OWN` for what is reached from ``self``, `MADE` for what the function
created, `FOREIGN` for what it cannot be followed to, and, while a function is read on behalf of its callers, the name
of a parameter. Calls of the module's own functions are followed into what these return.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from trace_gym.sandbox.allowed import METHODS
from trace_gym.sandbox.handing import BY_KEY, CHOOSERS, CONTAINERS, DRAWERS, PARTS, SETTINGS
from trace_gym.sandbox.names import UNKNOWN
from trace_gym.sandbox.scopes import PART, Bindings, Comprehension, Where, parameters, part_of

Sources = frozenset[str]
Key = tuple[int, str, str]
"""A scope or a function, a name, and the method of `Owners` that looks at its values."""
OWN, MADE, FOREIGN = "self", "", "?"
NEW, ELSEWHERE = frozenset({MADE}), frozenset({FOREIGN})


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
        self._known: dict[Key, Sources] = {}
        """What is known of names in their scopes, and of functions."""
        self._final: set[Key] = set()
        self._seen: set[Key] = set()
        """Those that are known for good, and those that were looked at in this round."""
        self._grew = False

    def of(self, node: ast.AST) -> Sources:
        """The sources of the object that an expression stands for."""
        match node:
            case ast.Name(id=name):
                return self._of_name(name, self.of)
            case ast.Subscript(slice=ast.Constant(kind="value"), value=ast.Subscript(value=ast.Call(func=items))):
                plain = isinstance(items, ast.Attribute) and items.attr not in self.methods
                return (
                    self.values(items.value) if plain and isinstance(items, ast.Attribute) else self.parts(node.value)
                )
            case ast.Subscript(value=value, slice=at) if not (isinstance(at, ast.Constant) and at.kind == PART):
                found = self.where.resolve(node)
                return self.values(value) if found is UNKNOWN else _of_import(found)
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                found = self.where.resolve(node)
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
        """The sources of what an object holds, however deep."""
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
        """Return the sources of what a look-up in a container may find, however deep. The container's keys are not.

        A key that is hashable by its identity can be changed, so `parts` includes the keys.
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
        imported = self.where.resolve(ast.Name(name))
        if imported is not UNKNOWN:
            return _of_import(imported)
        if name in self.where.names.top and self.where.names.constant(name) is None and not self.where.local(name):
            return ELSEWHERE
        depth = next((n for n in range(len(self.where.scopes), 0, -1) if name in self.where.scopes[n - 1]), 0)
        scopes = self.where.scopes[:depth]

        def found() -> Iterator[Sources]:
            for value in self.where.bound(name):
                if isinstance(value, ast.expr):
                    yield look(value)
                elif not (isinstance(value, ast.arg) and _is_scalar(value.annotation)):
                    yield frozenset({name})

        return self._once((id(scopes[-1]) if scopes else 0, name, look.__name__), scopes, found)

    def _once(self, key: Key, scopes: list[Bindings], found: Callable[[], Iterator[Sources]]) -> Sources:
        """What is found in other scopes, looked for once in each round: names may lead back to themselves."""
        if key not in self._seen and key not in self._final:
            self._seen.add(key)
            kept, self.where.scopes = self.where.scopes, scopes
            now = NEW.union(*found())
            self.where.scopes = kept
            if not now <= self._known.get(key, NEW):
                self._known[key] = self._known.get(key, NEW) | now
                self._grew = True
        return self._known.get(key, NEW)

    def sources(self, node: ast.AST, parts: bool = False) -> Sources:
        """The sources of an object, or of what it holds: rounds are repeated until nothing more is found."""
        while True:
            self._grew = False
            self._seen = set()
            made = self.parts(node) if parts else self.of(node)
            if not self._grew:
                self._final |= self._seen
                return made

    def _of_comprehension(self, node: Comprehension, values: list[ast.expr] | None = None) -> Sources:
        self.where.scopes = [*self.where.scopes, self.where.scope(node)]
        if values is None:
            values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found = self._all(values) | self._within(values)
        self.where.scopes = self.where.scopes[:-1]
        return found

    # Calls

    def _of_call(self, node: ast.Call, parts: bool) -> Sources:
        given = [*node.args, *(k.value for k in node.keywords)]
        match node.func:
            case ast.Name(id=name) if self.where.local(name) and name != "cls":
                return ELSEWHERE
            case ast.Name(id=name) if name in CONTAINERS or name in CHOOSERS:
                given = [*node.args[name == "filter" :], *(k.value for k in node.keywords if k.arg not in SETTINGS)]
                if name in CONTAINERS:
                    return self._within(given) if parts else NEW
                return self._all(given) | self._within(given)
            case ast.Name(id=name) if name in self.functions:
                return self._of_own(node, [self.functions[name]], NEW)
            case ast.Name(id=name) as func:
                if name in self.where.names.top and not self._is_class(name):
                    return ELSEWHERE
                return self._of_imported(self.where.resolve(func), given, parts)
            case ast.Attribute(value=value, attr=attr) as func:
                if isinstance(self.where.resolve(value), ModuleType):
                    return self._of_imported(self.where.resolve(func), given, parts)
                return self._of_method(node, value, attr, parts)
        return ELSEWHERE

    def _of_imported(self, found: Any, given: list[ast.expr], parts: bool) -> Sources:
        """What a class makes, or a function of a library or the target, which hand out nothing that is not new."""
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
        # A method of the module may bear the name of a method of dicts, and be called on either.
        found = self._of_own(node, self.methods[attr], holder) if attr in self.methods and not is_super else None
        if attr in PARTS:
            return holder | self._all(given) | self._within(given) | (found or NEW)
        if found is not None:
            return found
        if attr in self.where.names.attributes or isinstance(self.where.resolve(value), type) or is_super:
            return NEW | holder
        return NEW if attr in METHODS else ELSEWHERE

    def _is_class(self, name: str) -> bool:
        return isinstance(self.where.names.top.get(name, [None])[0], ast.ClassDef)

    def _of_own(self, node: ast.Call, made: list[ast.FunctionDef], holder: Sources) -> Sources:
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
                    found |= self._all(values) | self._within(values)
        return frozenset(found) or NEW

    def returned(self, function: ast.FunctionDef) -> Sources:
        """The sources of what a function returns or yields, in terms of its parameters."""
        values = results(function.body)
        key = (id(function), "", "")
        return self._once(key, [self.where.scope(function)], lambda: (self.of(v) | self.parts(v) for v in values))


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
