"""A JSON object or a Python module out of an answer: with prose around it, in code fences, or cut off.

What was cut off or is malformed is an error and never read in part: an inner object of a torn answer would look
like an answer.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any, NoReturn

from trace_gym.errors import ModelError

PYTHON = {"python", "py", "python3"}
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*$", re.MULTILINE)
_BEGINS_JSON = re.compile(r"""\{\s*(["']|//|/\*|\w+\s*:)|\[\s*\{""")
"""What is meant as JSON, well or badly; other braces are prose."""
_QUIET = Lock()
"""Filters of warnings are of the whole process, and would mix between threads."""
_STATEMENTS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


def json_in(text: str) -> dict[str, Any]:
    """The JSON object of an answer: the last one, in ``json`` fences if there are any.

    Raises:
        ModelError: There is none, or it is cut off or malformed; says where.
    """
    return objects_in(text)[-1]


def objects_in(text: str) -> list[dict[str, Any]]:
    """Every outermost JSON object of an answer, in order: those in ``json`` fences, or anywhere if there are none.

    Raises:
        ModelError: There is none, or the last is cut off or malformed.
    """
    spoken = _spoken(text)
    blocks = [b.text for b in _blocks(spoken) if b.language == "json"] or [spoken]
    found: list[Any] = []
    for number, block in enumerate(blocks, 1):
        try:
            found += _values(block)
        except ModelError:
            if number == len(blocks):
                raise
    objects = [value for value in found if isinstance(value, dict)]
    if not objects:
        array = ", but an array" if any(isinstance(v, list) and v and isinstance(v[0], dict) for v in found) else ""
        raise ModelError(f"it holds no JSON object{array}: {_excerpt(spoken)}")
    return objects


def code_in(text: str) -> str:
    """The Python module of an answer: the whole text where it is Python, or else the longest fenced block of it.

    Whether the block compiles is not asked. It ends with one line break.

    Raises:
        ModelError: There is none, or it is cut off.
    """
    spoken = _spoken(text)
    if _is_code(spoken):
        return spoken.strip("\n") + "\n"
    blocks = list(_blocks(spoken))
    python = [b for b in blocks if b.language in PYTHON]
    python = python or [b for b in blocks if not b.language and (_is_code(b.text) or not b.closed)]
    if not python:
        raise ModelError(f"it holds no Python block: {_excerpt(spoken)}")
    if not python[-1].closed:
        raise ModelError(f"its Python block is cut off: it ends with {_excerpt(spoken[-80:])}")
    longest = max(python, key=lambda b: len(b.text))
    return longest.text.strip("\n") + "\n"


@dataclass(frozen=True)
class _Block:
    """What stands between two fences, or between a fence and the end of the text."""

    language: str
    text: str
    closed: bool


def _spoken(text: str) -> str:
    """The answer without the reasoning that some models put before it."""
    _, thought, answer = text.replace("\r\n", "\n").partition("</think>")
    return (answer if thought else text.replace("\r\n", "\n")).strip()


def _blocks(text: str) -> Iterator[_Block]:
    fences = list(_FENCE.finditer(text))
    while fences:
        opening, *fences = fences
        mark, language = opening[1], opening[2].lower()
        ends = [n for n, f in enumerate(fences) if f[1].startswith(mark) and f[0].strip() == f[1]]
        inside = [textwrap.dedent(text[opening.end() + 1 : fences[n].start()]) for n in ends]
        if not ends:
            yield _Block(language, textwrap.dedent(text[opening.end() + 1 :]), closed=False)
            return
        # A module may hold a fence of its own, in a docstring: the first end at which it is Python is the end.
        at = next((n for n, t in enumerate(inside) if _is_code(t)), 0) if language in PYTHON | {""} else 0
        yield _Block(language, inside[at], closed=True)
        fences = fences[ends[at] + 1 :]


def _is_code(text: str) -> bool:
    """Whether it compiles and does something; a word of prose compiles too."""
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in its strings
            return any(isinstance(node, _STATEMENTS) for node in ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _values(text: str) -> Iterator[Any]:
    """The outermost JSON objects and arrays in a text; braces of prose are passed over."""
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_number)  # line breaks in strings are a small sin
    at = 0
    while begin := re.compile(r"[{\[]").search(text, at):
        at = begin.start()
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if _BEGINS_JSON.match(text, at):
                raise ModelError(_fault(text, error)) from None
            at += 1
        except (RecursionError, ValueError) as error:
            raise ModelError(f"its JSON cannot be read: {error}") from None
        else:
            yield value


def _fault(text: str, error: json.JSONDecodeError) -> str:
    rest = text[error.pos :].strip()
    if not rest or rest.startswith("```") or error.msg.startswith("Unterminated string"):
        return f"its JSON is cut off: it ends with {_excerpt(text.rstrip('`~ ' + chr(10))[-80:])}"
    return f"its JSON is malformed: {error.msg} in line {error.lineno}, at {_excerpt(text[max(error.pos - 20, 0) :])}"


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _excerpt(text: str, width: int = 80) -> str:
    """The beginning of a text, on one line, quoted."""
    return repr(" ".join(text.split())[:width])
