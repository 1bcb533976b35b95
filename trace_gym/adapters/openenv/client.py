"""Client of the OpenEnv server: rollouts over a WebSocket, with the same interface as rollouts in this process."""

from __future__ import annotations

from typing import Any, Self

from trace_gym.adapters.rollout import library
from trace_gym.types import Message


class Remote:
    """A session with a server. It runs one episode after another, independently of other sessions.

    After an exception during an episode (the server is not reachable, or the environment failed), `reward` is None:
    the episode is not scored. Call `reset` to start the next episode.

    Args:
        url: URL of the server, such as ``http://localhost:8000``.
        seconds: Timeout for a response of the server, in seconds.

    Raises:
        MissingExtra: openenv is not installed.
    """

    def __init__(self, url: str, seconds: float = 60.0) -> None:
        client = library("openenv.core.generic_client", "openenv").GenericEnvClient
        self._client: Any = client(base_url=url, message_timeout_s=seconds).sync()
        self.messages: list[Message] = []
        """The conversation so far."""
        self.tools: list[Message] = []
        """The OpenAI function tools, as raw JSON Schemas in the target's order."""
        self.done = False
        self.reward: float | None = None
        """Reward of the finished episode; None before the end, and if the episode cannot be scored."""
        self.result: dict[str, Any] = {}
        """Dict with ``scenario``, ``done``, ``reward``, and after the end ``success``, ``truncated`` and ``score``."""

    def reset(self, seed: int | None = None, **which: Any) -> list[Message]:
        """Start an episode and return its initial messages.

        Args:
            seed: Seed of the scenario.
            which: ``scenario="env/level/seed"`` to select a scenario instead of a seed, or ``split`` to select a split.

        Raises:
            ConnectionError: The server does not respond.
            RuntimeError: The server rejects the request; the message contains the reason.
        """
        self.done, self.reward, self.result = False, None, {}
        answer = self._client.reset(**{k: v for k, v in {"seed": seed, **which}.items() if v is not None})
        self.messages, self.tools = list(answer.observation["messages"]), list(answer.observation["openai_tools"])
        self.result = answer.metadata
        return list(self.messages)

    def take(self, turn: str | Message) -> list[Message]:
        """Take an assistant turn and return the messages that answer the turn.

        Args:
            turn: Text as a model wrote it, or an OpenAI assistant message.

        Raises:
            ConnectionError, TimeoutError, RuntimeError: The turn could not be taken.
        """
        answer = self._step({"text": turn} if isinstance(turn, str) else {"message": turn})
        if not (new := answer["messages"]):  # the conversation was over
            return [{"role": "user", "content": answer["result"]}]
        self.messages += new
        return list(new[1:])

    def finish(self) -> float | None:
        """End the episode if it is not over, and return the reward."""
        self._step({"type": "finish"})
        return self.reward

    def close(self) -> None:
        """Close the connection to the server."""
        self._client.close()

    def __enter__(self) -> Self:
        self._client.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _step(self, action: dict[str, Any]) -> dict[str, Any]:
        answer = self._client.step(action)
        self.done, self.result = answer.done, answer.metadata
        self.reward = answer.metadata["reward"]
        observation: dict[str, Any] = answer.observation
        return observation
