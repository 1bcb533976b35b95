"""What a language model is asked, what it answers, and what a model is."""

from __future__ import annotations

import json
from typing import Any, Protocol

from pydantic import Field, field_validator

from trace_gym.types import Message, Record, sha256

DECIDES = {"messages", "answer", "temperature", "max_tokens", "sample"}
"""What of a request determines the answer, and so enters its key."""


class Request(Record):
    """One question to a language model."""

    messages: tuple[Message, ...] = Field(min_length=1)
    purpose: str
    """What it is for, such as ``plan tau2_claims``: shown in files and in the ledger, no part of the `key`."""
    answer: dict[str, Any] | None = None
    """JSON Schema of the wanted answer; None for free text."""
    temperature: float = Field(0.7, ge=0)
    max_tokens: int | None = Field(None, ge=1)
    """Longest answer in tokens; the server's own limit when None."""
    seed: int | None = Field(None, ge=0)
    """Seed for the server's sampling; it is not sent when None."""
    sample: int = Field(0, ge=0)
    """Another sample of the same request has another number."""

    @field_validator("messages")
    @classmethod
    def _sendable(cls, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Messages as they can be sent and stored: JSON, without lone surrogates."""
        if any("role" not in message for message in messages):
            raise ValueError("each message needs a role")
        return tuple(json.loads(well_formed(json.dumps(messages, ensure_ascii=False))))

    @property
    def key(self) -> str:
        """Hash over everything of the request that determines the answer."""
        decides = DECIDES if self.seed is None else DECIDES | {"seed"}  # keys of requests without a seed stay the same
        return sha256(json.dumps(self.model_dump(include=decides), sort_keys=True))


class Completion(Record):
    """The answer to a request."""

    text: str
    model: str
    """Address of the model that wrote it."""
    served: str = ""
    """What the endpoint says it is, such as a dated version; empty where it says nothing."""
    finish: str = "stop"
    """Why it ended: ``stop``, ``length`` (cut off by max_tokens), ``refusal`` (then `text` is the refusal), or
    another word of the endpoint."""
    prompt_tokens: int = 0
    """As the endpoint counted them; 0 where nobody counts."""
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars; None when unknown."""
    cached: bool = False
    """It was read from a cache or a recording, and nothing was paid for it now. Tokens and cost are those of then."""
    changed: bool = False
    """It was the answer to another wording of the request: prompts have changed since it was recorded."""


class Model(Protocol):
    """Whoever answers requests. Safe to be asked from several threads at once."""

    @property
    def name(self) -> str:
        """``openai:<model>``, ``replay:<what wrote the recordings>``, or ``files[:<who answers>]``."""
        ...

    def complete(self, request: Request) -> Completion:
        """The answer to one request.

        Raises:
            ModelError: There is none.
            BudgetSpent: It might cost more than is left.
            ConfigError: The model can never answer as it is set up.
        """
        ...


def well_formed(text: str) -> str:
    """Text that can be encoded: a lone surrogate, which a model may write as an escape, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()
