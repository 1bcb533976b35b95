"""What an OpenEnv server runs for a session: one attempt after another, apart from all other sessions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import SystemRandom
from typing import Annotated, Any, Literal, Self

from pydantic import WithJsonSchema

import trace_gym
from trace_gym import registry
from trace_gym.adapters.attempt import OWN, Attempt, library
from trace_gym.adapters.problems import Problems
from trace_gym.errors import ConfigError, EnvBug
from trace_gym.types import Message

_core: Any = library("openenv.core", "openenv")
_types: Any = library("openenv.core.env_server.types", "openenv")

PREVIEW = 100
"""Tasks that are listed of a split, which has a million."""
_KINDS = {"train": "train", "pretrain": "train", "test": "test"}
"""What OpenEnv calls our splits; the others are for validation."""


class Turn(_core.Action):  # type: ignore[misc]  # openenv is imported when it is there
    """An assistant turn, or a request for the tools.

    ``{"text": ...}`` is what a model wrote, its calls in the chat format of the server. ``{"message": {...}}`` is the
    same as an OpenAI assistant message. ``{"type": "call_tool", "tool_name": ..., "arguments": {...}}`` is one call;
    `trace_gym.adapters.attempt.OWN` may be called too. ``{"type": "finish"}`` ends the attempt and has it scored.
    """

    type: Literal["turn", "call_tool", "list_tools", "finish"] = "turn"
    # Not every string that JSON can hold is one to pydantic; what is none, the episode answers.
    text: Annotated[Any, WithJsonSchema({"type": "string"})] = ""
    message: dict[str, Any] | None = None
    tool_name: str = ""
    arguments: dict[str, Any] = {}


class Opening(_core.Observation):  # type: ignore[misc]
    """What an attempt begins with."""

    messages: list[Message]
    """The system message and the user's first."""
    openai_tools: list[Message]
    """The OpenAI function tools, raw JSON Schemas in the target's order."""


class Answer(_core.CallToolObservation):  # type: ignore[misc]
    """What a turn is answered with. The reward comes with the end; before and after it there is none."""

    tool_name: str = ""
    result: str = ""
    """The texts that answer."""
    messages: list[Message] = []
    """What is new in the conversation: the turn as it was taken, and the messages that answer it."""


