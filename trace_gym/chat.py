"""Conversion of scripted steps to and from OpenAI chat messages, and of a world's state to JSON values for hashing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from trace_gym.model_text import clean
from trace_gym.types import Call, Message, Say
from trace_gym.world import World


def storable(words: Any) -> str:
    """Return a message of the user unchanged, after checking that it can be stored as UTF-8.

    Raises:
        TypeError: The message is not a string.
        UnicodeEncodeError: The message contains a lone surrogate.
    """
    if not isinstance(words, str):
        raise TypeError(f"the user message must be a string, but found {words!r}")
    words.encode()
    return words


def tool_message(call: Call, call_id: str, content: str) -> Message:
    """Return the message with the result of a tool call."""
    return {"role": "tool", "tool_call_id": call_id, "name": call.tool, "content": content}


def tool_call(call: Call, call_id: str) -> Message:
    """Return a tool call in the OpenAI chat format."""
    function = {"name": call.tool, "arguments": json.dumps(call.arguments)}
    return {"id": call_id, "type": "function", "function": function}


def call_of(wired: Message) -> Call:
    """Return the call of a message that `tool_call` has created."""
    function = wired["function"]
    return Call(function["name"], json.loads(function["arguments"]))


def calls_of(message: Message) -> list[Call]:
    """Return the tool calls of a message in the conversation of an episode."""
    return [call_of(wired) for wired in message.get("tool_calls") or ()]


def steps_of(turn: Message) -> list[Call | Say]:
    """Return a turn of the agent in the conversation of an episode as scripted steps."""
    return [*calls_of(turn)] or [Say(turn["content"])]


def text_of_malformed(action: Any) -> str:
    """Return the text of a malformed turn for the conversation, truncated to 2000 characters."""
    try:
        text = action if isinstance(action, str) else json.dumps(action)
    except (TypeError, ValueError, RecursionError):
        text = f"<{type(action).__name__}>"
    return clean(text[:2000])


def canonical(value: Any) -> Any:
    """Return a JSON-compatible value for an object in a world's state that `json` cannot serialize."""
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    return vars(value) if isinstance(value, World) else str(value)
