"""Text form of an assistant turn with tool calls, for people and programs that answer requests in files."""

from __future__ import annotations

import json
import re
from typing import Any

from trace_gym.types import Message

TURN_INSTRUCTION = (
    "The assistant of this conversation is an agent with tools, and the answer is its next turn. To write to the user, "
    "write the message as plain text. To call a tool, write only a JSON object "
    '`{"tool": NAME, "arguments": {...}}`. To call several tools in one turn, write only a JSON list of such objects.'
)
"""Explanation of the form in a request file."""
_FENCE = re.compile(r"```[a-z]*\s*\n(.*)\n\s*```", re.DOTALL)


def written_turn(text: str) -> tuple[str, tuple[Message, ...]]:
    """Return the message to the user and the tool calls of a turn in text form.

    Tool calls may follow a message, as in turns of an endpoint. Text without valid tool calls at its end is a message.
    """
    text = text.strip()
    body = match[1].strip() if (match := _FENCE.fullmatch(text)) else text
    starts = [found.start() for found in re.finditer(r"[\[{]", body)] if body.endswith(("]", "}")) else []
    for start in starts:
        if calls := _calls(body[start:]):
            return body[:start].strip(), calls
    return text, ()


def _calls(text: str) -> tuple[Message, ...]:
    """Return the tool calls in one or more JSON texts; empty if the text contains anything else."""
    calls: list[Any] = []
    while text:
        try:
            data, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            return ()
        calls += data if isinstance(data, list) else [data]
        text = text[end:].lstrip()
    return tuple(map(_call, calls)) if all(map(_is_call, calls)) else ()


def _is_call(data: Any) -> bool:
    match data:
        case {"tool": str(), "arguments": dict(), **rest}:
            return not rest
        case {"tool": str(), **rest}:
            return not rest
    return False


def _call(data: dict[str, Any]) -> Message:
    arguments = json.dumps(data.get("arguments", {}), ensure_ascii=False)
    return {"type": "function", "function": {"name": data["tool"], "arguments": arguments}}
