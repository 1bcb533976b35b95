"""Readers of trajectories in JSONL files: records of ``trace-gym rollout``, and conversations in OpenAI's format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from pydantic import ValidationError

from trace_gym.errors import ReadError
from trace_gym.parsing import first_fault, parse_json
from trace_gym.targets.chats import is_chat, read_chat
from trace_gym.targets.conversation import Names
from trace_gym.targets.source import OnInvalid, SkippedRecord, digest
from trace_gym.types import Trajectory

Line = tuple[int, str]
"""A line number and the text of the line."""


def numbered(text: str) -> Iterator[Line]:
    """Yield the number and text of each line that is not blank."""
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: JSON strings may contain U+2028
        if line.strip():
            yield number, line


def trajectory_lines(
    lines: Iterable[Line], where: str, fix: str, *, on_invalid: OnInvalid | None = None
) -> Iterator[tuple[int, Trajectory]]:
    """Yield the line number and the trajectory of each line.

    Args:
        lines: Lines that are not blank.
        where: Name of the text in error messages.
        fix: Last sentence of each error message.
        on_invalid: Function for invalid lines, which are then skipped. By default, the first one raises an error.

    Raises:
        ReadError: A line is not a trajectory.
    """
    yield from _read(lines, where, fix, lambda row, number: _record(row, f"{where}, line {number}", fix), on_invalid)


def trajectory_of(line: str, place: str, fix: str) -> Trajectory:
    """Return the trajectory in a line of a file of ``trace-gym rollout``.

    Raises:
        ReadError: The line is not a trajectory.
    """
    return _record(parse_json(line, place, fix), place, fix)


def mixed_lines(
    lines: Iterable[Line],
    where: str,
    stem: str,
    fix: str,
    *,
    on_invalid: OnInvalid | None = None,
    on_equal: Callable[[str], None] | None = None,
) -> Iterator[tuple[int, Trajectory]]:
    """Yield the line number and the trajectory of each line, which is a record of a rollout or a conversation.

    The arguments are those of `trajectory_lines` and of `Source`. `stem` names conversations without an id. If
    `on_invalid` is set, lines that are equal to an earlier line are skipped.

    Raises:
        ReadError: A line is neither of the two.
    """
    names, seen = Names(), dict[bytes, int]()

    def read(row: Any, number: int) -> Trajectory:
        place = f"{where}, line {number}"
        if (on_invalid or on_equal) and (first := seen.setdefault(digest(row), number)) != number:
            if on_invalid is not None:
                raise _Repeated(f"{place} is equal to line {first}")
            if on_equal is not None:
                on_equal(f"{place} is equal to line {first}")
        return read_row(row, place, stem, number, fix, names)

    yield from _read(lines, where, fix, read, on_invalid)


def read_row(row: Any, place: str, stem: str, number: int, fix: str, names: Names) -> Trajectory:
    """Return the trajectory in parsed JSON data, which is a record of a rollout or a conversation.

    Args:
        row: The parsed data.
        place: Name of the data in error messages.
        stem: Name of the file, which names conversations that have no id.
        number: Number of the row in the file.
        fix: Last sentence of error messages.
        names: Generator of unique ids for conversations.

    Raises:
        ReadError: The data is neither of the two.
    """
    return read_chat(row, place, stem, number, names) if is_chat(row) else _record(row, place, fix)


class _Repeated(ReadError):
    """A line is equal to an earlier line."""


def distinct(read: Iterable[tuple[int, Trajectory]], where: str, on_invalid: OnInvalid | None) -> Iterator[Trajectory]:
    """Yield the trajectories without repeated samples of a model. By default, a repeated sample raises `ReadError`."""
    lines: dict[tuple[str, str], int] = {}
    for number, found in read:
        if (first := lines.setdefault((found.model, found.id), number)) == number:
            yield found
            continue
        fault = (
            f"{where}, line {number}: {found.id} of {found.model or 'one model'} occurs twice, first in line "
            f"{first}: expected one line for each sample. Repeat the `trace-gym rollout` command, which removes "
            "duplicates, or delete the line"
        )
        if on_invalid is None:
            raise ReadError(fault)
        on_invalid(SkippedRecord("duplicate", fault))


def _read(
    lines: Iterable[Line], where: str, fix: str, read: Callable[[Any, int], Trajectory], on_invalid: OnInvalid | None
) -> Iterator[tuple[int, Trajectory]]:
    for number, line in lines:
        try:
            found = read(parse_json(line, f"{where}, line {number}", fix), number)
        except ReadError as error:
            if on_invalid is None:
                raise
            reason: Literal["duplicate", "unreadable"] = "duplicate" if isinstance(error, _Repeated) else "unreadable"
            on_invalid(SkippedRecord(reason, str(error)))
            continue
        yield number, found


def _record(row: Any, place: str, fix: str) -> Trajectory:
    try:
        read = Trajectory.model_validate(row)
        _ = read.calls
    except ValidationError as error:
        raise ReadError(f"{place} is not a valid trajectory: {first_fault(error)}. {fix}") from None
    except (LookupError, TypeError, AttributeError):
        raise ReadError(f"{place} contains a tool call that is not in the OpenAI format. {fix}") from None
    return read


def is_trajectory_line(row: Any) -> bool:
    """Return whether a parsed line is a record of ``trace-gym rollout``, or a conversation."""
    return isinstance(row, dict) and "messages" in row and ({"id", "task"} <= row.keys() or is_chat(row))
