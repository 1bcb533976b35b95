"""Parsers for JSON and YAML from untrusted files, and for Python code.

Malformed JSON and YAML raise a `ReadError` that names the file.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from trace_gym.errors import ReadError
from trace_gym.files import read_text

M = TypeVar("M", bound=BaseModel)

MOST_DEPTH = 100
"""Maximum number of nesting levels."""
MOST_NODES = 1_000_000
"""Maximum number of values in a YAML text after the expansion of its aliases."""
_SYNTAX_TREES = Lock()


def parse_python(text: str | bytes) -> ast.Module:
    """Return the syntax tree of Python code, like `ast.parse`. Several threads can safely call this at once.

    Some versions of Python raise a SystemError if two threads create syntax trees (python/cpython issue 106905).

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: The code cannot be parsed.
    """
    with _SYNTAX_TREES:
        return ast.parse(text)


def parse_json(text: str | bytes, where: str, fix: str = "", *, nan: bool = False) -> Any:
    """Return the value of a JSON text.

    Args:
        text: The text.
        where: Name of the source in error messages, such as a file and line.
        fix: Last sentence of each error message.
        nan: Accept NaN and Infinity, which some other programs write into fields that this library does not use.

    Raises:
        ReadError: The text is not JSON (RFC 8259), is truncated, is nested more than `MOST_DEPTH` levels deep, or
            contains a number that is out of range.
    """
    end = f". {fix}" if fix else ""
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise ReadError(f"{where} is not UTF-8 text: found an invalid byte at offset {error.start}{end}") from None
    if not text.strip():
        raise ReadError(f"{where} is empty{end}")
    try:
        made = (_lenient if nan else _strict).decode(text)
    except (ValueError, RecursionError) as error:
        raise json_fault(error, text, where, fix) from None
    if _too_deep(made):
        raise json_fault(RecursionError(), text, where, fix)
    return made


def parse_prefix(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at a position of a text, and the position after the value. NaN and Infinity are accepted.

    Raises:
        ValueError: There is no value, or it is incomplete. `json_fault` describes the error.
        RecursionError: The value is nested more than `MOST_DEPTH` levels deep.
    """
    made, end = _lenient.raw_decode(text, start)
    if _too_deep(made):
        raise RecursionError
    return made, end


def json_fault(
    error: ValueError | RecursionError,
    text: str,
    where: str,
    fix: str = "",
    *,
    start: str = "",
    line: int = 0,
    ended: bool = True,
) -> ReadError:
    """Return a `ReadError` that describes an error of the JSON decoder.

    Args:
        error: The error.
        text: The text that was decoded.
        where: Name of the source in the error message.
        fix: Last sentence of the error message.
        start: Start of the document, if the text is a later part of it.
        line: Number of lines before the text.
        ended: Whether the document ends where the text ends.
    """
    start = start or text.lstrip()[:40]
    end = f". {fix}" if fix else ""
    if isinstance(error, RecursionError):
        return ReadError(
            f"{where} contains JSON that is nested too deeply: at most {MOST_DEPTH} levels are supported{end}"
        )
    if not isinstance(error, json.JSONDecodeError):
        return ReadError(f"{where} is not valid JSON ({error}){end}")
    if ended and start[:1] in ("[", "{") and _is_at_end(text, error):
        return ReadError(f"{where} is truncated: its JSON ends unexpectedly at line {line + error.lineno}{end}")
    return ReadError(f"{where} is not valid JSON ({error}): it begins with {start!r}{end}")


def read_json(path: Path | str, fix: str = "") -> Any:
    """Return the value in a JSON file, which may be gzipped.

    Raises:
        ReadError: The file cannot be read or is not JSON.
    """
    return parse_json(read_text(path, fix), str(path), fix)


def json_lines(text: str, where: str, fix: str = "", *, nan: bool = False) -> Iterator[tuple[int, Any]]:
    """Yield the line number and value of each nonempty line of a JSONL text.

    Raises:
        ReadError: A line is not JSON.
    """
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: JSON strings may contain U+2028
        if line.strip():
            yield number, parse_json(line, f"{where}, line {number}", fix, nan=nan)


