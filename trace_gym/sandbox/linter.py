"""Linter for modules that a language model wrote. It finds forbidden code without running the module.

The linter rejects everything that is not explicitly allowed. This does not prove that a module is harmless, so modules
without violations still run in the sandbox (`trace_gym.sandbox.sandbox`).
"""

from __future__ import annotations

import ast
import io
import tokenize
import unicodedata
import warnings
from collections.abc import Iterator, Sequence

from trace_gym.parsing import parse_python
from trace_gym.sandbox.lint_rules import MAX_CHARACTERS, MAX_LINES, MAX_NESTING, MAX_VIOLATIONS, LintViolation
from trace_gym.sandbox.module_names import collect_names
from trace_gym.sandbox.node_rules import node_violations
from trace_gym.sandbox.statement_rules import Statements
from trace_gym.targets.catalogue import importable_modules


def lint(text: str, *, target_imports: Sequence[str] | None = None) -> list[LintViolation]:
    """Return the violations of a module in line order, or an empty list if the module follows `RULES`.

    The module is not run. The modules in `target_imports` are imported to read their public names.

    Args:
        text: Source text of the module.
        target_imports: Full names of the target modules that the module may import; None for those of all registered
            targets.
    """
    violations = list(_text_violations(text))
    if not violations:
        allowed_modules = importable_modules() if target_imports is None else target_imports
        tree = _parsed(text)
        violations = [tree] if isinstance(tree, LintViolation) else list(_tree_violations(tree, allowed_modules))
    return sorted(set(violations))[:MAX_VIOLATIONS]


def _text_violations(text: str) -> Iterator[LintViolation]:
    """Yield violations of the rules for size and encoding, which are checked before the text is parsed."""
    count = text.count("\n") + 1
    if count > MAX_LINES or len(text) > MAX_CHARACTERS:
        yield LintViolation(
            1,
            "size",
            f"found {count} lines and {len(text)} characters, expected at most {MAX_LINES} and {MAX_CHARACTERS}",
        )
        return
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if wrong := next((c for c in line if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co") and c != "\t"), ""):
            yield LintViolation(number, "encoding", f"found the invisible character U+{ord(wrong):04X}. Delete it")
            return
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(text.encode()).readline)
    except SyntaxError as error:
        yield LintViolation(1, "encoding", str(error))
        return
    if declared != "utf-8":
        yield LintViolation(
            1, "encoding", f"found the encoding {declared}, expected utf-8. Delete the encoding declaration"
        )


def _parsed(text: str) -> ast.Module | LintViolation:
    """Return the syntax tree of a module, or a violation if the module does not compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escape sequences are not lint violations
            compile(text.encode(), "<module>", "exec", dont_inherit=True)
            return parse_python(text.encode())
    except SyntaxError as error:
        return LintViolation(error.lineno or 1, "syntax", f"the module does not compile: {error.msg}")
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return LintViolation(1, "syntax", f"the module does not compile: {type(error).__name__}: {error}")


def _tree_violations(tree: ast.Module, target_imports: Sequence[str]) -> Iterator[LintViolation]:
    if (depth := _depth(tree)) > MAX_NESTING:
        yield LintViolation(1, "size", f"found code nested {depth} levels deep, expected at most {MAX_NESTING}")
        return
    yield from node_violations(tree)
    names = collect_names(tree, target_imports)
    yield from names.violations
    visitor = Statements(tree, names)
    try:
        visitor.visit(tree)
    except RecursionError:
        yield LintViolation(1, "size", "definitions refer to each other in a chain that is too long. Use fewer names")
    yield from visitor.violations


def _depth(tree: ast.AST) -> int:
    depth, layer = 0, [tree]
    while layer:
        depth, layer = depth + 1, [child for node in layer for child in ast.iter_child_nodes(node)]
    return depth
