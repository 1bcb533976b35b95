"""How an endpoint wants to be asked: what it takes of ``response_format``, ``max_tokens`` and ``temperature``.

It starts with what most take. What a server refuses is learned from its refusal, and what it silently ignores shows
in the answer, which is read with care anyway.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, Literal, Self

from trace_gym.llm.quoting import fenced
from trace_gym.llm.request import Request
from trace_gym.types import Message

Form = Literal["strict", "json_schema", "json_object", "text"]
FORMS: tuple[Form, ...] = ("strict", "json_schema", "json_object", "text")
"""How an answer of a schema is asked for, most binding first; the last two put the schema into the prompt."""


OVERFLOW = re.compile(
    r"context[ _](length|window|size)|maximum (context|input|sequence|model) len|max_(model|seq|input)_len"
    r"|(prompt|input|message|conversation)s? (is|are|was|were) too long|too many (input )?tokens|reduce the length"
    r"|exceeds? the (maximum|available|model).{0,40}(tokens?|context|length)|max_new_tokens` must be"
    r"|longer than the model|too large for model with|must have less than \d+ tokens",
    re.IGNORECASE,
)
"""What servers write when a conversation does not fit: OpenAI, vLLM, SGLang, llama.cpp, TGI, LM Studio, Anthropic,
Gemini, Mistral, Bedrock."""
OVERFLOW_STATUSES = {400, 413, 422, 500}
"""llama.cpp used to answer 500."""


def overflows(status: int, code: object, message: str) -> bool:
    """Return whether a refusal means that the conversation is longer than the model's context.

    Args:
        status: HTTP status. A rate limit (429), which some servers count in tokens, is not an overflow.
        code: The ``code`` or ``type`` of the error, if any.
        message: The text of the error.
    """
    if status not in OVERFLOW_STATUSES:
        return False
    named = str(code or "") in ("context_length_exceeded", "exceed_context_size_error", "string_above_max_length")
    return named or OVERFLOW.search(message) is not None


@dataclass(frozen=True)
class Dialect:
    """What one endpoint takes."""

    form: Form = "strict"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True

    def without(self, refusal: str, structured: bool) -> Self | None:
        """The next dialect to try after a refusal; None when there is none.

        Args:
            refusal: The server's message.
            structured: Whether an answer of a schema was asked for.
        """
        said = refusal.lower()
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and re.search(r"temperature.*(support|default|deprecated)", said, re.DOTALL):
            return replace(self, temperature=False)
        if self.seed and re.search(r"\bseed\b", said):
            return replace(self, seed=False)
        if structured and self.form != FORMS[-1]:
            return replace(self, form=FORMS[FORMS.index(self.form) + 1])
        return None

    def fields(self, request: Request, model: str, max_tokens: int | None) -> dict[str, Any]:
        """The body of the request."""
        fields: dict[str, Any] = {"model": model, "messages": list(request.messages)}
        if self.temperature:
            fields["temperature"] = request.temperature
        if self.seed and request.seed is not None:
            fields["seed"] = request.seed
        if max_tokens is not None:
            fields[self.limit] = max_tokens
        if request.answer is None:
            return fields
        if self.form in ("json_object", "text"):
            fields["messages"] = with_schema(request.messages, request.answer)
        if self.form == "json_object":
            fields["response_format"] = {"type": "json_object"}
        elif self.form != "text":
            name = re.sub(r"\W+", "_", str(request.answer.get("title", "")))[:64] or "answer"
            closed = strict(request.answer) if self.form == "strict" else None
            schema = {"name": name, "schema": closed or request.answer, "strict": closed is not None}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        return fields


def asks_for(schema: dict[str, Any]) -> str:
    """A sentence that asks for an answer of a schema."""
    return (
        "Answer with one JSON object of this JSON Schema, and nothing else:\n\n"
        f"{fenced(json.dumps(schema, ensure_ascii=False), 'json')}"
    )


def with_schema(messages: tuple[Message, ...], schema: dict[str, Any]) -> list[Message]:
    """The messages, the last of which now asks for the schema."""
    *rest, last = messages
    if last["role"] != "user" or not isinstance(last.get("content"), str):
        return [*messages, {"role": "user", "content": asks_for(schema)}]
    return [*rest, last | {"content": f"{last['content']}\n\n{asks_for(schema)}"}]


def strict(schema: Any) -> Any:
    """The schema in the subset that ``strict`` takes: objects closed, all properties required, no defaults.

    None when the schema has an object of free keys, which cannot be said in it.
    """
    if not isinstance(schema, dict):
        return schema
    made = {k: v for k, v in schema.items() if k != "default"}
    for key in ("properties", "$defs"):
        if key in made:
            made[key] = {name: strict(part) for name, part in made[key].items()}
    for key in ("anyOf", "oneOf", "allOf"):
        if key in made:
            made[key] = [strict(part) for part in made[key]]
    if "items" in made:
        made["items"] = strict(made["items"])
    if made.get("type") == "object":
        if "properties" not in made or made.get("additionalProperties"):
            return None
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    parts = [*made.get("properties", {}).values(), *made.get("$defs", {}).values(), made.get("items", True)]
    parts += [part for key in ("anyOf", "oneOf", "allOf") for part in made.get(key, ())]
    return None if None in parts else made


def retry_after(header: Callable[[str], str | None]) -> float | None:
    """Return the seconds that a server asks to wait.

    They are in ``retry-after-ms``, or in ``Retry-After`` as seconds or as a date (RFC 9110).
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(header(name) or "")
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds / unit
    try:
        return max(parsedate_to_datetime(header("retry-after") or "").timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
