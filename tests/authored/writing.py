"""From a mutant, a class that overrides a healthy one, to the text of a module that has the fault and imports neither.

What a mutant overrides stays in the class under another name, and its `super()` is that name.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from trace_gym import world
from trace_gym.world import World

HEALTHY = "healthy_"
"""Text before the names of methods that are overridden."""
OURS = ("mutants", "authored", "trace_gym.generated_envs")
"""Modules of the mutants and of the classes that they override; a module of an author imports from none of these."""


@cache
def written_out(mutant: type[World]) -> str:
    """The module of a mutant."""
    chain = [c for c in mutant.__mro__ if c.__module__.startswith(OURS)]
    files = [_File.of(c.__module__) for c in chain]
    merged = _merged(chain, mutant)
    nodes = _needed(merged, files, {c.__name__ for c in chain})
    return ast.unparse(ast.fix_missing_locations(ast.Module([*nodes, merged], [])))


def _merged(chain: list[type[World]], mutant: type[World]) -> ast.ClassDef:
    """One class for a class and its ancestors, the nearest first."""
    *derived, made = [_class(c) for c in chain]
    for node in reversed(derived):
        for line in node.body:
            _override(made, line)
    made.name = chain[-1].__name__
    for name, value in (("id", mutant.id), ("capability", mutant.capability)):
        _override(made, ast.parse(f"{name} = {value!r}").body[0])
    others = {c.__name__ for c in chain}
    for part in ast.walk(made):
        if isinstance(part, ast.Name) and part.id in others:
            part.id = made.name
    return made


def _class(world: type[World]) -> ast.ClassDef:
    node = copy.deepcopy(_File.of(world.__module__).nodes[world.__name__])
    assert isinstance(node, ast.ClassDef)
    node.body = [line for statement in node.body for line in _apart(statement)]
    return node


def _apart(line: ast.stmt) -> Iterator[ast.stmt]:
    """``a, b = 1, 2`` as two lines; what is said of a mutant and is no part of it is left out."""
    lines = [line]
    if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Tuple) and isinstance(line.value, ast.Tuple):
        pairs = zip(line.targets[0].elts, line.value.elts, strict=True)
        lines = [ast.Assign([target], value) for target, value in pairs]
    yield from (part for part in lines if _name(part) not in ("rejected_by", "given", "fault"))


def _override(made: ast.ClassDef, line: ast.stmt) -> None:
    """Put a line of a derived class into the class that it overrides."""
    name = _name(line)
    if not name:  # a docstring, which is the policy that agents read
        made.body[0] = line
        return
    old = next((n for n in made.body if _name(n) == name), None)
    if old is None:
        made.body.append(line)
    elif isinstance(line, ast.FunctionDef) and isinstance(old, ast.FunctionDef):
        if _told_apart(line, name):
            old.name = HEALTHY + name
            old.decorator_list = [d for d in old.decorator_list if not ast.unparse(d).startswith("tool")]
            made.body.append(line)
        else:
            made.body[made.body.index(old)] = line
    else:
        made.body[made.body.index(old)] = line


def _told_apart(method: ast.FunctionDef, name: str) -> bool:
    """Point ``super().name`` at what was overridden; whether there was one."""
    first = method.args.args[0].arg if method.args.args else ""
    found = False
    for part in ast.walk(method):
        if isinstance(part, ast.Attribute) and ast.unparse(part.value) == "super()" and part.attr == name:
            part.value, part.attr, found = ast.Name(first, ast.Load()), HEALTHY + name, True
    return found


def _name(line: ast.stmt) -> str:
    if isinstance(line, (ast.FunctionDef, ast.ClassDef)):
        return line.name
    target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
    return target.id if isinstance(target, ast.Name) else ""


@dataclass
class _File:
    """Statements at the top of a module, by name."""

    nodes: dict[str, ast.stmt] = field(default_factory=dict)

    @classmethod
    def of(cls, module: str) -> _File:
        made = cls()
        for node in ast.parse(_path(module).read_text()).body:
            made.nodes |= dict.fromkeys(_bound(node), node)
        return made


def _path(module: str) -> Path:
    """The file of a module, wherever what goes by its name now was loaded from."""
    tests, name = Path(__file__).resolve().parents[1], module.removeprefix("trace_gym.")
    return (tests if name == module else tests.parent) / f"{name.replace('.', '/')}.py"


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith(OURS):
        return []
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(a.asname or a.name).partition(".")[0] for a in node.names]
    if isinstance(node, ast.Assign):
        return [n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)]
    return [_name(node)] if _name(node) else []


def _needed(made: ast.ClassDef, files: Iterable[_File], own: set[str]) -> list[ast.stmt]:
    """The imports, constants, functions and classes that a class rests on, imports first."""
    found: dict[int, tuple[int, int, ast.stmt]] = {}
    imports: set[str] = set()
    asked, seen = [made], {made.name}
    while asked:
        for name in sorted(_used(asked.pop()) - seen - own):
            seen.add(name)
            for place, file in enumerate(files):
                node = file.nodes.get(name)
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    imports.add(_import(node, name))
                elif node is not None:
                    found[id(node)] = (-place, node.lineno, node)
                    asked.append(node)  # type: ignore[arg-type]  # what uses names
                if node is not None:
                    break
    return [
        *ast.parse("\n".join(sorted(imports))).body,
        *(n for _, _, n in sorted(found.values(), key=lambda f: f[:2])),
    ]


def _used(node: ast.AST) -> set[str]:
    words = (p.value for p in ast.walk(node) if isinstance(p, ast.Constant) and isinstance(p.value, str))
    quoted = (word for word in words if word.isidentifier())  # such as a type in quotes
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {*quoted}


def _import(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """The line that imports one name, from where environments import it."""
    [alias] = [a for a in node.names if (a.asname or a.name).partition(".")[0] == name]
    renamed = f" as {alias.asname}" if alias.asname else ""
    if isinstance(node, ast.Import):
        return f"import {alias.name}{renamed}"
    module = "trace_gym.world" if alias.name in world.__all__ else node.module
    return f"from {module} import {alias.name}{renamed}"
