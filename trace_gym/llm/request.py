"""Requests to language models, their completions, and the interface of a model."""

from __future__ import annotations

import json
from typing import Any, Protocol

from pydantic import Field, field_validator

from trace_gym.types import Message, Record, sha256

KEY_FIELDS = {"messages", "answer", "temperature", "max_tokens", "sample"}
"""Fields of a request that determine the answer. The key is a hash of these fields, of the seed, and of the tools."""


class ModelRequest(Record):
    """Request to a language model."""

    messages: tuple[Message, ...] = Field(min_length=1)
    purpose: str
    """Purpose such as ``plan tau2_claims``, for file names, the ledger and log messages. It does not affect `key`."""
    answer: dict[str, Any] | None = None
    """JSON schema of the answer; None for free text."""
    tools: tuple[Message, ...] = ()
    """Schemas of the tools that the model may call, in the OpenAI function format."""
    temperature: float = Field(0.7, ge=0)
    max_tokens: int | None = Field(None, ge=1)
    """Maximum length of the answer in tokens; None means the limit of the server."""
    seed: int | None = Field(None, ge=0)
    """Seed for the server's sampling; None to send no seed."""
    sample: int = Field(0, ge=0)
    """Number of the sample, to distinguish several samples of the same request."""

    @field_validator("messages")
    @classmethod
    def _sendable(cls, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Validate the messages, and convert them to JSON values without lone surrogates."""
        if any("role" not in message for message in messages):
            raise ValueError("a message has no role: expected the field 'role' in each message")
        return tuple(json.loads(well_formed(json.dumps(messages, ensure_ascii=False))))

    @property
    def key(self) -> str:
        """Hash of all fields that determine the answer."""
        # Keys of requests without a seed or without tools stay the same.
        optional = {name for name in ("seed", "tools") if getattr(self, name) not in (None, ())}
        return sha256(json.dumps(self.model_dump(include=KEY_FIELDS | optional), sort_keys=True))


class Completion(Record):
    """Answer to a request."""

    text: str
    tool_calls: tuple[Message, ...] = ()
    """Tool calls in the OpenAI format. Only a request with tools can have them; `text` is then often empty."""
    model: str
    """URI of the model that wrote the answer."""
    served: str = ""
    """Name of the model in the response of the endpoint, such as a dated version; empty if it is missing."""
    finish: str = "stop"
    """Finish reason: ``stop``, ``length`` (truncated by max_tokens), ``refusal`` (`text` is the refusal), or another
    value of the endpoint."""
    prompt_tokens: int = 0
    """Number of tokens in the prompt according to the endpoint; 0 if the endpoint does not report it."""
    completion_tokens: int = 0
    cost: float | None = None
    """Cost in US dollars; None if unknown."""
    cached: bool = False
    """Whether the answer was read from a cache or a recording. Tokens and cost are those of the original request."""
    changed: bool = False
    """Whether the answer was recorded for an earlier version of the request, before the prompt changed."""


class Model(Protocol):
    """Interface of a model that answers requests. Implementations are thread-safe."""

    @property
    def name(self) -> str:
        """``openai:<model>``, ``replay:<models of the recordings>``, or ``files[:<answered_by>]``."""
        ...

    def complete(self, request: ModelRequest) -> Completion:
        """Return the answer to a request.

        Raises:
            ModelError: The model returned no answer.
            BudgetSpent: The request might cost more than the remaining budget.
            ConfigError: The configuration of the model is not valid.
        """
        ...


def well_formed(text: str) -> str:
    """Return the text with question marks in place of lone surrogates, which cannot be encoded as UTF-8."""
    return text.encode("utf-8", "replace").decode()


def cleaned(text: str, secret: str) -> str:
    """Return a message of a server on one line, shortened, and without the key, which some servers repeat."""
    masked = text.replace(secret, "***") if secret else text
    return well_formed(" ".join(masked.split())[:500])


def token_count(reported: Any) -> int:
    """Return a number of tokens that an endpoint reports; 0 if the number is missing or invalid."""
    return reported if isinstance(reported, int) and reported > 0 else 0
