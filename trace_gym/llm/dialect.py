"""Request formats of endpoints, which differ in the fields for the answer schema, ``max_tokens`` and sampling.

The first request uses the most common format. If a server rejects a field, the error message determines the next
format. A server may also ignore a field without an error, so the answers are validated too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from trace_gym.llm.quoting import fenced
from trace_gym.llm.request import ModelRequest
from trace_gym.types import Message

Form = Literal["strict", "json_schema", "json_object", "text"]
FORMS: tuple[Form, ...] = ("strict", "json_schema", "json_object", "text")
"""Methods to request an answer with a JSON schema, strictest first. The last two put the schema into the prompt."""


OVERFLOW = re.compile(
    r"context[ _](length|window|size)|maximum (context|input|sequence|model) len|max_(model|seq|input)_len"
    r"|(prompt|input|message|conversation)s? (is|are|was|were) too long|too many (input )?tokens|reduce the length"
    r"|exceeds? the (maximum|available|model).{0,40}(tokens?|context|length)|max_new_tokens` must be"
    r"|longer than the model|too large for model with|must have less than \d+ tokens",
    re.IGNORECASE,
)
"""Pattern of error messages for a conversation that exceeds the context length.

It covers OpenAI, vLLM, SGLang, llama.cpp, TGI, LM Studio, Anthropic, Gemini, Mistral and Bedrock.
"""
OVERFLOW_STATUSES = {400, 413, 422, 500}
"""HTTP statuses of errors for a conversation that exceeds the context length. Older versions of llama.cpp use 500."""


def overflows(status: int, code: object, message: str) -> bool:
    """Return whether an error means that the conversation exceeds the context length of the model.

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
    """Request format that one endpoint accepts.

    Attributes:
        form: Method to request an answer with a JSON schema.
        limit: Name of the field for the maximum length of the answer.
        temperature: Whether the endpoint accepts a temperature.
        seed: Whether the endpoint accepts a seed.
    """

    form: Form = "strict"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True

    def fallback(self, refusal: str, structured: bool) -> Self | None:
        """Return the next format to try after the server rejected a request; None if there is none.

        Args:
            refusal: Error message of the server.
            structured: Whether the request has a JSON schema for its answer.
        """
        message = refusal.lower()
        if self.limit == "max_tokens" and "max_completion_tokens" in message:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and re.search(r"temperature.*(support|default|deprecated)", message, re.DOTALL):
            return replace(self, temperature=False)
        if self.seed and re.search(r"\bseed\b", message):
            return replace(self, seed=False)
        if structured and self.form != FORMS[-1]:
            return replace(self, form=FORMS[FORMS.index(self.form) + 1])
        return None

    def fields(self, request: ModelRequest, model: str, max_tokens: int | None) -> dict[str, Any]:
        """Return the fields of the JSON body of the HTTP request."""
        fields: dict[str, Any] = {"model": model, "messages": list(request.messages)}
        if self.temperature:
            fields["temperature"] = request.temperature
        if self.seed and request.seed is not None:
            fields["seed"] = request.seed
        if max_tokens is not None:
            fields[self.limit] = max_tokens
        if request.tools:
            fields["tools"] = list(request.tools)
        if request.answer is None:
            return fields
        if self.form in ("json_object", "text"):
            fields["messages"] = with_schema(request.messages, request.answer)
        if self.form == "json_object":
            fields["response_format"] = {"type": "json_object"}
        elif self.form != "text":
            name = re.sub(r"\W+", "_", str(request.answer.get("title", "")))[:64] or "answer"
            closed = strict_schema(request.answer) if self.form == "strict" else None
            schema = {"name": name, "schema": closed or request.answer, "strict": closed is not None}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        return fields


def schema_instruction(schema: dict[str, Any]) -> str:
    """Return the instruction to answer with a JSON object that follows a schema."""
    return (
        "Answer with one JSON object of this JSON Schema, and nothing else:\n\n"
        f"{fenced(json.dumps(schema, ensure_ascii=False), 'json')}"
    )


def with_schema(messages: tuple[Message, ...], schema: dict[str, Any]) -> list[Message]:
    """Return the messages with the instruction to follow the schema at the end of the last user message."""
    *rest, last = messages
    if last["role"] != "user" or not isinstance(last.get("content"), str):
        return [*messages, {"role": "user", "content": schema_instruction(schema)}]
    return [*rest, last | {"content": f"{last['content']}\n\n{schema_instruction(schema)}"}]


def strict_schema(schema: Any) -> Any:
    """Return the schema in the form that ``"strict": true`` requires.

    In this form, all properties of an object are required, and no other properties are allowed. Return None if the
    schema has an object with arbitrary keys, which ``strict`` does not support.
    """
    if not isinstance(schema, dict):
        return schema
    made = {k: v for k, v in schema.items() if k != "default"}
    for key in ("properties", "$defs"):
        if key in made:
            made[key] = {name: strict_schema(part) for name, part in made[key].items()}
    for key in ("anyOf", "oneOf", "allOf"):
        if key in made:
            made[key] = [strict_schema(part) for part in made[key]]
    if "items" in made:
        made["items"] = strict_schema(made["items"])
    if made.get("type") == "object":
        if "properties" not in made or made.get("additionalProperties"):
            return None
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    parts = [*made.get("properties", {}).values(), *made.get("$defs", {}).values(), made.get("items", True)]
    parts += [part for key in ("anyOf", "oneOf", "allOf") for part in made.get(key, ())]
    return None if None in parts else made
