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

from trace_gym.sandbox import formats
from trace_gym.sandbox.automaton import Automaton, Unreadable
from trace_gym.sandbox.scopes import Where

MAX_PATTERN = 300
FILLED = "x"
"""What stands for a text that re.escape fills in."""
_FLAGS = {"I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "X", "VERBOSE", "A", "ASCII"}


def call_faults(node: ast.Call, where: Where) -> Iterator[str]:
    """What is wrong with the pattern that a function of `re` is called with."""
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "pattern")]
    texts = (
        constant_patterns(given[0], where) if given and not any(isinstance(a, ast.Starred) for a in node.args) else None
    )
    if texts is None:
        yield "the pattern is no constant; write it out, and fill in texts with an f-string and re.escape"
        return
    verbose = any(isinstance(n, ast.Attribute) and n.attr in ("X", "VERBOSE") for n in ast.walk(node))
    for text in texts:
        if wrong := pattern_fault(text, re.VERBOSE if verbose else 0):
            yield f"{text[:60]!r} {wrong}"


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
    except Unreadable as error:
        return str(error)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no pattern ({error})"
    if made.exponential():
        return "may take exponential time: a text can be split among its repetitions in several ways"
    if made.degree() > 2:
        return "may take cubic time or worse: several repetitions in a row match the same text"
    return ""
