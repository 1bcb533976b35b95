r"""Regular expressions: constants, and none whose backtracking runs for ages.

A pattern is read as an automaton with one state for each character that it matches. Matching takes exponential time
where some text leads from a state back to it in two ways, and time of a power where loops follow one another that
some text leads through (Weideman et al., Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers,
2016). Quadratic patterns such as ``\s+$`` are common and pass; the sandbox bounds what they cost.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from trace_gym.sandbox import formats
from trace_gym.sandbox.automaton import FILLED, Automaton, Unreadable
from trace_gym.sandbox.scopes import Where
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
"""The position at which each function of `re` takes flags."""
KNOWN = int(re.A | re.I | re.M | re.S | re.U | re.X)
"""Flags that the automaton accounts for; the others are for bytes and for debugging."""


def compiles(found: Any) -> bool:
    """Whether what was imported compiles a pattern that it is called with, or makes the text of one."""
    return found is states_pattern or (getattr(found, "__module__", "") == "re" and callable(found))


def call_faults(node: ast.Call, where: Where) -> Iterator[str]:
    """What is wrong with the pattern that a function of `re`, or `states_pattern`, is called with."""
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "pattern")]
    texts = (
        constant_patterns(given[0], where) if given and not any(isinstance(a, ast.Starred) for a in node.args) else None
    )
    if texts is None:
        yield "the pattern is no constant; write it out, and fill in texts with an f-string and re.escape"
        return
    flags = _flags_of(node, where)
    if flags is None:
        yield "the flags are no constant; write them out, such as re.I | re.M"
        return
    for text in texts:
        if wrong := pattern_fault(text, flags):
            yield f"{text[:60]!r} {wrong}"


def _flags_of(node: ast.Call, where: Where) -> int | None:
    """The flags that a function is called with; None where they cannot be read."""
    if where.resolve(node.func) is states_pattern:
        return 0
    if any(keyword.arg is None for keyword in node.keywords):
        return None
    at = FLAGS_AT.get(where.resolve(node.func).__name__, 0)
    given = [*node.args[at : at + 1], *(k.value for k in node.keywords if k.arg == "flags")]
    if not at or len(given) > 1:
        return None
    flags = _constant_flags(given[0], where) if given else 0
    return None if flags is None or flags & ~KNOWN else flags


def _constant_flags(node: ast.expr, where: Where, known: dict[str, int | None] | None = None) -> int | None:
    """The number that an expression of flags comes to: a number, a flag by its name, a constant, or several with |."""
    known = {} if known is None else known
    match node:
        case ast.Constant(value=int() as number):
            return int(number)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            one, other = _constant_flags(left, where, known), _constant_flags(right, where, known)
            return None if one is None or other is None else one | other
        case ast.Name(id=name) if not where.local(name) and name in where.names.top:
            if name not in known:
                known[name] = None  # of a name that leads back to itself
                value = where.names.constant(name)
                known[name] = None if value is None else _constant_flags(value, where, known)
            return known[name]
    found = where.resolve(node)
    return int(found) if isinstance(found, re.RegexFlag) else None


def constant_patterns(node: ast.expr, where: Where) -> list[str] | None:
    """Every pattern that an expression may come to; None where that cannot be said."""
    if not isinstance(node, ast.JoinedStr):
        return formats.templates(node, where)
    parts: list[str] = []
    for part in node.values:
        match part:
            case ast.Constant(value=str() as text):
                parts.append(text)
            case ast.FormattedValue(value=ast.Call(func=func), conversion=-1, format_spec=None) if (
                where.resolve(func) is re.escape
            ):
                parts.append(FILLED)
            case _:
                return None
    return ["".join(parts)]


def pattern_fault(text: str, flags: int = 0) -> str:
    """What is wrong with a pattern, in the words that follow it; empty where nothing is."""
    if len(text) > MAX_PATTERN:
        return f"has {len(text)} characters; at most {MAX_PATTERN}"
    try:
        made = Automaton.of(text, flags)
        exponential, degree = made.exponential(), made.degree()
    except Unreadable as error:
        return str(error)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no pattern ({error})"
    if exponential:
        return "may take exponential time: a text can be split among its repetitions in several ways"
    if degree > 2:
        return "may take cubic time or worse: several repetitions in a row match the same text"
    return ""
