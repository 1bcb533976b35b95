"""Results files of benchmarks, read one record at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from trace_gym.errors import ReadError
from trace_gym.streams import ExtraText, json_parts
from trace_gym.types import Trajectory

EXAMPLES = 10
"""Number of records at the start of a file from which its format is detected."""


class SkippedRecord(NamedTuple):
    """A record that was skipped because it is invalid or a duplicate."""

    reason: Literal["duplicate", "unreadable"]
    message: str


OnInvalid = Callable[[SkippedRecord], None]
"""Function that is called with each record that is skipped."""


class Entry(NamedTuple):
    """A record of a results file, as parsed JSON."""

    place: str
    """Position of the record in the file, such as ``simulations.3``."""
    data: Any


@dataclass(frozen=True)
class Outline:
    """Top-level structure of a JSON file, from which its format is detected."""

    members: dict[str, Any] = field(default_factory=dict)
    """Members of the top-level object. Lists of records are empty here. If the top level is not an object, there is one
    member with an empty key."""
    examples: tuple[tuple[str, Any], ...] = ()
    """First records of the file, each with the key of the list that contains it. The key is empty if the file itself is
    the list."""

    is_first_line: bool = False
    """Whether the file contains more text after its first JSON value, as a JSONL file does. The outline then describes
    only the first value."""

    @property
    def is_list(self) -> bool:
        """Whether the top level is a list."""
        return isinstance(self.members.get(""), list)

    def has(self, *keys: str) -> bool:
        """Return whether the top level is an object that contains these keys."""
        return "" not in self.members and self.members.keys() >= {*keys}


@dataclass(frozen=True)
class Source:
    """A results file together with the options for reading it, as passed to the readers of benchmarks."""

    path: Path
    where: str
    """Name of the file in error messages."""
    outline: Outline = field(default_factory=Outline)
    records: str = ""
    """Key of the list of records in the file; empty if the file itself is the list."""
    model: str = ""
    """Name of the agent's model. If not empty, it replaces the name in the file."""
    scorer: str = ""
    """Name of the scorer whose value is used as the outcome, if a record can have several scores."""
    on_invalid: OnInvalid | None = None
    """Function that is called with each invalid record. By default, the first one raises `ReadError`."""
    on_equal: Callable[[str], None] | None = None
    """Function that is called with a message for each record that is equal to an earlier one and kept. Records are only
    kept without `on_invalid`."""

    def entries(self) -> Iterator[Entry]:
        """Yield the records of the file. If the file is truncated, all complete records are yielded first."""
        for key, index, value in json_parts(self.path, self.where, {self.records} - {""}):
            if key == self.records and index is not None:
                yield Entry(f"{key}.{index}".lstrip("."), value)

    def convert(
        self,
        entries: Iterable[Entry],
        function: Callable[[Entry], Trajectory],
        load: Callable[[Entry], Entry] = lambda entry: entry,
    ) -> Iterator[Trajectory]:
        """Yield the trajectories of records.

        If `on_invalid` is set, skip invalid records, duplicates of earlier records, and everything after a syntax
        error.

        Args:
            entries: The records.
            function: Function that returns the trajectory of a record. It raises `ReadError` if the record is invalid.
            load: Function that reads a record which is stored separately, such as a file of its own.

        Raises:
            ReadError: A record is not valid, and `on_invalid` is not set.
        """
        remaining, seen = iter(entries), dict[bytes, str]()
        while True:
            try:
                if (entry := next(remaining, None)) is None:
                    return
                if self._is_duplicate(entry := load(entry), seen):
                    continue
                found = function(entry)
            except ReadError as error:
                if self.on_invalid is None:
                    raise
                self.on_invalid(SkippedRecord("unreadable", str(error)))
                continue
            yield found

    def _is_duplicate(self, entry: Entry, seen: dict[bytes, str]) -> bool:
        """Return whether a record equals an earlier one and is skipped."""
        if self.on_invalid is None and self.on_equal is None:
            return False
        if (first := seen.setdefault(digest(entry.data), entry.place)) == entry.place:
            return False
        message = f"{self.where}: record {entry.place} is equal to record {first}"
        if self.on_invalid is not None:
            self.on_invalid(SkippedRecord("duplicate", message))
        elif self.on_equal is not None:
            self.on_equal(message)
        return self.on_invalid is not None


def outline_of(path: Path, where: str, lists: Collection[str], fix: str, *, partial: bool) -> Outline:
    """Return the outline of a JSON file.

    Args:
        path: The file, which may be gzipped.
        where: Name of the file in error messages.
        lists: Keys of the lists of records in the known formats.
        fix: Last sentence of each error message.
        partial: Accept a file that is not valid JSON after its first record.

    Raises:
        ReadError: The file cannot be read, or is not JSON.
    """
    members: dict[str, Any] = {}
    examples: list[tuple[str, Any]] = []
    parts, more = json_parts(path, where, lists, fix), False
    try:
        for key, index, value in parts:
            if index is None:
                members[key] = value
            elif len(examples) < EXAMPLES:
                examples.append((key, value))
            elif not key:
                break  # a list has no other members
    except ExtraText:
        more = True
    except ReadError:
        if not (partial and examples):
            raise
    finally:
        parts.close()
    return Outline(members, tuple(examples), more)


def digest(data: Any) -> bytes:
    """Return a hash of parsed JSON data."""
    text = json.dumps(data, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()
