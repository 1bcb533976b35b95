"""Descriptions of a base world's tools for prompts, derived from their code: signatures, refusals, and source code.

A refusal is the error message that a tool returns when it rejects a call.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from types import FunctionType

from trace_gym.parsing import parse_python
from trace_gym.prompts.evidence import signatures
from trace_gym.synthesis.refusals import Refusal, helpers_of, is_refused_only, method_of, refusals_of
from trace_gym.synthesis.substitution import definition
from trace_gym.targets.base import Target
from trace_gym.world import World

LONGEST_HELPER = 600
"""Maximum number of characters of a helper function in a prompt. For longer helpers, only the docstring is shown."""


@dataclass(frozen=True)
class Behavior:
    """Signature and refusals of one tool."""

    name: str
    signature: str
    """One line with the kind, name, typed parameters, and purpose of the tool."""
    planned: bool
    """True if the environment's plan contains the tool. Prompts show conditions of refusals only for such tools."""
    refusals: tuple[Refusal, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Distinct error messages of the refusals."""
        return tuple(dict.fromkeys(r.message for r in self.refusals))


def behavior(target: Target, planned: Collection[str]) -> list[Behavior]:
    """Return the signature and the refusals of each tool of a target, planned tools first.

    Args:
        target: Target that has the tools.
        planned: Names of the tools in the plan of the environment. If none of them is a tool of the target, all tools
            count as planned.
    """
    world = target.world
    interface = world.interface()
    lines = dict(zip((str(t["function"]["name"]) for t in interface.tools), signatures(interface), strict=True))
    wanted = {*planned} & lines.keys() or lines.keys()
    made = [Behavior(name, line, name in wanted, tuple(refusals_of(world, name))) for name, line in lines.items()]
    return sorted(made, key=lambda tool: not tool.planned)


def code(target: Target, tools: Collection[Behavior]) -> str:
    """Return the code of the planned tools and their helpers.

    Refusals are omitted. Functions of modules in `target.sources` are omitted as well, because prompts contain these
    modules in full.
    """
    world, shown = target.world, target.sources.keys()
    waiting = [(method_of(world, tool.name), False) for tool in tools if tool.planned]
    found: dict[FunctionType, str] = {}
    while waiting:
        function, is_helper = waiting.pop(0)
        if function in found or function.__module__ in shown:
            continue
        found[function] = _source(world, function)
        if is_helper and len(found[function]) > LONGEST_HELPER:
            found[function] = _summary(function)
        else:
            waiting += ((helper, True) for helper in _still_called(world, function, found[function]))
    return "\n\n".join(filter(None, found.values()))


def _still_called(world: type[World], function: FunctionType, text: str) -> Iterator[FunctionType]:
    """Yield the helpers that a function calls in `text`, which is the code of the function without its refusals."""
    called = (node.func for node in ast.walk(parse_python(text)) if isinstance(node, ast.Call))
    names = {
        n.attr if isinstance(n, ast.Attribute) else n.id for n in called if isinstance(n, (ast.Attribute, ast.Name))
    }
    yield from (helper for helper in helpers_of(world, function) if helper.__name__ in names)


def _source(world: type[World], function: FunctionType) -> str:
    """Return the code of a function without decorators and refusals; empty if nothing else remains."""
    node = _stripped(function)
    first = ast.get_docstring(node)
    body = [part for part in node.body[first is not None :] if not is_refused_only(part, world, function)]
    if not body:
        return ""
    node.body = [*node.body[: first is not None], *body]
    return ast.unparse(node)


def _summary(function: FunctionType) -> str:
    """Return the signature of a function and the first line of its docstring."""
    node = _stripped(function)
    node.body = [*node.body[: ast.get_docstring(node) is not None], ast.Expr(ast.Constant(...))]
    return ast.unparse(node)


def _stripped(function: FunctionType) -> ast.FunctionDef:
    """Return the syntax tree of a function without decorators and with only the first line of its docstring."""
    node = definition(function)
    node.decorator_list = []
    if docstring := ast.get_docstring(node):
        node.body[0] = ast.Expr(ast.Constant(docstring.partition("\n")[0]))
    return node


def public_part(source: str) -> str:
    """Return the source of a module without its private functions and constants."""
    lines, tree = source.splitlines(), parse_python(source)
    for node in reversed(tree.body):
        match node:
            case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                if name.startswith("_"):
                    del lines[node.lineno - 1 : node.end_lineno]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip()


def inherited_needs(target: Target, capability: str) -> str:
    """Describe the `needs` method that a module inherits, and state whether it supports the capability."""
    owner = next(c for c in target.world.__mro__ if "needs" in vars(c))
    method = vars(owner)["needs"]
    summary = (inspect.getdoc(method) or "").partition("\n")[0]
    inherited = f'`{owner.__name__}.needs` ("{summary}")'
    known = method.__globals__.get("SKILLS")
    if known is None or capability in known:
        return inherited
    return f"{inherited}, which supports only {', '.join(sorted(known))} and not {capability}: override it"
