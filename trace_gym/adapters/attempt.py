"""An attempt at a scenario as libraries hold it: taken by turns or by tool calls alone, paid, or not scored.

Where a library's agents can do nothing but call tools, three of ours stand for the rest: ``read_task``,
``talk_to_user`` and ``end_conversation``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.episode import Action, Episode
from trace_gym.errors import ConfigError, EnvBug, MissingExtra
from trace_gym.score import reward
from trace_gym.types import Call, Message

_T = TypeVar("_T")


def _own(name: str, description: str, **texts: str) -> Message:
    properties = {k: {"type": "string", "description": d} for k, d in texts.items()}
    parameters = {"type": "object", "properties": properties, "required": list(texts)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


OWN = (
    _own("read_task", "Read this first: the rules that you work by, and the user's first message."),
    _own("talk_to_user", "Write to the user. The result is the user's answer.", text="Your message to the user."),
    _own("end_conversation", "End the conversation when nothing is left to do. The result is the score."),
)
"""The tools that stand for what is no tool call."""
READ, SAY, END = (tool["function"]["name"] for tool in OWN)


def library(name: str, extra: str) -> Any:
    """A module that an extra installs.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(f"{error.name} is missing; pip install 'trace-gym[{extra}]'") from None


class Attempt:
    """One attempt. Whatever an agent does is answered; once the environment itself has failed, nothing is.

    Args:
        episode: Just begun.
        weights: How it is paid, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        at_end: Called once, when the episode is over and scored.

    Raises:
        ConfigError: There are no such weights, or a tool of the environment has the name of one of ours.
    """

    def __init__(
        self, episode: Episode, *, weights: str = "default", at_end: Callable[[Episode], None] = lambda _: None
    ) -> None:
        if weights not in WEIGHTS:
            raise ConfigError(f"weights {weights!r} is unknown; expected one of {', '.join(WEIGHTS)}")
        if taken := {READ, SAY, END} & set(episode.interface.kinds):
            raise ConfigError(f"{episode.scenario.env} has a tool {min(taken)!r}, which is a name of ours; rename it")
        self.episode, self._weights, self._at_end = episode, weights, at_end
        self._bug: EnvBug | None = None

    @property
    def messages(self) -> list[Message]:
        """The conversation so far."""
        return self.episode.messages

    @property
    def tools(self) -> tuple[Message, ...]:
        """The environment's OpenAI function tools, raw JSON Schemas in the target's order."""
        return self.episode.tools

    @property
    def done(self) -> bool:
        """Whether the attempt is over and scored."""
        return self.episode.done and self._bug is None

    @property
    def reward(self) -> float | None:
        """What the attempt is paid; None, not scored, while it goes on and where the environment failed."""
        score = self.episode.score
        return reward(score, WEIGHTS[self._weights]) if self.done and score else None

    @property
    def result(self) -> dict[str, Any]:
        """``scenario``, ``done`` and ``reward``; after the end also ``success``, ``truncated`` and ``score``."""
        told = {"scenario": str(self.episode.scenario), "done": self.done, "reward": self.reward}
        if (score := self.episode.score) is None or not self.done:
            return told
        more = {"success": score.success, "truncated": self.episode.truncated, "score": score.model_dump(mode="json")}
        return told | more

    @property
    def brief(self) -> str:
        """The rules and the user's first message."""
        system, user = self.messages[:2]
        return f"{system['content']}\n\nThe user's first message:\n\n{user['content']}"

    def take(self, action: Action) -> list[Message]:
        """Take an assistant turn and return the messages that answer it.

        Raises:
            EnvBug: The environment failed, now or in an earlier turn; the attempt is not scored.
        """
        return self._guarded(lambda: self.episode.step(action))

    def call(self, tool: str, arguments: dict[str, Any]) -> list[str]:
        """Call a tool, of the environment or of `OWN`, and return the texts that answer.

        Raises:
            EnvBug: As `take`.
        """
        if tool == READ:
            return [self.brief]
        if tool == END:
            self.finish()
            return []
        said: Message = {"role": "assistant", "content": arguments.get("text")}
        return [m["content"] for m in self.take(said if tool == SAY else Call(tool, arguments))]

    def finish(self) -> float | None:
        """End the attempt now, if it is not over, and return the reward.

        Raises:
            EnvBug: As `take`.
        """
        self._guarded(self.episode.finish)
        return self.reward

    def close(self) -> None:
        """Nothing is held."""

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
