"""Reader of trajectories in the JSONL format that `trace-gym rollout` writes."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from trace_gym.errors import ReadError
from trace_gym.parsing import first_fault, json_lines, parse_json
from trace_gym.types import Trajectory


def trajectory_lines(text: str, where: str, fix: str) -> Iterator[tuple[int, Trajectory]]:
    """Yield the line number and the trajectory of each line of a JSONL text.

    Args:
        text: The text.
        where: Name of the text in error messages.
        fix: Last sentence of each error message.

    Raises:
        ReadError: A line is not a trajectory.
    """
    for number, row in json_lines(text, where, fix):
        try:
            read = Trajectory.model_validate(row)
            _ = read.calls
        except ValidationError as error:
            raise ReadError(f"{where}, line {number} is not a valid trajectory: {first_fault(error)}. {fix}") from None
        except (LookupError, TypeError, AttributeError):
            raise ReadError(f"{where}, line {number}: a tool call is not an OpenAI tool call. {fix}") from None
        yield number, read


def is_trajectory_jsonl(text: str) -> bool:
    """Return whether a text contains records of ``trace-gym rollout``."""
    try:
        row = parse_json(text.strip().partition("\n")[0], "")
    except ReadError:
        return False
    return isinstance(row, dict) and {"id", "task", "messages"} <= row.keys()
