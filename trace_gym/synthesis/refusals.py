"""Refusals of a base world's tools, extracted from the tools' source code for prompts.

A refusal is the error message that a tool returns when it rejects a call because of a condition.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

from trace_gym.synthesis.substitution import Substituter, Substitutions, arguments_of, definition, template_of
from trace_gym.targets.catalogue import is_target_code
from trace_gym.world import ToolError, World


@dataclass(frozen=True)
class Refusal:
    """One refusal of a tool: its condition and its text."""

    condition: str
    """Condition under which the tool refuses the call, as Python code; empty if it is not known."""
    message: str
    """Text of the refusal. Expressions whose values are inserted are in braces."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Pattern that matches every possible text of this refusal."""
        parts = re.split(r"\{[^{}]*\}", self.message)
        return re.compile(".*".join(map(re.escape, parts)), re.DOTALL)


@dataclass(frozen=True)
class _Scope:
    """Function under analysis, its parameters with their arguments, and the conditions under which its code runs."""

    function: FunctionType
    bindings: Substitutions
    conditions: tuple[str, ...]
    callers: tuple[FunctionType, ...]

    def under(self, *conditions: str) -> _Scope:
        return replace(self, conditions=(*self.conditions, *conditions))


def refusals_of(world: type[World], tool: str) -> list[Refusal]:
    """Return the refusals of a tool in the order in which their conditions are checked."""
    found = _Reader(world).function(_Scope(method_of(world, tool), {}, (), ()))
    return list(dict.fromkeys(found))


def method_of(world: type[World], tool: str) -> FunctionType:
    """Return the method that implements a tool. The names of the method and of the tool may differ."""
    marked = {name: getattr(world, name, None) for name in dir(world)}
    named = {getattr(m, "_tool_name", "") or name: m for name, m in marked.items() if hasattr(m, "_tool_kind")}
    method: FunctionType = inspect.unwrap(named.get(tool) or getattr(world, tool))
    return method


