"""What the tools of a base world do, read from their code: signature, refusals, and the code that is not shown yet."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from types import FunctionType

from trace_gym.synthesize.evidence import signatures
from trace_gym.synthesize.refusals import Refusal, helpers_of, is_refused_only, method_of, refusals_of
from trace_gym.synthesize.substitution import definition
from trace_gym.targets.catalogue import Target
from trace_gym.world import World

LONGEST_HELPER = 600
"""Characters of a helper's code; of a longer one only the docstring is shown."""


@dataclass(frozen=True)
class Behavior:
    """What an author has to know of one tool."""

    name: str
    signature: str
    """Kind, name, parameters with types, and what it is for."""
    planned: bool
    """Whether the plan names it; its refusals are then shown with their conditions."""
    refusals: tuple[Refusal, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the refusals, each once."""
        return tuple(dict.fromkeys(r.says for r in self.refusals))


def behavior(target: Target, planned: Collection[str]) -> list[Behavior]:
    """Return what each tool of a target is for and what it refuses, those that are planned first.

    Args:
        target: Whose tools they are.
        planned: Names of the tools that the plan needs. If it names none of the target, all are planned.
    """
    world = target.world
    interface = world.interface()
    lines = dict(zip((str(t["function"]["name"]) for t in interface.tools), signatures(interface), strict=True))
    wanted = {*planned} & lines.keys() or lines.keys()
    made = [Behavior(name, line, name in wanted, tuple(refusals_of(world, name))) for name, line in lines.items()]
    return sorted(made, key=lambda tool: not tool.planned)


def code(target: Target, tools: Collection[Behavior]) -> str:
    """Return the code of the planned tools and their helpers, without refusals and what the target's sources hold."""
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
    """Return the helpers that the text of a function calls once its refusals are left out."""
    called = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    names = {
        n.attr if isinstance(n, ast.Attribute) else n.id for n in called if isinstance(n, (ast.Attribute, ast.Name))
    }
    yield from (helper for helper in helpers_of(world, function) if helper.__name__ in names)


def _source(world: type[World], function: FunctionType) -> str:
    """Return the code of a function without decorators and refusals; empty if it only refuses."""
    node = _stripped(function)
    first = ast.get_docstring(node)
    body = [part for part in node.body[first is not None :] if not is_refused_only(part, world, function)]
    if not body:
        return ""
    node.body = [*node.body[: first is not None], *body]
    return ast.unparse(node)


def _summary(function: FunctionType) -> str:
    """Return the first line of a function and of its docstring."""
    node = _stripped(function)
    node.body = [*node.body[: ast.get_docstring(node) is not None], ast.Expr(ast.Constant(...))]
    return ast.unparse(node)


def _stripped(function: FunctionType) -> ast.FunctionDef:
    """Return the tree of a function without decorators, and with the first line of its docstring."""
    node = definition(function)
    node.decorator_list = []
    if said := ast.get_docstring(node):
        node.body[0] = ast.Expr(ast.Constant(said.partition("\n")[0]))
    return node


def public_part(source: str) -> str:
    """Return the source of a module without its private functions and constants."""
    lines, tree = source.splitlines(), ast.parse(source)
    for node in reversed(tree.body):
        match node:
            case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                if name.startswith("_"):
                    del lines[node.lineno - 1 : node.end_lineno]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip()


def inherited_needs(place: Target, capability: str) -> str:
    """Return which `needs` a module inherits, and whether it knows the capability."""
    owner = next(c for c in place.world.__mro__ if "needs" in vars(c))
    method = vars(owner)["needs"]
    summary = (inspect.getdoc(method) or "").partition("\n")[0]
    told = f'`{owner.__name__}.needs` ("{summary}")'
    known = method.__globals__.get("SKILLS")
    if known is None or capability in known:
        return told
    return f"{told}, which knows {', '.join(sorted(known))} only, and not {capability}: override it"
