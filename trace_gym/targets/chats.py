"""Reader of conversations in the format of OpenAI, one per line of a JSONL file."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.targets.conversation import Logged, Names, conversation
from trace_gym.types import Trajectory

RECORDED = {"ended", "gold", "score", "tools"}
"""Fields that identify a record of ``trace-gym rollout``, which contains at least one of them."""
FORM = 'one JSON object per line, such as {"messages": [...], "success": true} or {"messages": [...], "reward": 0.0}'
_MESSAGES = TypeAdapter(list[Logged])


def is_chat(row: Any) -> bool:
    """Return whether a line contains a conversation that is not a record of ``trace-gym rollout``."""
    if isinstance(row, list):
        return bool(row) and all(isinstance(message, dict) for message in row)
    if not isinstance(row, dict) or "messages" not in row:
        return False
    return not ({"id", "task"} <= row.keys() <= Trajectory.model_fields.keys() and row.keys() & RECORDED)


def read_chat(row: Any, place: str, stem: str, number: int, names: Names) -> Trajectory:
    """Return the trajectory in one line. A conversation with neither success nor reward is not scored.

    Args:
        row: The parsed line: a list of messages, or an object that contains them.
        place: Name of the line in error messages.
        stem: Name of the file, which names conversations that have no id or source.
        number: Number of the line.
        names: Generator of unique ids.

    Raises:
        ReadError: The line contains no messages, or a field is not valid.
    """
    said: dict[str, Any] = {"messages": row} if isinstance(row, list) else row
    try:
        logged = _MESSAGES.validate_python(said["messages"])
    except (TypeError, KeyError):
        raise ReadError(f"{place} contains no messages. Expected {FORM}") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise ReadError(
            f"{place} contains an invalid message (messages.{field}: {first['msg']}). Expected {FORM}"
        ) from None
    if not logged:
        raise ReadError(f"{place} contains no messages. Expected {FORM}")
    success, reward = said.get("success"), said.get("reward")
    numeric = isinstance(reward, (int, float)) and not isinstance(reward, bool) and abs(reward) < float("inf")
    if not isinstance(success, (bool, type(None))) or not (reward is None or numeric):
        raise ReadError(
            f"{place} contains an invalid outcome: found success={success!r} and reward={reward!r}. Expected {FORM}"
        )
    if success is None and reward is not None:
        success = reward >= 1
    name = names.unique(str(said.get("id") or f"{stem}-{number}"))
    return Trajectory(
        id=name,
        task=str(said.get("task") or name),
        messages=conversation(logged),
        success=success,
        reward=None if reward is None else float(reward),
        source=str(said.get("source") or stem),
        model=str(said.get("model") or ""),
    )
