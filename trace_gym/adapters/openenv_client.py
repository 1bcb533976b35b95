"""A client of an OpenEnv server of ours: attempts over a WebSocket, with what an attempt in the process has."""

from __future__ import annotations

from typing import Any, Self

from trace_gym.adapters.attempt import library
from trace_gym.types import Message


class Remote:
    """A session with a server, apart from all others: one attempt after another.

    An exception while an attempt goes on (the server is gone, or the environment failed in it) leaves `reward` at
    None: not scored. Begin the next with `reset`.

    Args:
        url: Address of the server, such as ``http://localhost:8000``.
        seconds: For the server to answer.

    Raises:
        MissingExtra: openenv is not installed.
    """

    def __init__(self, url: str, seconds: float = 60.0) -> None:
        client = library("openenv.core.generic_client", "openenv").GenericEnvClient
        self._client: Any = client(base_url=url, message_timeout_s=seconds).sync()
        self.messages: list[Message] = []
        """The conversation so far."""
        self.tools: list[Message] = []
        """The OpenAI function tools, raw JSON Schemas in the target's order."""
        self.done = False
        self.reward: float | None = None
        """What the attempt is paid; None while it goes on, and where it cannot be scored."""
        self.result: dict[str, Any] = {}
        """``scenario``, ``done`` and ``reward``; after the end also ``success``, ``truncated`` and ``score``."""

    def reset(self, seed: int | None = None, **which: Any) -> list[Message]:
        """Begin an attempt and return the messages that it begins with.

        Args:
            seed: Which scenario.
            which: Instead of a seed ``scenario="env/level/seed"``; or ``split``, another split to count through.

        Raises:
            ConnectionError: The server does not answer.
            RuntimeError: The server refuses; the message tells why.
        """
        self.done, self.reward, self.result = False, None, {}
        answer = self._client.reset(**{k: v for k, v in {"seed": seed, **which}.items() if v is not None})
        self.messages, self.tools = list(answer.observation["messages"]), list(answer.observation["openai_tools"])
        self.result = answer.metadata
        return list(self.messages)

    def take(self, turn: str | Message) -> list[Message]:
        """Take an assistant turn and return the messages that answer it.

        Args:
            turn: Text as a model wrote it, or an OpenAI assistant message.

        Raises:
            ConnectionError, TimeoutError, RuntimeError: It was not taken.
        """
        answer = self._step({"text": turn} if isinstance(turn, str) else {"message": turn})
        if not (new := answer["messages"]):  # the conversation was over
            return [{"role": "user", "content": answer["result"]}]
        self.messages += new
        return list(new[1:])

    def finish(self) -> float | None:
        """End the attempt now, if it is not over, and return the reward."""
        self._step({"type": "finish"})
        return self.reward

    def close(self) -> None:
        """Leave the server."""
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
