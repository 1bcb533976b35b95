"""Application of partial answers of a language model, which contain only the changed parts of a module."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from trace_gym.parsing import parse_python
from trace_gym.synthesis.slots import SourceLines

MARK = "# changes only"
"""First line of an answer that contains only the changed parts of a module."""
INDENT = "    "


@dataclass(frozen=True)
class _Part:
    """A statement with its comments and decorators."""

    names: frozenset[str]
    """Names that the statement defines. The statement replaces existing statements that define any of these names."""
    rows: tuple[str, ...]
    margin: str
    """Indentation of the block. Each row begins with this text, except for rows inside a multi-line string."""
    method: bool = False
    """True if the statement is a function whose first parameter is ``self`` or ``cls``."""

    def at(self, margin: str) -> str:
        """Return the text of the statement with a different indentation of the block."""
        return "\n".join(
            margin + row.removeprefix(self.margin) if row.strip() and row.startswith(self.margin) else row
            for row in self.rows
        )


@dataclass(frozen=True)
class _Module:
    imports: tuple[str, ...]
    before: tuple[_Part, ...]
    head: str
    """First line of the world's class; empty if the module does not define the class."""
    members: tuple[_Part, ...]


def is_changeable(text: str, name: str) -> bool:
    """Return whether a module is valid Python and defines the world's class, so that partial answers can be applied."""
    return (found := _module(text, name)) is not None and bool(found.head)


def with_changes(text: str, answer: str, name: str, required: Collection[str]) -> str:
    """Return the module that results from an answer, which is either a whole module or contains only changed parts.

    An answer that begins with `MARK` or lacks a required method contains only changed parts. Each of its statements
    replaces the statement with the same name in the module, or is added to the module. A function whose first parameter
    is ``self`` or ``cls`` becomes a method of the class, even if the answer defines it outside the class.

    Args:
        text: Current module.
        answer: Python code that the language model returned.
        name: Name of the world's class.
        required: Methods that a whole module must define.
    """
    old, new = _module(text, name), _module(answer, name)
    if old is None or new is None or not old.head:
        return answer
    defined = {name for part in new.members for name in part.names}
    if not answer.lstrip().lower().startswith(MARK) and defined.issuperset(required):
        return answer
    outside = [part for part in new.before if not part.method]
    members = [*(part for part in new.before if part.method), *new.members]
    return _joined(new.imports, _merged(old.before, outside), old.head, _merged(old.members, members))


def _module(text: str, name: str) -> _Module | None:
    """Return the parts of a module, or None if the module cannot be parsed."""
    try:
        tree = parse_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = SourceLines(text)
    world = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
    imported = [n for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
    others = [n for n in tree.body if n is not world and n not in imported]
    return _Module(
        imports=tuple(map(lines.of, imported)),
        before=tuple(_parts(others, lines)),
        head=lines.rows[world.lineno - 1] if world else "",
        members=tuple(_parts(world.body, lines)) if world else (),
    )


def _parts(body: Sequence[ast.stmt], lines: SourceLines) -> Iterator[_Part]:
    """Yield the statements of a block, except for docstrings and ``pass``."""
    for node in body:
        if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        arguments = node.args.args if isinstance(node, ast.FunctionDef) else []
        yield _Part(
            names=_names(node),
            rows=tuple(lines.of(node).split("\n")),
            margin=lines.rows[node.lineno - 1][: node.col_offset],
            method=bool(arguments) and arguments[0].arg in ("self", "cls"),
        )


def _names(node: ast.stmt) -> frozenset[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return frozenset({name})
        case ast.Assign(targets=targets):
            return frozenset(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            return frozenset({name})
    return frozenset()


def _merged(old: Sequence[_Part], new: Sequence[_Part]) -> list[_Part]:
    """Return the old parts after each new part has replaced the old part that defines the same names.

    A new part without an old counterpart is inserted before the next new part that has a counterpart, or at the end.
    """
    result, waiting = list(old), list[_Part]()
    for part in new:
        waiting.append(part)
        places = [n for n, known in enumerate(result) if known.names & part.names]
        if places:
            kept = [known for known in result[places[0] :] if not known.names & part.names]
            result[places[0] :] = [*waiting, *kept]
            waiting = []
    return [*result, *waiting]


def _joined(imports: Sequence[str], before: Sequence[_Part], head: str, members: Sequence[_Part]) -> str:
    world = [head, *(part.at(INDENT) for part in members)]
    return "\n\n".join([*imports, *(part.at("") for part in before), *world]) + "\n"
