"""Reader of ToolSandbox results: ``result_summary.json``, and one conversation per scenario in ``trajectories/``.

Source of the format: ``tool_sandbox/common/message_conversion.py`` and ``tool_sandbox/analysis/data_loading.py`` in
github.com/apple/ToolSandbox. ToolSandbox compares databases with milestones, so its results contain no reference calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import first_fault, parse_json
from trace_gym.targets.conversation import Logged, Names, conversation
from trace_gym.targets.source import Entry, Outline, Source
from trace_gym.types import Message, NamedCheck, Score, Trajectory

CLOSE = 1e-6
"""Tolerance of comparisons of similarities with 0 and 1."""
_exception = re.compile(r"\w*(Error|Exception)\b")


class _Result(BaseModel):
    """Result of one scenario."""

    name: str = Field(pattern=r"^[^/\\]+$")
    similarity: float = Field(ge=0, le=1)
    exception_type: str | None = None
    milestone_mapping: dict[int, tuple[int, float]] = {}
    """Mapping from milestone to the message that is most similar to it, and the similarity."""
    minefield_mapping: dict[int, tuple[int, float]] = {}
    """The same for minefields, which are events that must not happen."""

    @property
    def success(self) -> bool:
        """Whether all milestones and no minefield were reached."""
        return self.similarity > 1 - CLOSE

    @property
    def score(self) -> Score:
        """The result as a score with one goal per milestone and one guard per minefield.

        ToolSandbox compares messages by their words, so a correct message can have any similarity above 0. A goal
        therefore counts as reached if its similarity is not 0.
        """
        goals = [(f"milestone {n}", likeness > CLOSE) for n, (_, likeness) in sorted(self.milestone_mapping.items())]
        guards = [(f"minefield {n}", likeness <= CLOSE) for n, (_, likeness) in sorted(self.minefield_mapping.items())]
        return Score(
            wellformed=1,
            progress=self.similarity,
            success=self.success,
            broken=tuple(name for name, passed in guards if not passed),
            checks=(
                *(NamedCheck(kind="goal", description=name, passed=ok, at_start=False) for name, ok in goals),
                *(NamedCheck(kind="guard", description=name, passed=ok, at_start=True) for name, ok in guards),
            ),
        )


def is_summary(outline: Outline) -> bool:
    """Return whether a file is a ``result_summary.json``."""
    return outline.has("per_scenario_results")


def read_summary(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories of a run of ToolSandbox.

    The reward is the similarity to the milestones; an episode with the similarity 1 is successful. An episode that
    ended with an exception is not scored. Milestones and minefields become checks of the score. The folder
    ``trajectories`` next to the file contains the conversations.

    Raises:
        ReadError: The summary is not valid, or a conversation is missing or not valid.
    """
    folder = source.path.parent / "trajectories"
    if source.on_invalid is None:
        _reject_missing(source, folder)

    names = Names()

    def convert(entry: Entry) -> Trajectory:
        result = _result(entry, source)
        found = _trajectory(result, _conversation(folder, result), source.model)
        return found.model_copy(update={"id": names.unique(found.id)})

    yield from source.convert(source.entries(), convert)


def _result(entry: Entry, source: Source) -> _Result:
    try:
        return _Result.model_validate(entry.data)
    except ValidationError as error:
        fault = f"{entry.place}.{first_fault(error)}"
        raise ReadError(f"{source.where} is not a valid result_summary.json of ToolSandbox: {fault}") from None


def _conversation(folder: Path, result: _Result) -> Path:
    return folder / result.name / "conversation.json"


def _reject_missing(source: Source, folder: Path) -> None:
    """Raise an error if the folder of a run is not complete."""
    results = [_result(entry, source) for entry in source.entries()]
    if missing := [r.name for r in results if not _conversation(folder, r).is_file()]:
        raise ReadError(
            f"{folder} does not contain all conversations of the run: {len(missing)} of {len(results)} are missing, "
            f"for example {missing[0]}/conversation.json. Copy the complete folder of the run"
        )


def _trajectory(result: _Result, path: Path, model: str) -> Trajectory:
    from trace_gym.targets.toolsandbox.assistant import Assistant  # commands that read no run need no world

    try:
        logged = TypeAdapter(list[Logged]).validate_python(parse_json(read_text(path), str(path), nan=True))
    except ValidationError as error:
        raise ReadError(f"{path} is not a valid conversation of ToolSandbox: {first_fault(error)}") from None
    crashed = result.exception_type is not None
    return Trajectory(
        id=f"toolsandbox/{result.name}",
        task=result.name,
        messages=tuple(map(_refusal, conversation(logged))),
        success=None if crashed else result.success,
        reward=None if crashed else result.similarity,
        score=None if crashed else result.score,
        ended="error" if crashed else "unknown",
        source="ToolSandbox",
        model=model,
        tools=Assistant.interface().kinds,
    )


def _refusal(message: Message) -> Message:
    """Convert a message to the format of trajectories, in which the result of a refused call begins with ``Error:``."""
    content = str(message.get("content") or "")
    if message.get("role") != "tool" or not _exception.match(content) or content.startswith("Error"):
        return message
    return {**message, "content": f"Error: {content}"}
