"""Fields that the results of tau-bench and tau2 share."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.targets.tau2.log_format import LoggedCriteria
from trace_gym.types import Call, Message

_T = TypeVar("_T")


def validated(shape: type[_T], data: Any, where: str, record: str = "") -> _T:
    """Validate parsed data, and return it as an instance of a Pydantic class.

    Raises:
        ReadError: A field is missing or has the wrong type.
    """
    try:
        return TypeAdapter(shape).validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (record, *first["loc"]) if part != "") or "top level"
        raise ReadError(
            f"{where} is not a valid result file of tau2: {place}: {first['msg']} ({error.error_count()} invalid "
            "fields in total)"
        ) from None


def ended(messages: tuple[Message, ...], *, scored: bool) -> Literal["user", "transfer", "turn_limit", "unknown"]:
    """Return why an episode without errors ended; the turn limit is assumed if it has no score."""
    last = messages[-1] if messages else {}
    text = str(last.get("content") or "")
    if last.get("name") == "transfer_to_human_agents" or "###TRANSFER###" in text:
        return "transfer"
    if last.get("role") == "user" and "###STOP###" in text:
        return "user"
    return "unknown" if scored else "turn_limit"


def gold(task: LoggedCriteria | None) -> tuple[Call, ...] | None:
    """Return the reference actions of a task; None if they are unknown."""
    if task is None or task.actions is None:
        return None
    return tuple(Call(a.name, a.arguments) for a in task.actions if a.requestor == "assistant")


def outputs(task: LoggedCriteria | None) -> tuple[str, ...]:
    """Return the facts that the reference solution of a task states to the user."""
    return tuple(task.communicate_info or ()) if task else ()
