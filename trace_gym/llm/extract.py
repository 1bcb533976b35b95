"""Extraction of a JSON object or a Python module from a model's answer, which may contain prose and code fences.

A truncated or malformed answer is an error. It is never parsed in part, because an inner object of a truncated answer
could be mistaken for the whole answer.
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
from trace_gym.parsing import parse_python

PYTHON = {"python", "py", "python3"}
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*$", re.MULTILINE)
_BEGINS_JSON = re.compile(r"""\{\s*(["']|//|/\*|\w+\s*:)|\[\s*\{""")
"""Pattern of the beginning of JSON, even if it is malformed. Other braces and brackets are treated as prose."""
_QUIET = Lock()
"""Lock for warning filters, which apply to the whole process and are not thread-safe."""
_STATEMENTS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


def json_in(text: str) -> dict[str, Any]:
    """Return the last JSON object of an answer. If the answer has ``json`` code fences, only their content is searched.

    Raises:
        ModelError: The answer contains no JSON object, or the object is truncated or malformed.
    """
    return objects_in(text)[-1]


def objects_in(text: str) -> list[dict[str, Any]]:
    """Return the outermost JSON objects of an answer in order.

    If the answer has ``json`` code fences, only their content is searched.

    Raises:
        ModelError: The answer contains no JSON object, or the last object is truncated or malformed.
    """
    answer_text = _without_reasoning(text)
    blocks = [b.text for b in _blocks(answer_text) if b.language == "json"] or [answer_text]
    found: list[Any] = []
    for number, block in enumerate(blocks, 1):
        try:
            found += _values(block)
        except ModelError:
            if number == len(blocks):
                raise
    objects = [value for value in found if isinstance(value, dict)]
    if not objects:
        array = ", only an array" if any(isinstance(v, list) and v and isinstance(v[0], dict) for v in found) else ""
        raise ModelError(f"the answer does not contain a JSON object{array}: found {_excerpt(answer_text)}")
    return objects


def code_in(text: str) -> str:
    """Return the Python code of an answer: the whole text if it is Python, or else the longest Python block.

    The returned code ends with one line break. The block may contain syntax errors.

    Raises:
        ModelError: The answer contains no Python block, or the last block is truncated.
    """
    answer_text = _without_reasoning(text)
    if _is_code(answer_text):
        return answer_text.strip("\n") + "\n"
    blocks = list(_blocks(answer_text))
    python = [b for b in blocks if b.language in PYTHON]
    python = python or [b for b in blocks if not b.language and (_is_code(b.text) or not b.closed)]
    if not python:
        raise ModelError(f"the answer does not contain a Python code block: found {_excerpt(answer_text)}")
    if not python[-1].closed:
        raise ModelError(f"the Python code block in the answer is cut off: it ends with {_excerpt(answer_text[-80:])}")
    longest = max(python, key=lambda b: len(b.text))
    return longest.text.strip("\n") + "\n"


@dataclass(frozen=True)
class _Block:
    """Text between two fences, or between a fence and the end of the answer."""

    language: str
    text: str
    closed: bool


def _without_reasoning(text: str) -> str:
    """Return the answer without the reasoning that some models put in front of it."""
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
        # A docstring in the module may contain a fence. So the block ends at the first fence after valid Python code.
        at = next((n for n, t in enumerate(inside) if _is_code(t)), 0) if language in PYTHON | {""} else 0
        yield _Block(language, inside[at], closed=True)
        fences = fences[ends[at] + 1 :]


def _is_code(text: str) -> bool:
    """Return whether a text is Python code with a definition, import or assignment.

    This condition is necessary because a single word of prose is also valid Python.
    """
    try:
        with _QUIET, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about invalid escape sequences in strings
            return any(isinstance(node, _STATEMENTS) for node in parse_python(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _values(text: str) -> Iterator[Any]:
    """Yield the outermost JSON objects and arrays in a text. Braces in prose are skipped."""
    decoder = json.JSONDecoder(strict=False, parse_constant=_no_number)  # allows line breaks in strings
    at = 0
    while begin := re.compile(r"[{\[]").search(text, at):
        at = begin.start()
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            if _BEGINS_JSON.match(text, at):
                raise ModelError(_error_message(text, error)) from None
            at += 1
        except (RecursionError, ValueError) as error:
            raise ModelError(f"the JSON in the answer cannot be parsed: {error}") from None
        else:
            yield value


def _error_message(text: str, error: json.JSONDecodeError) -> str:
    rest = text[error.pos :].strip()
    if not rest or rest.startswith("```") or error.msg.startswith("Unterminated string"):
        return f"the JSON in the answer is cut off: it ends with {_excerpt(text.rstrip('`~ ' + chr(10))[-80:])}"
    excerpt = _excerpt(text[max(error.pos - 20, 0) :])
    return f"the JSON in the answer is malformed: {error.msg} in line {error.lineno}, at {excerpt}"


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a valid JSON number")


def _excerpt(text: str, width: int = 80) -> str:
    """Return the beginning of a text on one line, in quotes."""
    return repr(" ".join(text.split())[:width])
