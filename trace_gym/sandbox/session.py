"""Episodes that run in the sandbox and are stepped from outside: for policies that need a network or a model.

`ConfinedWorld` starts one confined process for a module; `ConfinedEpisode` is an `Episode` whose world stays there.
Everything that comes back is checked before it is used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trace_gym import errors
from trace_gym.episode import Action, Episode
from trace_gym.errors import EnvBug, ScenarioError
from trace_gym.sandbox.confine import Sandbox
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.playing import as_action, as_data
from trace_gym.types import Call, Interface, Message, Say, Scenario, Score
from trace_gym.world import Step

PATIENT = Limits(cpu_seconds=36_000.0, wall_seconds=172_800.0, output_mib=4096)
"""Limits of a session: a policy behind an endpoint may take hours for its attempts."""
ANSWER_SECONDS = 300.0
"""Seconds that one answer may take."""
RAISED = {
    name: getattr(errors, name) for name in ("EnvBug", "ScenarioError", "ConfigError", "PolicyError", "MissingExtra")
}
"""Errors that keep their class on the way out of the sandbox."""
TEXT = Annotated[str, Field(max_length=1_000_000)]


_A = TypeVar("_A", bound="_Answer")


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Ready(_Answer):
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    levels: Annotated[int, Field(ge=1, le=1000)]
    max_turns: Annotated[int, Field(ge=1)]
    interface: Annotated[Interface, Field(strict=False)]


class _Function(_Answer):
    name: TEXT
    arguments: TEXT


class _ToolCall(_Answer):
    id: TEXT
    type: Literal["function"]
    function: _Function


class _Message(_Answer):
    role: Literal["system", "user", "assistant", "tool"]
    content: TEXT
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: TEXT | None = None
    name: TEXT | None = None


class _State(_Answer):
    messages: list[_Message]
    answers: list[_Message] | None = None
    number: int | None = None
    turns: Annotated[int, Field(ge=0)]
    malformed: Annotated[int, Field(ge=0)]
    said: Annotated[int, Field(ge=0)]
    done: bool
    truncated: bool
    ended: bool
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    score: Annotated[Score, Field(strict=False)] | None


class _Plan(_Answer):
    steps: list[dict[str, Any]]


class ConfinedWorld:
    """A module that runs in a sandbox, and what the caller may know of its world. A context manager.

    Args:
        path: The module.
        options: As for `Sandbox.validate`: ``lent`` and ``imports``.

    Raises:
        ReadError: The module cannot be read.
        EnvBug: It cannot be loaded.
        ConfigError: This machine has no isolation.
    """

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        self._sandbox = Sandbox(PATIENT)
        try:
            self._job = self._sandbox.open(path, "play", ANSWER_SECONDS, **options)
            ready = self._read(_Ready)
        except BaseException:
            self._sandbox.close()
            raise
        self.id, self.levels, self.max_turns = ready.id, range(ready.levels), ready.max_turns
        self.interface = ready.interface

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._sandbox.close()

    def episode(self, scenario: Scenario, style: str = "hermes") -> ConfinedEpisode:
        """Start an episode."""
        if scenario.env != self.id or scenario.level not in self.levels:
            raise ScenarioError(f"{self.id} has levels {list(self.levels)}; there is no scenario {scenario}")
        return ConfinedEpisode(self, scenario, style=style)

    def ask(self, kind: type[_A], op: str, **arguments: Any) -> _A:
        """Return the checked answer to one request.

        Raises:
            EnvBug: The world raised an error, the process ended, or the answer is not valid.
        """
        with self._job.turn:  # policies behind an endpoint take turns in several threads
            self._job.say({"op": op, **arguments})
            return self._read(kind)

    def _read(self, kind: type[_A]) -> _A:
        line = self._job.hear()
        if line is None:
            says = self._job.outcome.says if self._job.outcome else ""
            raise EnvBug(f"the sandbox stopped the module: {says or 'its process ended'}")
        if "error" in line:
            raise RAISED.get(str(line["error"]), EnvBug)(str(line.get("says", ""))[:2000])
        if "raised" in line:
            raise EnvBug(f"the module cannot be loaded: {str(line['raised'])[:2000]}")
        try:
            return kind.model_validate_json(json.dumps(line.get("answer")))
        except (ValidationError, ValueError) as error:
            raise EnvBug(f"the sandbox gave an invalid answer: {str(error)[:300]}") from None


class ConfinedEpisode(Episode):
    """An episode whose world stays in the sandbox. Its messages and its score are copies."""

    def __init__(self, confined: ConfinedWorld, scenario: Scenario, *, style: str = "hermes") -> None:
        self._confined = confined
        self.scenario, self.style, self.interface = scenario, style, confined.interface
        self.messages: list[Message] = []
        begun = confined.ask(_State, "begin", scenario=str(scenario), style=style)
        if begun.number is None:
            raise EnvBug(f"{scenario}: the sandbox gave an invalid answer")
        self._number = begun.number
        self._plans: dict[str, list[Step]] = {}
        self.world = self.start = _Outside(self)  # type: ignore[assignment]  # what callers use of the world
        self.said: list[str] = []
        self._take_over(begun)

    @property
    def state_hash(self) -> str:
        """Hash of the state, as the sandbox told it last."""
        return self._hash

    def step(self, action: Action) -> list[Message]:
        """Take one assistant turn in the sandbox and return the messages that answer it."""
        state = self._confined.ask(_State, "step", number=self._number, action=as_data(action))
        self._take_over(state)
        return [_message(m) for m in state.answers or ()]

    def finish(self) -> Score:
        """End the episode now and return its score."""
        if self.score is None:
            self._take_over(self._confined.ask(_State, "finish", number=self._number))
        if self.score is None:
            raise EnvBug(f"{self.scenario}: the sandbox told no score")
        return self.score

    def plan(self, expert: str) -> Iterator[Step]:
        """The steps of an expert, from the start; they are asked for once."""
        if expert not in self._plans:
            told = self._confined.ask(_Plan, "plan", number=self._number, expert=expert).steps
            self._plans[expert] = [as_action(data) for data in told]
        for step in self._plans[expert]:
            if not isinstance(step, (Call, Say)):
                raise EnvBug(f"{self.scenario}: the {expert} takes an invalid step")
            yield step

    def _take_over(self, state: _State) -> None:
        self.messages += map(_message, state.messages)
        self.turns, self.malformed, self._hash = state.turns, state.malformed, state.hash
        self.done, self.truncated, self.score = state.done, state.truncated, state.score
        self.ended = state.ended


class _Outside:
    """What can be asked of a world from outside: whether it ended the conversation, and its experts' plans."""

    def __init__(self, episode: ConfinedEpisode) -> None:
        self._episode = episode
        self.max_turns = episode._confined.max_turns

    @property
    def ended(self) -> bool:
        return self._episode.ended

    def oracle(self) -> Iterator[Step]:
        return self._episode.plan("oracle")

    def ablated(self) -> Iterator[Step]:
        return self._episode.plan("ablated")


def _message(message: _Message) -> Message:
    return message.model_dump(mode="json", exclude_none=True)
