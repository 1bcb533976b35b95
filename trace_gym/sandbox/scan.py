"""The static gate: what can be seen to be wrong with a module that a language model wrote, without running it.

Everything that is not allowed is a fault, so that what nobody thought of is refused. The gate does not prove a module
harmless: the sandbox (`trace_gym.sandbox.confine`) runs what passes it.
"""

from __future__ import annotations

import ast
import io
import tokenize
import unicodedata
import warnings
from collections.abc import Iterator, Sequence

from trace_gym.sandbox.literals import plain_faults
from trace_gym.sandbox.names import TARGET_IMPORTS, names_of
from trace_gym.sandbox.rules import MAX_CHARACTERS, MAX_FAULTS, MAX_LINES, MAX_NESTING, Fault
from trace_gym.sandbox.statements import Statements


def scan(text: str, *, target_imports: Sequence[str] = TARGET_IMPORTS) -> list[Fault]:
    """The faults of a module, in the order of its lines; none when it obeys `RULES`.

    Nothing of the module is run. Modules of `target_imports` are imported, to see what they offer.

    Args:
        text: The module.
        target_imports: Full names of the target's modules that it may import from.
    """
    faults = list(_text_faults(text))
    if not faults:
        tree = _parsed(text)
        faults = [tree] if isinstance(tree, Fault) else list(_tree_faults(tree, target_imports))
    return sorted(set(faults))[:MAX_FAULTS]


def _text_faults(text: str) -> Iterator[Fault]:
    """Size and encoding, before anything is parsed."""
    count = text.count("\n") + 1
    if count > MAX_LINES or len(text) > MAX_CHARACTERS:
        yield Fault(1, "size", f"{count} lines and {len(text)} characters; at most {MAX_LINES} and {MAX_CHARACTERS}")
        return
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if wrong := next((c for c in line if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") and c != "\t"), ""):
            yield Fault(number, "encoding", f"the invisible character U+{ord(wrong):04X}")
            return
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(text.encode()).readline)
    except SyntaxError as error:
        yield Fault(1, "encoding", str(error))
        return
    if declared != "utf-8":
        yield Fault(1, "encoding", f"the module declares {declared}; leave the declaration out")


def _parsed(text: str) -> ast.Module | Fault:
    """The tree that would run, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape is for ruff to complain of
            compile(text.encode(), "<module>", "exec", dont_inherit=True)
            return ast.parse(text.encode())
    except SyntaxError as error:
        return Fault(error.lineno or 1, "syntax", f"it does not compile: {error.msg}")
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return Fault(1, "syntax", f"it does not compile: {type(error).__name__}: {error}")


def _tree_faults(tree: ast.Module, target_imports: Sequence[str]) -> Iterator[Fault]:
    if (depth := _depth(tree)) > MAX_NESTING:
        yield Fault(1, "size", f"nested {depth} levels deep; at most {MAX_NESTING}")
        return
    yield from plain_faults(tree)
    names = names_of(tree, target_imports)
    yield from names.faults
    visitor = Statements(tree, names)
    try:
        visitor.visit(tree)
    except RecursionError:
        yield Fault(1, "size", "names lead to one another in too long a chain; use fewer names")
    yield from visitor.faults


def _depth(tree: ast.AST) -> int:
    depth, layer = 0, [tree]
    while layer:
        depth, layer = depth + 1, [child for node in layer for child in ast.iter_child_nodes(node)]
    return depth
