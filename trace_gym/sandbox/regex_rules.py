r"""Lint checks of regular expressions: patterns must be constant and must not cause excessive backtracking.

Each pattern is converted to an automaton with one state per character. Matching can take exponential time if some text
leads from a state back to itself on two paths, and polynomial time if the same text can pass through several successive
loops (Weideman et al., Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers, 2016). Patterns
with quadratic time, such as ``\s+$``, are common and allowed. The sandbox limits their running time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from trace_gym.sandbox import format_templates
from trace_gym.sandbox.regex_automaton import PLACEHOLDER, Automaton, UnsupportedPattern
from trace_gym.sandbox.scopes import NameContext
from trace_gym.statements import states_pattern

MAX_PATTERN = 300
FLAGS_AT = {
    "compile": 1,
    "findall": 2,
    "finditer": 2,
    "fullmatch": 2,
    "match": 2,
    "search": 2,
    "split": 3,
    "sub": 4,
    "subn": 4,
}
"""Mapping from each function of `re` to the index of its flags argument."""
KNOWN = int(re.A | re.I | re.M | re.S | re.U | re.X)
"""Flags that the automaton supports. Other flags, which are for bytes and for debugging, are rejected."""


def compiles(found: Any) -> bool:
    """Return whether an imported object is a function that takes or creates a pattern."""
    return found is states_pattern or (getattr(found, "__module__", "") == "re" and callable(found))


def pattern_call_errors(node: ast.Call, context: NameContext) -> Iterator[str]:
    """Yield the errors in the pattern that is passed to a function of `re` or to `states_pattern`."""
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "pattern")]
    texts = (
        constant_patterns(given[0], context)
        if given and not any(isinstance(a, ast.Starred) for a in node.args)
        else None
    )
    if texts is None:
        yield "the pattern is not a constant. Write a literal, and insert text with an f-string and re.escape"
        return
    flags = _flags_of(node, context)
    if flags is None:
        yield "the flags are not a constant. Write them as re.I | re.M"
        return
    for text in texts:
        if error := pattern_error(text, flags):
            yield f"{text[:60]!r} {error}"


def _flags_of(node: ast.Call, context: NameContext) -> int | None:
    """Return the flags of a call, or None if they are unknown."""
    if context.imported(node.func) is states_pattern:
        return 0
    if any(keyword.arg is None for keyword in node.keywords):
        return None
    at = FLAGS_AT.get(context.imported(node.func).__name__, 0)
    given = [*node.args[at : at + 1], *(k.value for k in node.keywords if k.arg == "flags")]
    if not at or len(given) > 1:
        return None
    flags = _constant_flags(given[0], context) if given else 0
    return None if flags is None or flags & ~KNOWN else flags


def _constant_flags(node: ast.expr, context: NameContext, known: dict[str, int | None] | None = None) -> int | None:
    """Return the value of a constant flags expression, or None if the expression is not constant."""
    known = {} if known is None else known
    match node:
        case ast.Constant(value=int() as number):
            return int(number)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            one, other = _constant_flags(left, context, known), _constant_flags(right, context, known)
            return None if one is None or other is None else one | other
        case ast.Name(id=name) if not context.local(name) and name in context.names.top_level:
            if name not in known:
                known[name] = None  # prevents infinite recursion if the name is defined in terms of itself
                value = context.names.constant(name)
                known[name] = None if value is None else _constant_flags(value, context, known)
            return known[name]
    found = context.imported(node)
    return int(found) if isinstance(found, re.RegexFlag) else None


def constant_patterns(node: ast.expr, context: NameContext) -> list[str] | None:
    """Return every pattern that an expression may evaluate to, or None if not all of them are known."""
    if not isinstance(node, ast.JoinedStr):
        return format_templates.templates(node, context)
    parts: list[str] = []
    for part in node.values:
        match part:
            case ast.Constant(value=str() as text):
                parts.append(text)
            case ast.FormattedValue(value=ast.Call(func=func), conversion=-1, format_spec=None) if (
                context.imported(func) is re.escape
            ):
                parts.append(PLACEHOLDER)
            case _:
                return None
    return ["".join(parts)]


def pattern_error(text: str, flags: int = 0) -> str:
    """Return the error of a pattern as a verb phrase, such as `"may take exponential time"`, or `""` if none."""
    if len(text) > MAX_PATTERN:
        return f"has {len(text)} characters, expected at most {MAX_PATTERN}"
    try:
        made = Automaton.of(text, flags)
        is_exponential, degree = made.is_exponential(), made.degree()
    except UnsupportedPattern as error:
        return str(error)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a valid pattern ({error})"
    if is_exponential:
        return "may take exponential time, because its repetitions can divide a text in several ways"
    if degree > 2:
        return "may take cubic time or longer, because several successive repetitions match the same text"
    return ""
