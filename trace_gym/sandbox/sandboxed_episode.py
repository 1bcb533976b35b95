"""Episodes that run in the sandbox and are stepped from outside.

Policies that require a network or a model cannot run inside the sandbox. `SandboxedWorld` starts a sandboxed process
for a module, and `SandboxedEpisode` is an `Episode` whose world runs in the sandboxed process. All data from the
sandbox is validated before it is used.
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
from trace_gym.sandbox.episode_server import as_action, as_data
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.sandbox import Sandbox
from trace_gym.types import Call, Interface, Message, Say, Scenario, Score
from trace_gym.world import Step

SESSION_LIMITS = Limits(cpu_seconds=36_000.0, wall_seconds=172_800.0, output_mib=4096)
"""Resource limits of a session. They are high, because rollouts of a policy behind an endpoint may take hours."""
ANSWER_SECONDS = 300.0
"""Timeout for one response in seconds."""
RAISED = {
    name: getattr(errors, name) for name in ("EnvBug", "ScenarioError", "ConfigError", "PolicyError", "MissingExtra")
}
"""Exceptions that are re-raised outside the sandbox with their original class."""
TEXT = Annotated[str, Field(max_length=1_000_000)]


_A = TypeVar("_A", bound="_Answer")


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Ready(_Answer):
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    levels: Annotated[int, Field(ge=1, le=1000)]
    max_turns: Annotated[int, Field(ge=1)]
    interface: Annotated[Interface, Field(strict=False)]


class _AnsweredFunction(_Answer):
    name: TEXT
    arguments: TEXT


class _AnsweredToolCall(_Answer):
    id: TEXT
    type: Literal["function"]
    function: _AnsweredFunction


class _Message(_Answer):
    role: Literal["system", "user", "assistant", "tool"]
    content: TEXT
    tool_calls: list[_AnsweredToolCall] | None = None
    tool_call_id: TEXT | None = None
    name: TEXT | None = None


class _AnsweredState(_Answer):
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


class _Value(_Answer):
    value: TEXT


class SandboxedWorld:
    """World of a module that runs in a sandbox. The class is a context manager.

    Args:
        path: Module file.
        options: The arguments ``target_imports`` and ``target_files`` of `Sandbox.open`.

    Raises:
        ReadError: The module cannot be read.
        EnvBug: The module cannot be loaded.
        SandboxError: This machine cannot isolate the module.
    """

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        self._sandbox = Sandbox(SESSION_LIMITS)
        try:
            self._job = self._sandbox.open(path, "episodes", ANSWER_SECONDS, **options)
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
        """End the sandboxed process."""
        self._sandbox.close()

    def episode(self, scenario: Scenario, style: str = "hermes") -> SandboxedEpisode:
        """Start an episode."""
        if scenario.env != self.id or scenario.level not in self.levels:
            raise ScenarioError(f"the scenario {scenario} does not exist: {self.id} has levels {list(self.levels)}")
        return SandboxedEpisode(self, scenario, style=style)

    def measure(self, scenario: Scenario) -> str:
        """Return the value of the module's function ``measure`` for the start state of a scenario."""
        return self.request(_Value, "measure", scenario=str(scenario)).value

    def request(self, kind: type[_A], op: str, **arguments: Any) -> _A:
        """Send a request and return the validated response.

        Raises:
            EnvBug: The world raised an error, the process ended, or the response is invalid.
        """
        with self._job.request_lock:  # several threads may step episodes of this world
            self._job.send({"op": op, **arguments})
            return self._read(kind)

    def _read(self, kind: type[_A]) -> _A:
        line = self._job.receive()
        if line is None:
            message = self._job.outcome.message if self._job.outcome else ""
            raise EnvBug(f"the sandbox stopped the module: {message or 'the process ended'}")
        if "error" in line:
            raise RAISED.get(str(line["error"]), EnvBug)(str(line.get("message", ""))[:2000])
        if "exception" in line:
            raise EnvBug(f"the module cannot be loaded: {str(line['raised'])[:2000]}")
        try:
            return kind.model_validate_json(json.dumps(line.get("answer")))
        except (ValidationError, ValueError) as error:
            raise EnvBug(f"the sandbox returned an invalid answer: {str(error)[:300]}") from None


class SandboxedEpisode(Episode):
    """Episode whose world runs in the sandbox. Its messages and score are copies of the data in the sandbox."""

    def __init__(self, world: SandboxedWorld, scenario: Scenario, *, style: str = "hermes") -> None:
        self._world = world
        self.scenario, self.style, self.interface = scenario, style, world.interface
        self.messages: list[Message] = []
        state = world.request(_AnsweredState, "start", scenario=str(scenario))
        if state.number is None:
            raise EnvBug(f"{scenario}: the sandbox returned an invalid answer")
        self._number = state.number
        self._plans: dict[str, list[Step]] = {}
        self.world = self.start = _RemoteWorld(self)  # type: ignore[assignment]  # has the members callers use
        self.said: list[str] = []
        self._apply_state(state)

    @property
    def state_hash(self) -> str:
        """State hash in the latest response from the sandbox."""
        return self._hash

    def step(self, action: Action) -> list[Message]:
        """Take one assistant turn in the sandbox and return the messages that answer it."""
        state = self._world.request(
            _AnsweredState, "step", number=self._number, action=as_data(action), style=self.style
        )
        self._apply_state(state)
        return [_message(m) for m in state.answers or ()]

    def finish(self) -> Score:
        """End the episode now and return its score."""
        if self.score is None:
            self._apply_state(self._world.request(_AnsweredState, "finish", number=self._number))
        if self.score is None:
            raise EnvBug(f"{self.scenario}: the sandbox returned no score")
        return self.score

    def plan(self, expert: str) -> Iterator[Step]:
        """Yield an expert's steps from the start state. The plan is requested from the sandbox only once."""
        if expert not in self._plans:
            steps = self._world.request(_Plan, "plan", number=self._number, expert=expert).steps
            self._plans[expert] = [as_action(data) for data in steps]
        for step in self._plans[expert]:
            if not isinstance(step, (Call, Say)):
                raise EnvBug(f"{self.scenario}: the plan of {expert} contains an invalid step")
            yield step

    def _apply_state(self, state: _AnsweredState) -> None:
        self.messages += map(_message, state.messages)
        self.turns, self.malformed, self._hash = state.turns, state.malformed, state.hash
        self.done, self.truncated, self.score = state.done, state.truncated, state.score
        self.ended = state.ended


class _RemoteWorld:
    """Stand-in for a world, with the members that callers outside the sandbox use."""

    def __init__(self, episode: SandboxedEpisode) -> None:
        self._episode = episode
        self.max_turns = episode._world.max_turns

    @property
    def ended(self) -> bool:
        return self._episode.ended

    def oracle(self) -> Iterator[Step]:
        return self._episode.plan("oracle")

    def ablated(self) -> Iterator[Step]:
        return self._episode.plan("ablated")


def _message(message: _Message) -> Message:
    return message.model_dump(mode="json", exclude_none=True)