class _Reader:
    """Static analyzer that collects refusals from the methods of one world, statement by statement."""

    def __init__(self, world: type[World]) -> None:
        self.world = world

    def function(self, scope: _Scope) -> Iterator[Refusal]:
        yield from self.block(definition(scope.function).body, scope)

    def block(self, body: Sequence[ast.stmt], scope: _Scope) -> Iterator[Refusal]:
        for node in body:
            yield from self.statement(node, scope)
            if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue)):
                scope = scope.under(f"not ({self.text(node.test, scope)})")
            elif isinstance(node, ast.For) and (found := self.searched(node, scope)):
                scope = scope.under(found)

    def statement(self, node: ast.stmt, scope: _Scope) -> Iterator[Refusal]:
        match node:
            case ast.Raise(exc=ast.expr() as error):
                if (message := self.message(error, scope)) is not None:
                    yield Refusal(_joined(scope.conditions), message)
            case ast.If():
                yield from self.expression(node.test, scope)
                test = self.text(node.test, scope)
                either = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or)
                yield from self.block(node.body, scope.under(f"({test})" if either else test))
                yield from self.block(node.orelse, scope.under(f"not ({test})"))
            case ast.For():
                yield from self.expression(node.iter, scope)
                yield from self.block(node.body, scope.under(self.loop(node, scope)))
            case ast.Try():
                yield from self.block(node.body, scope)
                for handler in node.handlers:
                    kind = ast.unparse(handler.type) if handler.type else "anything"
                    tried = self.text(node.body[-1], scope)
                    yield from self.block(handler.body, scope.under(f"`{tried}` raises {kind}"))
            case ast.While() | ast.With():
                yield from self.block(node.body, scope)
            case ast.Match():
                for case in node.cases:
                    tried = f"{self.text(node.subject, scope)} is {ast.unparse(case.pattern)}"
                    yield from self.block(case.body, scope.under(tried))
            case ast.FunctionDef() | ast.ClassDef():
                pass
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        yield from self.expression(child, scope)

    def expression(self, node: ast.expr, scope: _Scope) -> Iterator[Refusal]:
        """Yield the refusals of the functions that an expression calls, inner calls first."""
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            for part in node.generators:
                yield from self.expression(part.iter, scope)
                tests = [self.text(test, scope) for test in part.ifs]
                scope = scope.under(self.loop(part, scope), *tests)
        if isinstance(node, ast.Lambda):
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.keyword):
                yield from self.expression(child.value, scope)
            elif isinstance(child, ast.expr):
                yield from self.expression(child, scope)
        if isinstance(node, ast.Call) and (called := self.called(node, scope)) is not None:
            yield from self.function(called)

    def loop(self, node: ast.For | ast.comprehension, scope: _Scope) -> str:
        return f"for any {ast.unparse(node.target)} in {self.text(node.iter, scope)}:"

    def searched(self, node: ast.For, scope: _Scope) -> str:
        """Return the condition that is true after a search loop, which returns from the function on a match."""
        match node.body[-1]:
            case ast.If(test=test, body=[*_, ast.Return()]):
                return f"for no {ast.unparse(node.target)} in {self.text(node.iter, scope)}: {self.text(test, scope)}"
            case ast.Return():
                return f"nothing is in {self.text(node.iter, scope)}"
        return ""

    def called(self, node: ast.Call, scope: _Scope) -> _Scope | None:
        """Return the scope of the called function if it belongs to a target; otherwise None."""
        function = self.named_object(node.func, scope)
        if not isinstance(function, FunctionType) or not is_target_code(str(function.__module__)):
            return None
        callers = (*scope.callers, scope.function)
        if function in callers:
            return None
        skipped = isinstance(node.func, ast.Attribute) and not isinstance(self.static(node.func), staticmethod)
        arguments = {
            name: self.substituted(value, scope) for name, value in arguments_of(function, node, skipped).items()
        }
        return _Scope(function, arguments, scope.conditions, callers)

    def static(self, node: ast.Attribute) -> object:
        return inspect.getattr_static(self.world, node.attr, None)

    def named_object(self, node: ast.expr, scope: _Scope) -> object:
        """Return the object to which a name, or an attribute of ``self`` or ``super()``, refers; None if unknown."""
        match node:
            case ast.Name(id=name) if name not in scope.bindings:
                return scope.function.__globals__.get(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                found = getattr(self.world, name, None)
                return inspect.unwrap(getattr(found, "__func__", found)) if callable(found) else None
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                order = list(self.world.__mro__)
                own = next((n for n, c in enumerate(order) if scope.function in vars(c).values()), 0)
                return next((vars(c)[name] for c in order[own + 1 :] if name in vars(c)), None)
        return None

    def message(self, error: ast.expr, scope: _Scope) -> str | None:
        """Return the text of a raised exception if the exception is a refusal, else None."""
        if isinstance(error, ast.Name):
            is_refusal = isinstance(found := self.named_object(error, scope), type) and issubclass(found, ToolError)
            return "" if is_refusal else None
        if not isinstance(error, ast.Call):
            return None
        made = self.named_object(error.func, scope)
        if isinstance(made, type) and issubclass(made, ToolError):
            return template_of(self.substituted(error.args[0], scope)) if error.args else ""
        if (called := self.called(error, scope)) is not None:  # a function that creates the exception
            for node in ast.walk(definition(called.function)):
                if isinstance(node, ast.Return) and node.value is not None:
                    return self.message(node.value, called)
        return None

    def text(self, node: ast.AST, scope: _Scope) -> str:
        return " ".join(ast.unparse(self.substituted(node, scope)).split())

    def substituted(self, node: Any, scope: _Scope) -> Any:
        """Return a copy of a node in which arguments replace parameters and constants replace their names."""
        return ast.fix_missing_locations(Substituter(scope.bindings, scope.function.__globals__).visit(deepcopy(node)))


def _joined(conditions: Iterable[str]) -> str:
    """Join conditions with ``and``. After a loop header, which ends with a colon, ``and`` is omitted."""
    text = ""
    for condition in dict.fromkeys(conditions):
        text += f"{'' if not text else ' ' if text.endswith(':') else ' and '}{condition}"
    return text


def helpers_of(world: type[World], function: FunctionType) -> Iterator[FunctionType]:
    """Yield the functions of targets that a function calls directly."""
    reader, scope = _Reader(world), _Scope(function, {}, (), ())
    for node in ast.walk(definition(function)):
        if isinstance(node, ast.Call) and (called := reader.called(node, scope)) is not None:
            yield called.function


def is_refused_only(node: ast.stmt, world: type[World], function: FunctionType) -> bool:
    """Return whether a statement only refuses a call under a condition and has no other effect."""
    if isinstance(node, ast.For) and not node.orelse:
        return all(is_refused_only(part, world, function) for part in node.body)
    if not isinstance(node, ast.If) or node.orelse or any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)):
        return False
    reader, scope = _Reader(world), _Scope(function, {}, (), ())
    match node.body:
        case [ast.Raise(exc=ast.expr() as error)]:
            return reader.message(error, scope) is not None
    return False
