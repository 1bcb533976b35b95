"""Files that the user names besides the environment: tasks of the target, and recorded episodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import parse_json
from trace_gym.targets.results import read_results
from trace_gym.types import Trajectory
from trace_gym.validate.context import Given
from trace_gym.validate.draws import scalars

EXPECTED = "Expected JSON, JSON lines or text in UTF-8"
SUFFIXES = (".json", ".jsonl", ".txt", ".md", ".yaml", ".yml", ".csv", ".gz")
"""Files of a folder that are read."""


def readable(given: Given) -> None:
    """Read what the user names, so that a wrong path is told before anything is checked.

    Raises:
        ReadError: A file is missing, is not text, or holds no recorded episode.
    """
    for path in given.against:
        texts(path)
    for path in given.recordings:
        recorded(path)


def texts(path: str) -> tuple[str, ...]:
    """Every string in a file or in the files of a folder: JSON's strings, one JSON a line, or the text as it is.

    Raises:
        ReadError: There is no such file, it is not text, its name ends in .json or .jsonl and it is not JSON, or its
            JSON is nested too deep.
    """
    found = tuple(text for file in files_of(path) for text in _texts(str(file), _stamp(file)))
    if not found:
        raise ReadError(f"{path} holds no text; expected tasks of the target, as JSON, JSON lines or text")
    return found


def files_of(path: str) -> list[Path]:
    """The file itself, or the files of a folder that are read."""
    place = Path(path)
    return sorted(p for p in place.rglob("*") if p.suffix in SUFFIXES) if place.is_dir() else [place]


def recorded(path: str) -> tuple[Trajectory, ...]:
    """The recorded episodes of a file.

    Raises:
        ReadError: The file is missing or of another format.
    """
    return _recorded(path, _stamp(Path(path)))


def _stamp(path: Path) -> tuple[int, int]:
    """What changes when a file does."""
    try:
        found = path.stat()
    except OSError as error:
        raise ReadError(
            f"{path} cannot be read ({error.strerror}); name a file of tasks or recorded episodes"
        ) from None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=8)
def _recorded(path: str, stamp: tuple[int, int]) -> tuple[Trajectory, ...]:
    return tuple(read_results(path))


@lru_cache(maxsize=32)
def _texts(path: str, stamp: tuple[int, int]) -> tuple[str, ...]:
    text = read_text(path, EXPECTED)
    lines = text.split("\n")
    parts = _parsed([text], path) or _parsed(lines, path)
    if parts is None and text.strip() and path.removesuffix(".gz").endswith((".json", ".jsonl")):
        piece = text if path.removesuffix(".gz").endswith(".json") else next(p for p in lines if _is_not_json(p))
        parse_json(piece, path, EXPECTED, nan=True)
    return tuple(parts if parts is not None else [text])


def _parsed(pieces: list[str], path: str) -> list[str] | None:
    """The strings in pieces of JSON; None where one of them is none."""
    found: list[str] = []
    for piece in pieces:
        if _is_not_json(piece):
            return None
        if piece.strip():
            found += _strings(parse_json(piece, path, EXPECTED, nan=True))
    return found


def _is_not_json(text: str) -> bool:
    try:
        json.loads(text or "0")
    except RecursionError:
        return False  # it may be, and `parse_json` reports the depth
    except ValueError:
        return bool(text.strip())
    return False


def _strings(value: Any) -> Iterator[str]:
    """Strings and numbers of JSON, and the keys."""
    shown = (v for _, v in scalars(value))
    return (str(v) for v in shown if isinstance(v, (str, int, float)) and not isinstance(v, bool))
