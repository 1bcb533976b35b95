"""Rollout class that the adapters share: an episode with a reward, driven by assistant turns or by tool calls.

Agents of some libraries can only call tools. For these agents, three additional tools cover the rest of a
conversation: ``read_task``, ``talk_to_user`` and ``end_conversation``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.episode import Action, Episode
from trace_gym.errors import ConfigError, EnvBug, MissingExtra, expect_choice
from trace_gym.score import reward
from trace_gym.types import Call, Message

_T = TypeVar("_T")


def _tool_schema(name: str, description: str, **texts: str) -> Message:
    properties = {k: {"type": "string", "description": d} for k, d in texts.items()}
    parameters = {"type": "object", "properties": properties, "required": list(texts)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


CONVERSATION_TOOLS = (
    _tool_schema("read_task", "Call this first. Return the rules that you must follow, and the user's first message."),
    _tool_schema(
        "talk_to_user", "Send a message to the user. Return the user's answer.", text="Your message to the user."
    ),
    _tool_schema("end_conversation", "End the conversation when the task is finished. Return the score."),
)
"""OpenAI function tools for the parts of a conversation that are not calls of the environment's tools."""
READ, SAY, END = (tool["function"]["name"] for tool in CONVERSATION_TOOLS)


def library(name: str, extra: str) -> Any:
    """Import and return a module of an optional dependency.

    Raises:
        MissingExtra: The module is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"{error.name} is missing; pip install 'trace-gym[{extra}]'") from None


class AdapterRollout:
    """One rollout of a scenario.

    If the agent takes an invalid action, it receives an error message. After an error of the environment itself, every
    further action raises the same error.

    Args:
        episode: An episode in which no turn has been taken.
        weights: Name of the reward weights, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        at_end: Function that is called once with the episode when the episode is over and scored.

    Raises:
        ConfigError: The weights do not exist, or a tool of the environment has the same name as a tool in
            `CONVERSATION_TOOLS`.
    """

    def __init__(
        self, episode: Episode, *, weights: str = "default", at_end: Callable[[Episode], None] = lambda _: None
    ) -> None:
        expect_choice("value of weights", weights, WEIGHTS)
        if taken := {READ, SAY, END} & set(episode.interface.kinds):
            raise ConfigError(
                f"the environment {episode.scenario.env} has a tool with the reserved name {min(taken)!r}, which the "
                "adapter uses for its own tool. Rename the tool of the environment"
            )
        self.episode, self._weights, self._at_end = episode, weights, at_end
        self._bug: EnvBug | None = None

    @property
    def messages(self) -> list[Message]:
        """The conversation so far."""
        return self.episode.messages

    @property
    def tools(self) -> tuple[Message, ...]:
        """The environment's OpenAI function tools, as raw JSON Schemas in the target's order."""
        return self.episode.tools

    @property
    def done(self) -> bool:
        """True if the episode is over and scored."""
        return self.episode.done and self._bug is None

    @property
    def reward(self) -> float | None:
        """Reward of the finished episode; None (not scored) before the end and after an error of the environment."""
        score = self.episode.score
        return reward(score, WEIGHTS[self._weights]) if self.done and score else None

    @property
    def result(self) -> dict[str, Any]:
        """Dict with ``scenario``, ``done``, ``reward``, and after the end ``success``, ``truncated`` and ``score``."""
        summary = {"scenario": str(self.episode.scenario), "done": self.done, "reward": self.reward}
        if (score := self.episode.score) is None or not self.done:
            return summary
        scores = {"success": score.success, "truncated": self.episode.truncated, "score": score.model_dump(mode="json")}
        return summary | scores

    @property
    def brief(self) -> str:
        """The rules and the user's first message."""
        system, user = self.messages[:2]
        return f"{system['content']}\n\nThe user's first message:\n\n{user['content']}"

    def take(self, action: Action) -> list[Message]:
        """Take an assistant turn and return the messages that answer the turn.

        Raises:
            EnvBug: The environment failed in this turn or in an earlier one; the rollout is not scored.
        """
        return self._guarded(lambda: self.episode.step(action))

    def call(self, tool: str, arguments: dict[str, Any]) -> list[str]:
        """Call a tool of the environment or of `CONVERSATION_TOOLS`, and return the texts of the answer.

        Raises:
            EnvBug: The environment failed, as in `take`.
        """
        if tool == READ:
            return [self.brief]
        if tool == END:
            self.finish()
            return []
        turn: Message = {"role": "assistant", "content": arguments.get("text")}
        return [m["content"] for m in self.take(turn if tool == SAY else Call(tool, arguments))]

    def finish(self) -> float | None:
        """End the episode if it is not over, and return the reward.

        Raises:
            EnvBug: The environment failed, as in `take`.
        """
        self._guarded(self.episode.finish)
        return self.reward

    def close(self) -> None:
        """Do nothing. The method exists for compatibility with remote rollouts, which must close a connection."""

    def _guarded(self, act: Callable[[], _T]) -> _T:
        if self._bug:
            raise self._bug
        before = self.episode.done
        try:
            done = act()
        except EnvBug as bug:
            self._bug = bug
            raise
        if self.episode.done and not before:
            self._at_end(self.episode)
        return done
