"""Files that the user passes to a validation: test tasks and recorded episodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.nested import keys_and_scalars
from trace_gym.parsing import parse_json
from trace_gym.targets.results import read_results
from trace_gym.types import Trajectory
from trace_gym.validation.context import ValidationInputs

EXPECTED = "Expected JSON, JSON lines or text in UTF-8"
SUFFIXES = (".json", ".jsonl", ".txt", ".md", ".yaml", ".yml", ".csv", ".gz")
"""Suffixes of the files that are read if the path is a folder."""


def check_readable(inputs: ValidationInputs) -> None:
    """Read all files of the inputs, so that a wrong path is reported before the validation starts.

    Raises:
        ReadError: A file is missing, is not text, or contains no recorded episode.
    """
    for path in inputs.against:
        read_texts(path)
    for path in inputs.recordings:
        read_recordings(path)


def read_texts(path: str) -> tuple[str, ...]:
    """Return the texts in a file, or in the files of a folder.

    The texts are the strings and numbers of JSON data or JSON lines. A file in any other format is one text.

    Raises:
        ReadError: The file does not exist, is not text, is not valid JSON although its suffix is .json or .jsonl, or
            contains JSON that is nested too deeply.
    """
    found = tuple(text for file in files_of(path) for text in _texts(str(file), _stamp(file)))
    if not found:
        raise ReadError(
            f"{path} contains no text: expected tasks of the target in JSON, JSON Lines, or plain text format"
        )
    return found


def files_of(path: str) -> list[Path]:
    """Return the supported files of a folder, or the path itself if it is not a folder."""
    place = Path(path)
    return sorted(p for p in place.rglob("*") if p.suffix in SUFFIXES) if place.is_dir() else [place]


def read_recordings(path: str) -> tuple[Trajectory, ...]:
    """Return the recorded episodes of a file.

    Raises:
        ReadError: The file is missing or has a different format.
    """
    return _recorded(path, _stamp(Path(path)))


def _stamp(path: Path) -> tuple[int, int]:
    """Return the modification time and the size of a file as a cache key."""
    try:
        found = path.stat()
    except OSError as error:
        raise ReadError(
            f"{path} cannot be read ({error.strerror}). Pass the path of a file with tasks or recorded episodes"
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
    """Return the strings in several JSON texts, or None if any of the texts is not JSON."""
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
        return False  # the text may be JSON; `parse_json` reports the nesting depth
    except ValueError:
        return bool(text.strip())
    return False


def _strings(value: Any) -> Iterator[str]:
    """Yield the strings, numbers and keys of JSON data as text."""
    shown = (v for _, v in keys_and_scalars(value))
    return (str(v) for v in shown if isinstance(v, (str, int, float)) and not isinstance(v, bool))
