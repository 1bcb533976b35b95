"""Functions that read files in parts, so that memory use depends on the longest record and not on the file size.

The content of a file is untrusted. The errors are the same as in `trace_gym.files` and `trace_gym.parsing`.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Collection, Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trace_gym import files
from trace_gym.errors import ReadError
from trace_gym.parsing import json_fault, parse_prefix

CHUNK = 2**16
"""Number of bytes that are read at once."""
WINDOW = 2**20
"""Number of characters of a JSON text that are decoded at once, unless a record is longer."""
_LONGEST_TOKEN = 12
"""Maximum distance from the end of the text, in characters, of a decoder error that may mean that a value is
incomplete."""


class ExtraText(ReadError):
    """Error of a JSON file that contains more text after the first value, as a JSONL file does."""


class JsonPart(NamedTuple):
    """A member of the object at the top level of a JSON file, or an entry of a list that is read in parts."""

    key: str
    """Key of the member; empty if the top level is not an object."""
    number: int | None
    """Index of the list entry, starting at 0; None for a member, and for the start of a list, which has the value
    ``[]``."""
    value: Any


def text_chunks(path: Path | str, fix: str = "") -> Iterator[str]:
    """Yield the text of a UTF-8 file in parts, decompressed if it is gzipped, without a byte order mark.

    Raises:
        ReadError: The file cannot be read (see `trace_gym.files.open_binary`), or is not UTF-8 text.
    """
    decoder, done = codecs.getincrementaldecoder("utf-8-sig")(), 0
    with files.open_binary(path, fix) as file:
        while True:
            part = file.read(CHUNK)
            try:
                text = decoder.decode(part, final=not part)
            except UnicodeDecodeError as error:
                end = f". {fix}" if fix else ""
                raise ReadError(f"{path} is not UTF-8 text: found an invalid byte near offset {done}{end}") from error
            done += len(part)
            if text:
                yield text
            if not part:
                return


def text_lines(path: Path | str, fix: str = "") -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line that is not blank.

    Raises:
        ReadError: The file cannot be read (see `text_chunks`), or a line is too long.
    """
    number, parts, size = 1, list[str](), 0
    for chunk in text_chunks(path, fix):
        *ends, rest = chunk.split("\n")  # not splitlines: JSON strings may contain U+2028
        for end in ends:
            if (line := "".join([*parts, end])).strip():
                yield number, line
            number, parts, size = number + 1, [], 0
        parts.append(rest)
        size = _checked(size + len(rest), f"line {number} of {path}")
    if (line := "".join(parts)).strip():
        yield number, line


def json_parts(path: Path | str, where: str, lists: Collection[str], fix: str = "") -> Generator[JsonPart, None, None]:
    """Yield the parts of the first JSON value in a file.

    If the value is a list, each entry is a part. If it is an object, each member is a part, and so is each entry of the
    members in `lists` whose value is a list. Any other value is one part.

    Args:
        path: The file, which may be gzipped.
        where: Name of the file in error messages.
        lists: Keys of the members that are read in parts.
        fix: Last sentence of each error message.

    Raises:
        ReadError: The file cannot be read (see `text_chunks`), is empty, or is not JSON.
        ExtraText: There is more text after the first value.
    """
    window = _Window(text_chunks(path, fix), where, fix)
    match window.peek():
        case "":
            raise ReadError(f"{where} is empty. {fix}")
        case "[":
            yield from _entries(window, "")
        case "{":
            window.skip("{")
            while window.peek() != "}":
                key = window.value()
                if not isinstance(key, str):
                    raise window.fault("Expecting property name enclosed in double quotes")
                window.skip(":")
                if key in lists and window.peek() == "[":
                    yield from _entries(window, key)
                else:
                    yield JsonPart(key, None, window.value())
                if window.peek() != "}":
                    window.skip(",")
            window.skip("}")
        case _:
            yield JsonPart("", None, window.value())
    if window.peek():
        raise ExtraText(str(window.fault("Extra data")))


def _entries(window: _Window, key: str) -> Iterator[JsonPart]:
    window.skip("[")
    yield JsonPart(key, None, [])
    index = 0
    while window.peek() != "]":
        yield JsonPart(key, index, window.value())
        index += 1
        if window.peek() != "]":
            window.skip(",")
    window.skip("]")


class _Window:
    """The part of a JSON text between the current position and the last character that was read."""

    def __init__(self, chunks: Iterator[str], where: str, fix: str) -> None:
        self._chunks, self._where, self._fix = chunks, where, fix
        self._text, self._at, self._line, self._start = "", 0, 0, ""

    def peek(self) -> str:
        """Skip whitespace, and return the next character, or an empty string at the end of the text."""
        while True:
            rest = len(self._text)
            while self._at < rest and self._text[self._at] in " \t\n\r":
                self._at += 1
            if self._at < rest:
                return self._text[self._at]
            if not self._extend():
                return ""

    def skip(self, expected: str) -> None:
        """Move past the expected next character."""
        if self.peek() != expected:
            raise self.fault(f"Expecting {expected!r} delimiter")
        self._at += 1

    def value(self) -> Any:
        """Return the next value, and move past it."""
        self.peek()
        while True:
            try:
                made, end = parse_prefix(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if not (self._is_incomplete(error) and self._extend()):
                    raise self._fault(error, self._is_incomplete(error)) from None
                continue
            # A number at the end of the text may go on in the next part of the file.
            if end < len(self._text) or not self._extend():
                self._at = end
                return made

    def fault(self, message: str) -> ReadError:
        """Return a `ReadError` that describes an error at the current position."""
        ended = not self.peek()
        return self._fault(json.JSONDecodeError(message, self._text, self._at), ended)

    def _fault(self, error: ValueError | RecursionError, ended: bool) -> ReadError:
        return json_fault(error, self._text, self._where, self._fix, start=self._start, line=self._line, ended=ended)

    def _is_incomplete(self, error: ValueError | RecursionError) -> bool:
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.pos >= len(self._text) - _LONGEST_TOKEN or error.msg.startswith("Unterminated")

    def _extend(self) -> bool:
        """Drop the text before the current position, read more text, and return whether there was any."""
        self._line += self._text.count("\n", 0, self._at)
        parts = [self._text[self._at :]]
        self._text, self._at, size = parts[0], 0, len(parts[0])
        wanted = max(2 * size, WINDOW)
        while size < wanted and (chunk := next(self._chunks, "")):
            parts.append(chunk)
            size += len(chunk)
        grown, self._text = len(parts) > 1, "".join(parts)
        self._start = self._start or self._text.lstrip()[:40]
        _checked(len(self._text), f"a record of {self._where}")
        return grown


def _checked(size: int, what: str) -> int:
    if size > files.MOST_BYTES:
        raise ReadError(f"{what} is too long: expected at most {files.MOST_BYTES:,} characters. Split the file")
    return size