def read_model(path: Path | str, kind: type[M], what: str, fix: str = "") -> M:
    """Return the pydantic model in a JSON file.

    Args:
        path: The file.
        kind: Class of the model.
        what: Description of the expected content for error messages, such as ``"a diagnosis"``.
        fix: Last sentence of each error message.

    Raises:
        ReadError: The file cannot be read, or its content is not valid. The message names the first invalid field.
    """
    data = read_json(path, fix)
    try:
        return kind.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise ReadError(f"{path} is not {what} ({first_fault(error)})" + (f". {fix}" if fix else "")) from None


def first_fault(error: ValidationError) -> str:
    """Return the path and the error message of the first invalid field in a validation error."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the file"
    return f"{place}: {first['msg']}"


def parse_yaml(text: str, where: str, fix: str = "") -> Any:
    """Return the value of a YAML or JSON text.

    Raises:
        ReadError: The text is not YAML, contains a duplicate key or NaN, is nested more than `MOST_DEPTH` levels deep,
            or has aliases that expand to more than `MOST_NODES` values.
    """
    end = f". {fix}" if fix else ""
    try:
        loader = yaml.SafeLoader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            if problem := _yaml_problem(root):
                raise ReadError(f"{where} is not valid YAML ({problem}){end}")
            return loader.construct_document(root)
        finally:
            loader.dispose()
    except RecursionError:
        raise ReadError(
            f"{where} contains YAML that is nested too deeply: at most {MOST_DEPTH} levels are supported{end}"
        ) from None
    except yaml.YAMLError as error:
        raise ReadError(f"{where} is not valid YAML ({' '.join(str(error).split())}){end}") from None
    except (ValueError, OverflowError) as error:  # such as a date that does not exist
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{where} contains a value that cannot be parsed ({error}){end}") from None


def read_yaml(path: Path | str, fix: str = "") -> Any:
    """Return the value in a YAML file, or None if the file is empty.

    Raises:
        ReadError: The file cannot be read or is not YAML.
    """
    return parse_yaml(read_text(path, fix), str(path), fix)


def _yaml_problem(root: yaml.Node) -> str:
    """Return a description of the first error in a YAML document, or ``""`` if the document is valid."""
    known: dict[int, tuple[int, int]] = {}
    open_nodes: set[int] = set()

    def measure(node: yaml.Node) -> tuple[int, int]:
        """Return the number of values and of nesting levels of a node, with all aliases expanded."""
        if id(node) in open_nodes:
            raise _Refused("an alias refers to a value that contains the alias")
        if id(node) not in known:
            open_nodes.add(id(node))
            inner = [measure(child) for child in _children(node)]
            open_nodes.discard(id(node))
            size, depth = 1 + sum(s for s, _ in inner), 1 + max((d for _, d in inner), default=0)
            if size > MOST_NODES:
                raise _Refused(f"its aliases expand to more than {MOST_NODES:,} values")
            if depth > MOST_DEPTH:
                raise _Refused(f"nested too deeply: expected at most {MOST_DEPTH} levels")
            known[id(node)] = size, depth
        return known[id(node)]

    try:
        measure(root)
    except _Refused as refusal:
        return str(refusal)
    return ""


class _Refused(Exception):
    """The document is not valid."""


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":float") and "n" in node.value.lower():
        raise _Refused(f"{node.value} is not a number (line {node.start_mark.line + 1})")
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        keys: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in keys:
                    raise _Refused(f"the key {key.value!r} is given twice; delete one (line {key.start_mark.line + 1})")
                keys.add(key.value)
            yield key
            yield value


def _is_at_end(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether an invalid JSON text could become valid if more text followed."""
    rest = text[error.pos :].rstrip()
    is_escape = error.msg.startswith(r"Invalid \u") and len(rest) < len(r"\u1234")
    return (
        len(rest) < 2 or is_escape or error.msg.startswith("Unterminated") or any(w.startswith(rest) for w in _LITERALS)
    )


_LITERALS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")


def _too_deep(value: Any) -> bool:
    layer = [value]
    for _ in range(MOST_DEPTH + 1):
        layer = [w for v in layer if isinstance(v, (dict, list)) for w in (v.values() if isinstance(v, dict) else v)]
        if not layer:
            return False
    return True


def _float(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"the number {digits[:20]} is too large for a 64-bit floating-point number")
    return number


def _int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # the number has more digits than `sys.get_int_max_str_digits` allows
        raise ValueError(f"an integer with {len(digits)} digits is too large to parse") from None


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a valid JSON number")


_strict = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=_constant)
_lenient = json.JSONDecoder(parse_int=_int)
