"""What the tools of a base world refuse, read from their code, so that a prompt states what the code does."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from trace_gym.synthesize.substitution import Bound, Filled, arguments_of, definition, template_of
from trace_gym.world import ToolError, World

CODE_OF_TARGETS = "trace_gym.targets."
"""Functions of these modules are followed; others do not refuse a call."""


@dataclass(frozen=True)
class Refusal:
    """One way in which a tool refuses a call."""

    when: str
    """The conditions in code; empty if none is known."""
    says: str
    """The text of the refusal, with expressions in braces."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """A pattern of the texts that this refusal can have."""
        parts = re.split(r"\{[^{}]*\}", self.says)
        return re.compile(".*".join(map(re.escape, parts)), re.DOTALL)


@dataclass(frozen=True)
class _Place:
    """Code that is read: a function, what its parameters stand for, and the conditions under which it runs."""

    function: FunctionType
    bound: Bound
    when: tuple[str, ...]
    callers: tuple[FunctionType, ...]

    def under(self, *conditions: str) -> _Place:
        return replace(self, when=(*self.when, *conditions))


def refusals_of(world: type[World], tool: str) -> list[Refusal]:
    """Return how a tool refuses a call, in the order in which the conditions are checked."""
    found = _Reader(world).function(_Place(method_of(world, tool), {}, (), ()))
    return list(dict.fromkeys(found))


def method_of(world: type[World], tool: str) -> FunctionType:
    """Return the method of a tool, which may have another name than the tool."""
    marked = {name: getattr(world, name, None) for name in dir(world)}
    named = {getattr(m, "_tool_name", "") or name: m for name, m in marked.items() if hasattr(m, "_tool_kind")}
    method: FunctionType = inspect.unwrap(named.get(tool) or getattr(world, tool))
    return method


class _Reader:
    """Follows the code of one world from statement to statement."""

    def __init__(self, world: type[World]) -> None:
        self.world = world

    def function(self, place: _Place) -> Iterator[Refusal]:
        yield from self.block(definition(place.function).body, place)

    def block(self, body: Sequence[ast.stmt], place: _Place) -> Iterator[Refusal]:
        for node in body:
            yield from self.statement(node, place)
            if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue)):
                place = place.under(f"not ({self.text(node.test, place)})")
            elif isinstance(node, ast.For) and (found := self.searched(node, place)):
                place = place.under(found)

    def statement(self, node: ast.stmt, place: _Place) -> Iterator[Refusal]:
        match node:
            case ast.Raise(exc=ast.expr() as error):
                if (says := self.message(error, place)) is not None:
                    yield Refusal(_joined(place.when), says)
            case ast.If():
                yield from self.expression(node.test, place)
                test = self.text(node.test, place)
                either = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or)
                yield from self.block(node.body, place.under(f"({test})" if either else test))
                yield from self.block(node.orelse, place.under(f"not ({test})"))
            case ast.For():
                yield from self.expression(node.iter, place)
                yield from self.block(node.body, place.under(self.loop(node, place)))
            case ast.Try():
                yield from self.block(node.body, place)
                for handler in node.handlers:
                    kind = ast.unparse(handler.type) if handler.type else "anything"
                    tried = self.text(node.body[-1], place)
                    yield from self.block(handler.body, place.under(f"`{tried}` raises {kind}"))
            case ast.While() | ast.With():
                yield from self.block(node.body, place)
            case ast.Match():
                for case in node.cases:
                    tried = f"{self.text(node.subject, place)} is {ast.unparse(case.pattern)}"
                    yield from self.block(case.body, place.under(tried))
            case ast.FunctionDef() | ast.ClassDef():
                pass
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        yield from self.expression(child, place)

    def expression(self, node: ast.expr, place: _Place) -> Iterator[Refusal]:
        """Read the calls in an expression, the inner ones first."""
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            for part in node.generators:
                yield from self.expression(part.iter, place)
                tests = [self.text(test, place) for test in part.ifs]
                place = place.under(self.loop(part, place), *tests)
        if isinstance(node, ast.Lambda):
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.keyword):
                yield from self.expression(child.value, place)
            elif isinstance(child, ast.expr):
                yield from self.expression(child, place)
        if isinstance(node, ast.Call) and (called := self.called(node, place)) is not None:
            yield from self.function(called)

    def loop(self, node: ast.For | ast.comprehension, place: _Place) -> str:
        return f"for any {ast.unparse(node.target)} in {self.text(node.iter, place)}:"

    def searched(self, node: ast.For, place: _Place) -> str:
        """Return what is known after a loop that returns what it was looking for."""
        match node.body[-1]:
            case ast.If(test=test, body=[*_, ast.Return()]):
                return f"for no {ast.unparse(node.target)} in {self.text(node.iter, place)}: {self.text(test, place)}"
            case ast.Return():
                return f"nothing is in {self.text(node.iter, place)}"
        return ""

    def called(self, node: ast.Call, place: _Place) -> _Place | None:
        """Return the function of the targets that is called, with what its parameters stand for."""
        function = self.resolved(node.func, place)
        if not isinstance(function, FunctionType) or not str(function.__module__).startswith(CODE_OF_TARGETS):
            return None
        callers = (*place.callers, place.function)
        if function in callers:
            return None
        skipped = isinstance(node.func, ast.Attribute) and not isinstance(self.static(node.func), staticmethod)
        arguments = {name: self.shown(value, place) for name, value in arguments_of(function, node, skipped).items()}
        return _Place(function, arguments, place.when, callers)

    def static(self, node: ast.Attribute) -> object:
        return inspect.getattr_static(self.world, node.attr, None)

    def resolved(self, node: ast.expr, place: _Place) -> object:
        """Return what a name, or an attribute of ``self`` or ``super()``, stands for; None if that is not known."""
        match node:
            case ast.Name(id=name) if name not in place.bound:
                return place.function.__globals__.get(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                found = getattr(self.world, name, None)
                return inspect.unwrap(getattr(found, "__func__", found)) if callable(found) else None
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                order = list(self.world.__mro__)
                own = next((n for n, c in enumerate(order) if place.function in vars(c).values()), 0)
                return next((vars(c)[name] for c in order[own + 1 :] if name in vars(c)), None)
        return None

    def message(self, error: ast.expr, place: _Place) -> str | None:
        """Return the text of what is raised if it is a refusal."""
        if isinstance(error, ast.Name):
            is_refusal = isinstance(found := self.resolved(error, place), type) and issubclass(found, ToolError)
            return "" if is_refusal else None
        if not isinstance(error, ast.Call):
            return None
        made = self.resolved(error.func, place)
        if isinstance(made, type) and issubclass(made, ToolError):
            return template_of(self.shown(error.args[0], place)) if error.args else ""
        if (called := self.called(error, place)) is not None:  # a function that makes refusals
            for node in ast.walk(definition(called.function)):
                if isinstance(node, ast.Return) and node.value is not None:
                    return self.message(node.value, called)
        return None

    def text(self, node: ast.AST, place: _Place) -> str:
        return " ".join(ast.unparse(self.shown(node, place)).split())

    def shown(self, node: Any, place: _Place) -> Any:
        """Return a copy of a node with the arguments in place of the parameters, and constants in place of names."""
        return ast.fix_missing_locations(Filled(place.bound, place.function.__globals__).visit(deepcopy(node)))


def _joined(conditions: Iterable[str]) -> str:
    """Return the conditions as one; a loop is followed by what is true of one of its items."""
    text = ""
    for condition in dict.fromkeys(conditions):
        text += f"{'' if not text else ' ' if text.endswith(':') else ' and '}{condition}"
    return text


def helpers_of(world: type[World], function: FunctionType) -> Iterator[FunctionType]:
    """Return the functions of the targets that a function calls itself."""
    reader, place = _Reader(world), _Place(function, {}, (), ())
    for node in ast.walk(definition(function)):
        if isinstance(node, ast.Call) and (called := reader.called(node, place)) is not None:
            yield called.function


def is_refused_only(node: ast.stmt, world: type[World], function: FunctionType) -> bool:
    """Whether a statement does nothing but refuse a call under a condition."""
    if isinstance(node, ast.For) and not node.orelse:
        return all(is_refused_only(part, world, function) for part in node.body)
    if not isinstance(node, ast.If) or node.orelse or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)):
        return False
    reader, place = _Reader(world), _Place(function, {}, (), ())
    match node.body:
        case [ast.Raise(exc=ast.expr() as error)]:
            return reader.message(error, place) is not None
    return False
