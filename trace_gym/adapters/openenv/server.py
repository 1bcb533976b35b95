"""Environment class of the OpenEnv server. Each session has one instance, which runs one episode after another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import SystemRandom
from typing import Annotated, Any, Literal, Self

from pydantic import WithJsonSchema

import trace_gym
from trace_gym import registry
from trace_gym.adapters.problems import Problems
from trace_gym.adapters.rollout import CONVERSATION_TOOLS, AdapterRollout, library
from trace_gym.errors import ConfigError, EnvBug
from trace_gym.types import Message

_core: Any = library("openenv.core", "openenv")
_types: Any = library("openenv.core.env_server.types", "openenv")

PREVIEW = 100
"""Maximum number of tasks in a listing. A split can contain a million tasks, so listings are truncated."""
_KINDS = {"train": "train", "pretrain": "train", "test": "test"}
"""OpenEnv's type of each split; splits that are not listed have the type ``validation``."""


class Turn(_core.Action):  # type: ignore[misc]  # openenv is an optional dependency
    """An assistant turn, or a request for the tools.

    ``{"text": ...}`` is the text of a model, with tool calls in the chat format of the server. ``{"message": {...}}``
    is an OpenAI assistant message. ``{"type": "call_tool", "tool_name": ..., "arguments": {...}}`` is one tool call,
    of the environment's tools or of `trace_gym.adapters.rollout.CONVERSATION_TOOLS`. ``{"type": "finish"}`` ends and
    scores the episode.
    """

    type: Literal["turn", "call_tool", "list_tools", "finish"] = "turn"
    # With type str, pydantic would reject strings with lone surrogates. With Any, the episode returns an error instead.
    text: Annotated[Any, WithJsonSchema({"type": "string"})] = ""
    message: dict[str, Any] | None = None
    tool_name: str = ""
    arguments: dict[str, Any] = {}


class Opening(_core.Observation):  # type: ignore[misc]
    """The initial observation of an episode."""

    messages: list[Message]
    """The system message and the first user message."""
    openai_tools: list[Message]
    """The OpenAI function tools, as raw JSON Schemas in the target's order."""


class Answer(_core.CallToolObservation):  # type: ignore[misc]
    """The observation after a turn. The reward is set only in the observation that ends the episode."""

    tool_name: str = ""
    result: str = ""
    """Texts of the messages that answer the turn."""
    messages: list[Message] = []
    """New messages of the conversation: the parsed turn, and the messages that answer the turn."""


