"""Reader of the results of ToolSandbox: ``result_summary.json``, and a conversation per scenario in ``trajectories/``.

Source of the format: ``tool_sandbox/common/message_conversion.py`` and ``tool_sandbox/analysis/data_loading.py`` in
github.com/apple/ToolSandbox. ToolSandbox compares databases with milestones, so its results contain no reference calls.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import first_fault, parse_json
from trace_gym.targets.conversation import Logged, conversation
from trace_gym.types import Message, Trajectory

_exception = re.compile(r"\w*(Error|Exception)\b")


class _Result(BaseModel):
    """Result of one scenario."""

    name: str = Field(pattern=r"^[^/\\]+$")
    similarity: float = Field(ge=0, le=1)
    exception_type: str | None = None


class _Summary(BaseModel):
    per_scenario_results: list[_Result]


def is_summary(data: Any) -> bool:
    """Return whether data is the content of a ``result_summary.json``."""
    return isinstance(data, dict) and "per_scenario_results" in data


def read_summary(data: Any, path: Path, where: str, model: str) -> list[Trajectory]:
    """Return the trajectories of a run of ToolSandbox.

    The reward is the similarity to the milestones; an episode with the similarity 1 is successful. An episode that
    ended with an exception is not scored.

    Args:
        data: The parsed ``result_summary.json``.
        path: Path of the file. The folder ``trajectories`` next to it contains the conversations.
        where: Name of the file in error messages.
        model: Name of the agent's model, which ToolSandbox does not record.

    Raises:
        ReadError: The summary is not valid, or a conversation is missing or not valid.
    """
    try:
        results = _Summary.model_validate(data).per_scenario_results
    except ValidationError as error:
        raise ReadError(f"{where} is not a valid result_summary.json of ToolSandbox: {first_fault(error)}") from None
    folder = path.parent / "trajectories"
    if missing := [r.name for r in results if not (folder / r.name / "conversation.json").is_file()]:
        raise ReadError(
            f"{folder} lacks {len(missing)} of {len(results)} conversations, for example "
            f"{missing[0]}/conversation.json. Copy the complete folder of the run"
        )
    return [_trajectory(result, folder / result.name / "conversation.json", model) for result in results]


def _trajectory(result: _Result, path: Path, model: str) -> Trajectory:
    from trace_gym.targets.catalogue import target

    try:
        logged = TypeAdapter(list[Logged]).validate_python(parse_json(read_text(path), str(path), nan=True))
    except ValidationError as error:
        raise ReadError(f"{path} is not a valid conversation of ToolSandbox: {first_fault(error)}") from None
    crashed = result.exception_type is not None
    return Trajectory(
        id=f"toolsandbox/{result.name}",
        task=result.name,
        messages=tuple(map(_refusal, conversation(logged))),
        success=None if crashed else result.similarity > 1 - 1e-6,
        reward=None if crashed else result.similarity,
        ended="error" if crashed else "unknown",
        source="ToolSandbox",
        model=model,
        tools=target("toolsandbox").interface.kinds,
    )


def _refusal(message: Message) -> Message:
    """Return a message in the format of trajectories, in which the result of a refused call begins with ``Error:``."""
    content = str(message.get("content") or "")
    if message.get("role") != "tool" or not _exception.match(content) or content.startswith("Error"):
        return message
    return {**message, "content": f"Error: {content}"}
