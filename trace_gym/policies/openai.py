"""A policy behind an OpenAI-compatible endpoint: OpenAI itself, vLLM, a router's proxy, any other."""

from __future__ import annotations

import os
from typing import Any

from trace_gym.episode import Action, Episode
from trace_gym.errors import ConfigError, MissingExtra, PolicyError


class OpenAIPolicy:
    """Sends the messages and tools of an episode and returns the assistant message.

    Args:
        model: The name that the endpoint serves.
        base_url: The endpoint, such as ``http://127.0.0.1:8000/v1``; the environment's or OpenAI's when None.
        api_key: The key; ``OPENAI_API_KEY`` when None. A local endpoint needs none.
        max_retries: How often a failed request is repeated, with growing pauses, before the episode is given up.
        timeout: Seconds for one request.
        options: More fields of the request, such as ``temperature=0.0`` or ``max_tokens=512``.

    Raises:
        MissingExtra: The openai package is not installed.
        ConfigError: There is no key.
    """

    remote = True

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        max_retries: int = 4,
        timeout: float = 120.0,
        **options: Any,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("the openai package is missing; pip install openai") from None
        self.name = model
        self.options = options
        self._errors = openai.OpenAIError
        self._hopeless = (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError)
        # Local servers take any key, but the client refuses to start without one.
        key = api_key or os.environ.get("OPENAI_API_KEY") or ("none" if base_url else None)
        try:
            self.client = openai.OpenAI(api_key=key, base_url=base_url, max_retries=max_retries, timeout=timeout)
        except openai.OpenAIError as error:
            raise ConfigError(f"{error}; set OPENAI_API_KEY, or pass base_url for a local endpoint") from None

    def act(self, episode: Episode) -> Action:
        """The endpoint's turn, as an assistant message.

        Raises:
            PolicyError: The request failed max_retries + 1 times, or the answer holds no message.
            ConfigError: The endpoint refuses the key or does not serve the model.
        """
        request: dict[str, Any] = {"model": self.name, "messages": episode.messages, **self.options}
        if episode.tools:
            request["tools"] = list(episode.tools)
        where = f"{self.client.base_url} ({self.name})"
        try:
            completion = self.client.chat.completions.create(**request)
        except self._hopeless as error:
            raise ConfigError(f"{where} refuses every request: {error}; check the key, base_url and model") from None
        except self._errors as error:
            raise PolicyError(f"{where} failed on {episode.scenario}: {type(error).__name__}: {error}") from error
        if not getattr(completion, "choices", None):
            raise PolicyError(f"{where} answered {episode.scenario} without a choice")
        message = completion.choices[0].message
        turn: dict[str, Any] = {"role": "assistant", "content": message.content}
        if calls := message.tool_calls:
            turn["tool_calls"] = [call.model_dump(exclude_none=True) for call in calls]
        return turn
