"""Responses of OpenAI-compatible endpoints: completions, turns of the model, and the meaning of errors."""

from __future__ import annotations

import re
from typing import Any

from trace_gym.episode import Action
from trace_gym.llm.dialect import overflows
from trace_gym.llm.retries import is_temporary

MALFORMED = re.compile(r"tool_use_failed|failed_generation|(parsing|parse|invalid) tool.?call", re.IGNORECASE)
"""Pattern of error messages from servers (Groq, Ollama, llama.cpp) that cannot parse a tool call of the model."""


class NoCompletion(Exception):
    """A successful HTTP response that does not contain a chat completion."""


def completion_in(raw: Any) -> Any:
    """Return the completion in a response.

    Raises:
        NoCompletion: The response does not contain a completion.
    """
    try:
        completion = raw.parse()
        turn_of(completion)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError):  # ValueError: also for giant integers
        shown = " ".join(raw.http_response.content[:200].decode("utf-8", "replace").split())
        raise NoCompletion(f"found {shown!r}") from None
    return completion


def turn_of(completion: Any) -> dict[str, Any]:
    """Return the assistant message of a completion."""
    message = completion.choices[0].message
    turn = {"role": "assistant", "content": message.content or getattr(message, "refusal", None)}
    # Without warnings=False, pydantic warns about servers that send the arguments as an object.
    calls = [c.model_dump(exclude_none=True, warnings=False) for c in message.tool_calls or ()]
    return turn | ({"tool_calls": calls} if calls else {})


def is_passing(error: Any) -> bool:
    """Return whether an error status may be temporary, so that the request should be retried."""
    message = f"{error} {error.response.text[:2000]}"
    if overflows(error.status_code, error.code or error.type, message) or unparsed_turn(error) is not None:
        return False
    return is_temporary(error.status_code, error.code, error.response.headers.get)


def unparsed_turn(error: Any) -> Action | None:
    """Return the turn of a model whose tool call the server could not parse; None for other errors."""
    body = error.body if isinstance(error.body, dict) else {}
    if error.status_code not in (400, 422, 500) or not MALFORMED.search(f"{error.code} {error}"):
        return None
    written = body.get("failed_generation")
    return f"<tool_call>{written or ''}"
