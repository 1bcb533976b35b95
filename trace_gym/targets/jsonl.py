"""Readers of trajectories in JSONL files: records of ``trace-gym rollout``, and conversations in OpenAI's format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from trace_gym.errors import ReadError
from trace_gym.parsing import first_fault, parse_json
from trace_gym.targets.chats import is_chat, read_chat
from trace_gym.targets.conversation import Names
from trace_gym.types import Trajectory

OnInvalid = Callable[[str], None]
"""Function that is called with the error message of each line that is skipped."""


def trajectory_lines(
    text: str, where: str, fix: str, *, on_invalid: OnInvalid | None = None
) -> Iterator[tuple[int, Trajectory]]:
    """Yield the line number and the trajectory of each line of a JSONL text.

    Args:
        text: The text.
        where: Name of the text in error messages.
        fix: Last sentence of each error message.
        on_invalid: Function for invalid lines, which are then skipped. By default, the first one raises an error.

    Raises:
        ReadError: A line is not a trajectory.
    """
    yield from _lines(text, where, fix, lambda row, number: _record(row, f"{where}, line {number}", fix), on_invalid)


def mixed_lines(
    text: str, where: str, stem: str, fix: str, *, on_invalid: OnInvalid | None = None
) -> Iterator[tuple[int, Trajectory]]:
    """Yield the line number and the trajectory of each line, which is a record of a rollout or a conversation.

    The arguments are those of `trajectory_lines`. `stem` names conversations without an id.

    Raises:
        ReadError: A line is neither of the two.
    """
    names = Names()

    def read(row: Any, number: int) -> Trajectory:
        place = f"{where}, line {number}"
        return read_chat(row, place, stem, number, names) if is_chat(row) else _record(row, place, fix)

    yield from _lines(text, where, fix, read, on_invalid)


def _lines(
    text: str, where: str, fix: str, read: Callable[[Any, int], Trajectory], on_invalid: OnInvalid | None
) -> Iterator[tuple[int, Trajectory]]:
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: JSON strings may contain U+2028
        if not line.strip():
            continue
        try:
            yield number, read(parse_json(line, f"{where}, line {number}", fix), number)
        except ReadError as error:
            if on_invalid is None:
                raise
            on_invalid(str(error))


def _record(row: Any, place: str, fix: str) -> Trajectory:
    try:
        read = Trajectory.model_validate(row)
        _ = read.calls
    except ValidationError as error:
        raise ReadError(f"{place} is not a valid trajectory: {first_fault(error)}. {fix}") from None
    except (LookupError, TypeError, AttributeError):
        raise ReadError(f"{place}: a tool call is not an OpenAI tool call. {fix}") from None
    return read


def is_trajectory_jsonl(text: str) -> bool:
    """Return whether a text contains records of ``trace-gym rollout``, or conversations, one per line."""
    try:
        row = parse_json(text.strip().partition("\n")[0], "")
    except ReadError:
        return False
    return isinstance(row, dict) and "messages" in row and ({"id", "task"} <= row.keys() or is_chat(row))