class TraceEnvironment(_core.Environment):  # type: ignore[misc]
    """One session of the server.

    Args:
        problems: Mapping from seeds to scenarios.
        weights: Name of the reward weights, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        style: Chat format of turns that are text, a key of `trace_gym.chat_formats.FORMATS`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, problems: Problems, weights: str = "default", style: str = "hermes") -> None:
        super().__init__()
        self.problems, self.weights, self.style = problems, weights, style
        self.episode_id: str | None = None
        self._rollout: AdapterRollout | None = None

    @property
    def rollout(self) -> AdapterRollout:
        """The current rollout.

        Raises:
            ConfigError: No episode was started, or the environment failed.
        """
        if self._rollout is None:
            raise ConfigError("this session has no running episode. Call reset first")
        return self._rollout

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        scenario: str | None = None,
        split: str | None = None,
        index: int | None = None,
        **unknown: Any,
    ) -> Opening:
        """Start an episode and return the initial observation.

        Args:
            seed: Seed of the scenario. A random seed is drawn if neither `seed`, `index` nor `scenario` is given.
            episode_id: Identifier that the caller chooses.
            scenario: Scenario id, ``env/level/seed``; replaces the seed.
            split: Split of the seed; None for the split of the server.
            index: Alias of `seed` in OpenEnv's task API.
            unknown: Other options, which are rejected.

        Raises:
            ConfigError, ScenarioError: An argument is not valid.
            EnvBug: The environment fails when the scenario is started.
        """
        if unknown:
            raise ConfigError(
                f"unknown option of reset: found {min(unknown)!r}, expected seed, scenario, split or index"
            )
        self._rollout, self.episode_id = None, episode_id
        which = seed if index is None else index
        if scenario is not None:
            at = self.problems.exactly(scenario)
        else:
            at = self.problems.at(SystemRandom().randrange(10**6) if which is None else which, split)
        self._rollout = AdapterRollout(self.problems.start(at, style=self.style), weights=self.weights)
        began = self._rollout
        return Opening(messages=list(began.messages), openai_tools=list(began.tools), metadata=began.result)

    def step(self, action: Turn, timeout_s: float | None = None, **_: Any) -> Any:
        """Take one assistant turn.

        Raises:
            ConfigError: The session has no running episode.
            EnvBug: The environment failed; the episode is discarded and not scored.
        """
        if action.type == "list_tools":
            return _core.ListToolsObservation(tools=[_core.Tool(**_tool(t)) for t in self.tools])
        rollout, known, before = self.rollout, len(self.rollout.messages), self.rollout.done
        try:
            texts = self._take(rollout, action)
        except EnvBug:
            self._rollout = None
            raise
        return Answer(
            tool_name=action.tool_name,
            result="\n\n".join(texts),
            messages=rollout.messages[known:],
            done=rollout.done,
            reward=None if before else rollout.reward,
            metadata=rollout.result,
        )

    @property
    def tools(self) -> Sequence[Message]:
        """OpenAI function tools of the current episode; before the first episode, the tools of all environments.

        Raises:
            ConfigError: No episode was started, and the environments have different tools.
        """
        return self.problems.tools() if self._rollout is None else self._rollout.tools

    @property
    def state(self) -> Any:
        """Number of steps, scenario id and state hash of the current episode. Before `reset`, only the episode id."""
        if self._rollout is None:
            return _core.State(episode_id=self.episode_id)
        episode = self._rollout.episode
        more = {"scenario": str(episode.scenario), "state_hash": episode.state_hash}
        return _core.State(episode_id=self.episode_id, step_count=episode.turns, **more)

    def get_metadata(self) -> Any:
        message = f"Seeded, verifiable conversations: {', '.join(self.problems.envs)}"
        return _types.EnvironmentMetadata(name="trace-gym", description=message, version=trace_gym.__version__)

    def list_splits(self) -> list[dict[str, str]]:
        """Return the name of each split of seeds, with the corresponding type in OpenEnv."""
        return [{"name": split, "type": _KINDS.get(split, "validation")} for split in registry.SPLITS]

    def num_tasks(self, split: str) -> int:
        return len(registry.SPLITS.get(split, ()))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return the scenario that ``reset(split=..., index=...)`` starts.

        Raises:
            IndexError: The split does not have this index.
        """
        if index not in range(self.num_tasks(split)):
            raise IndexError(index)
        return {"id": str(self.problems.at(index, split)), "index": index, "split": split}

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Return the tasks with indices from `start` to `stop`, at most `PREVIEW` tasks."""
        wanted = range(self.num_tasks(split))[slice(start, stop)][:PREVIEW]
        return [self.get_task(split, index) for index in wanted]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return the first `PREVIEW` tasks."""
        return self.get_task_range(split)

    @property
    def mcp_client(self) -> _Tools:
        """MCP client through which OpenEnv's ``/mcp`` route lists and calls tools."""
        return _Tools(self)

    def _take(self, rollout: AdapterRollout, action: Turn) -> list[str]:
        if action.type == "call_tool":
            return rollout.call(action.tool_name, action.arguments)
        if action.type == "finish":
            rollout.finish()
            return []
        return [m["content"] for m in rollout.take(action.text if action.message is None else action.message)]


class _Tools:
    """Minimal MCP client interface for OpenEnv's server, so that OpenEnv's `MCPToolClient` can run an episode."""

    def __init__(self, environment: TraceEnvironment) -> None:
        self._environment = environment

    def is_connected(self) -> bool:
        return True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def list_tools(self) -> list[dict[str, Any]]:
        return [_tool(t, "inputSchema") for t in (*self._environment.tools, *CONVERSATION_TOOLS)]

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return the answer as ``data``. At the end of the episode, append the result as JSON."""
        answer = self._environment.step(Turn(type="call_tool", tool_name=name, arguments=arguments))
        over = "" if answer.reward is None else json.dumps(self._environment.rollout.result, ensure_ascii=False)
        return {"data": f"{answer.result}\n\n{over}".strip()}


def _tool(tool: Message, schema: str = "input_schema") -> dict[str, Any]:
    function = tool["function"]
    return {"name": function["name"], "description": function["description"], schema: function["parameters"]}