class Environment(_core.Environment):  # type: ignore[misc]
    """One session of the server.

    Args:
        problems: What it serves.
        weights: How an attempt is paid, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        style: Chat format of turns that are text, a key of `trace_gym.actions.FORMATS`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, problems: Problems, weights: str = "default", style: str = "hermes") -> None:
        super().__init__()
        self.problems, self.weights, self.style = problems, weights, style
        self.episode_id: str | None = None
        self._attempt: Attempt | None = None

    @property
    def attempt(self) -> Attempt:
        """The attempt under way.

        Raises:
            ConfigError: None was begun, or the environment failed in it.
        """
        if self._attempt is None:
            raise ConfigError("no attempt is under way in this session; reset it first")
        return self._attempt

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        scenario: str | None = None,
        split: str | None = None,
        index: int | None = None,
        **unknown: Any,
    ) -> Opening:
        """Begin an attempt.

        Args:
            seed: Which scenario; one is drawn where neither this nor another is given.
            episode_id: A name of the caller's own.
            scenario: The address of exactly one, ``env/level/seed``.
            split: Another split to count through.
            index: The same as `seed`, as OpenEnv's task API calls it.
            unknown: There is no other option.

        Raises:
            ConfigError, ScenarioError: An argument is none of its choices.
            EnvBug: The scenario does not begin.
        """
        if unknown:
            raise ConfigError(f"reset knows no {min(unknown)!r}; expected seed, scenario, split or index")
        self._attempt, self.episode_id = None, episode_id
        which = seed if index is None else index
        if scenario is not None:
            at = self.problems.exactly(scenario)
        else:
            at = self.problems.at(SystemRandom().randrange(10**6) if which is None else which, split)
        self._attempt = Attempt(registry.episode(at, style=self.style), weights=self.weights)
        began = self._attempt
        return Opening(messages=list(began.messages), openai_tools=list(began.tools), metadata=began.result)

    def step(self, action: Turn, timeout_s: float | None = None, **_: Any) -> Any:
        """Take one assistant turn.

        Raises:
            ConfigError: No attempt is under way.
            EnvBug: The environment failed; the attempt is gone and not scored.
        """
        if action.type == "list_tools":
            return _core.ListToolsObservation(tools=[_core.Tool(**_tool(t)) for t in self.tools])
        attempt, known, before = self.attempt, len(self.attempt.messages), self.attempt.done
        try:
            texts = self._take(attempt, action)
        except EnvBug:
            self._attempt = None
            raise
        return Answer(
            tool_name=action.tool_name,
            result="\n\n".join(texts),
            messages=attempt.messages[known:],
            done=attempt.done,
            reward=None if before else attempt.reward,
            metadata=attempt.result,
        )

    @property
    def tools(self) -> Sequence[Message]:
        """The OpenAI function tools of the attempt; before the first, those that all attempts have.

        Raises:
            ConfigError: They differ.
        """
        return self.problems.tools() if self._attempt is None else self._attempt.tools

    @property
    def state(self) -> Any:
        """The step count, and during an attempt its scenario and the hash of the world's state."""
        if self._attempt is None:
            return _core.State(episode_id=self.episode_id)
        episode = self._attempt.episode
        more = {"scenario": str(episode.scenario), "state_hash": episode.state_hash}
        return _core.State(episode_id=self.episode_id, step_count=episode.turns, **more)

    def get_metadata(self) -> Any:
        says = f"Seeded, verifiable conversations: {', '.join(self.problems.envs)}"
        return _types.EnvironmentMetadata(name="trace-gym", description=says, version=trace_gym.__version__)

    def list_splits(self) -> list[dict[str, str]]:
        """Our splits of seeds, with what OpenEnv calls them."""
        return [{"name": split, "type": _KINDS.get(split, "validation")} for split in registry.SPLITS]

    def num_tasks(self, split: str) -> int:
        return len(registry.SPLITS.get(split, ()))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """The scenario that ``reset(split=..., index=...)`` begins.

        Raises:
            IndexError: There is none.
        """
        if index not in range(self.num_tasks(split)):
            raise IndexError(index)
        return {"id": str(self.problems.at(index, split)), "index": index, "split": split}

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """At most `PREVIEW` tasks from `start` on."""
        wanted = range(self.num_tasks(split))[slice(start, stop)][:PREVIEW]
        return [self.get_task(split, index) for index in wanted]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """The first `PREVIEW` tasks."""
        return self.get_task_range(split)

    @property
    def mcp_client(self) -> _Tools:
        """What OpenEnv's ``/mcp`` route asks for tools."""
        return _Tools(self)

    def _take(self, attempt: Attempt, action: Turn) -> list[str]:
        if action.type == "call_tool":
            return attempt.call(action.tool_name, action.arguments)
        if action.type == "finish":
            attempt.finish()
            return []
        return [m["content"] for m in attempt.take(action.text if action.message is None else action.message)]


class _Tools:
    """The part of an MCP client that OpenEnv's server uses, so that its `MCPToolClient` can play, too."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def is_connected(self) -> bool:
        return True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def list_tools(self) -> list[dict[str, Any]]:
        return [_tool(t, "inputSchema") for t in (*self._environment.tools, *OWN)]

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The texts that answer as ``data``, and at the end the result."""
        answer = self._environment.step(Turn(type="call_tool", tool_name=name, arguments=arguments))
        over = "" if answer.reward is None else json.dumps(self._environment.attempt.result, ensure_ascii=False)
        return {"data": f"{answer.result}\n\n{over}".strip()}


def _tool(tool: Message, schema: str = "input_schema") -> dict[str, Any]:
    function = tool["function"]
    return {"name": function["name"], "description": function["description"], schema: function["parameters"]}
