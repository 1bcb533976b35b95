"""Conversion of conversations in benchmark logs to OpenAI's message format, with unique tool call ids."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, Field

from trace_gym.types import Message


class _LoggedFunction(BaseModel):
    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)


class _LoggedToolCall(BaseModel):
    id: str | None = None
    function: _LoggedFunction | None = None
    name: str = ""
    arguments: dict[str, Any] | str = Field(default_factory=dict)

    @property
    def said(self) -> _LoggedFunction:
        """Name and arguments of the call. tau2 logs them directly in the call, without a ``function`` object."""
        return self.function or _LoggedFunction(name=self.name, arguments=self.arguments)


class Logged(BaseModel):
    """A logged message in the format of OpenAI or tau2. Fields that are not declared here are ignored."""

    role: str
    content: str | list[Any] | None = None
    tool_calls: list[_LoggedToolCall] | None = None
    tool_call_id: str | None = None
    id: str | None = None
    requestor: str = "assistant"
    error: bool = False


class Names:
    """Generator of unique names. If a name was used before, a number is appended."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}

    def unique(self, name: str) -> str:
        self.taken[name] = count = self.taken.get(name, 0) + 1
        return name if count == 1 else f"{name}#{count}"


def conversation(messages: list[Logged]) -> tuple[Message, ...]:
    """Return the messages in OpenAI's format, with an id that links each tool call to its result.

    Recorded ids may occur more than once in a conversation, so a number is appended to repeated ids.
    """
    names, waiting = Names(), defaultdict[str, deque[tuple[str, str]]](deque)
    told: list[Message] = []
    for message in messages:
        if message.role == "tool":
            if message.requestor == "user":
                continue
            key = message.tool_call_id or message.id or ""
            call_id, tool = waiting[key].popleft() if waiting[key] else (names.unique(key or "call"), "")
            told.append({"role": "tool", "tool_call_id": call_id, "name": tool, "content": _answer(message)})
            continue
        if message.role == "user" and message.tool_calls and not message.content:
            continue
        told.append({"role": message.role, "content": _text(message.content)})
        if message.role == "assistant" and message.tool_calls:
            told[-1]["tool_calls"] = calls = []
            for call in message.tool_calls:
                call_id, given = names.unique(call.id or "call"), call.said.arguments
                wire = {"name": call.said.name, "arguments": given if isinstance(given, str) else json.dumps(given)}
                calls.append({"id": call_id, "type": "function", "function": wire})
                waiting[call.id or ""].append((call_id, call.said.name))
    return tuple(told)


def _answer(message: Logged) -> str:
    """Return the result of a tool call. The result of a refused call begins with ``Error``, as in a trajectory."""
    text = _text(message.content) or ""
    refused = message.error or text.startswith("Unknown action")
    return f"Error: {text}" if refused and not text.lower().startswith("error") else text


def _text(content: str | list[Any] | None) -> str | None:
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict)).strip()
    return content


def called(messages: list[Logged]) -> Iterator[str]:
    """Yield the name of each called tool, in order."""
    for message in messages:
        for call in message.tool_calls or ():
            yield call.said.name
