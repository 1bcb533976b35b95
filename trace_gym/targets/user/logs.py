"""Reader of trajectories for a custom target.

The supported formats are those of `trace_gym.targets.results`, and JSONL files with one OpenAI conversation per line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import json_lines
from trace_gym.targets.conversation import Logged, Names, conversation
from trace_gym.targets.results import read_results
from trace_gym.targets.user.replays import parsed
from trace_gym.types import Message, Trajectory

REPORTS = {"error", "errors", "message", "detail", "code", "status", "success", "ok"}
"""Fields of a tool result that only reports a failure. A result with other fields does not count as a failure."""
FORM = '{"messages": [...], "success": true} or {"messages": [...], "reward": 0.0} a line, with id and task if any'
_MESSAGES = TypeAdapter(list[Logged])


def read_logs(path: Path) -> list[Trajectory]:
    """Return the trajectories of one file.

    Raises:
        ReadError: The file is missing or has another format.
    """
    if path.suffix != ".jsonl" or not (rows := list(_rows(path))) or _is_own(rows[0][1]):
        found = read_results(path)
    else:
        names = Names()
        found = [_read(row, path, number, names) for number, row in rows]
    return [t.model_copy(update={"messages": tuple(map(_told, t.messages))}) for t in found]


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number and the parsed JSON of each line.

    Yield nothing if a line is not valid, because `read_results` raises a more specific error.
    """
    try:
        yield from list(json_lines(read_text(path), str(path)))
    except ReadError:
        return


def _is_own(row: Any) -> bool:
    return isinstance(row, dict) and {"id", "task", "messages"} <= row.keys() <= Trajectory.model_fields.keys()


def _read(row: Any, path: Path, number: int, names: Names) -> Trajectory:
    said = {"messages": row} if isinstance(row, list) else row
    try:
        logged = _MESSAGES.validate_python(said["messages"])
    except (TypeError, KeyError):
        raise ReadError(f"{path}, line {number} contains no messages: expected {FORM}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ReadError(f"{path}, line {number}: messages.{place}: {first['msg']}; expected {FORM}") from None
    if not logged:
        raise ReadError(f"{path}, line {number} contains no messages: expected {FORM}")
    success, reward = said.get("success"), said.get("reward")
    if not isinstance(success, (bool, type(None))) or not isinstance(reward, (int, float, type(None))):
        raise ReadError(f"{path}, line {number}: success is {success!r} and reward {reward!r}; expected {FORM}")
    if success is None and reward is not None:
        success = reward >= 1
    name = names.unique(str(said.get("id") or f"{path.stem}-{number}"))
    return Trajectory(
        id=name,
        task=str(said.get("task") or name),
        messages=conversation(logged),
        success=success,
        reward=None if reward is None else float(reward),
        source=str(said.get("source") or path.name),
        model=str(said.get("model") or ""),
    )


def _told(message: Message) -> Message:
    """Return a message in the format of trajectories.

    The result of a tool that reports a failure as JSON is replaced by text that begins with ``Error:``.
    """
    if message.get("role") != "tool" or not isinstance(said := parsed(message.get("content")), dict):
        return message
    failed = said.get("error") or said.get("errors") or False in (said.get("success"), said.get("ok"))
    if not failed or not said.keys() <= REPORTS:
        return message
    why = next((said[key] for key in ("error", "errors", "message", "detail") if said.get(key)), "it failed")
    return {**message, "content": f"Error: {why if isinstance(why, str) else json.dumps(why)}"}
