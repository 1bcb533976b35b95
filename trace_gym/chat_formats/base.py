"""Interface and shared helpers of the chat formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from trace_gym.model_text import Malformed, parse_json, tool_name
from trace_gym.types import Call, Message

EXAMPLE = '{"name": "<tool>", "arguments": {...}}'


class ChatFormat(Protocol):
    """Format in which one family of models writes tool calls as text."""

    def parse(self, text: str, tools: Sequence[Message] = ()) -> tuple[str, list[Call]]:
        """Split a turn into its message to the user and its tool calls.

        Args:
            text: The turn, without the end-of-turn token.
            tools: Tool schemas. Formats whose text does not show the types of the arguments use them.

        Raises:
            Malformed: The turn contains the start of a tool call that cannot be parsed.
        """
        ...

    def render(self, call: Call) -> str:
        """Return the text of a tool call. `parse` converts this text to the same call."""
        ...


def read_call(body: str, where: str) -> Call:
    """Parse a tool call from JSON. `where` names the place of the JSON text in error messages.

    Raises:
        Malformed: The text is not a call.
    """
    try:
        return call_of(parse_json(body), where)
    except ValueError as error:
        raise Malformed(invalid_json(error, where)) from None


def invalid_json(error: ValueError, where: str) -> str:
    """Return the error message for a tool call that is not valid JSON."""
    return f"the tool call is not valid JSON ({error}); {where} must hold {EXAMPLE}"


def call_of(made: Any, where: str) -> Call:
    """Return the call in an object with ``name`` and ``arguments``.

    Raises:
        Malformed: The object is not a call.
    """
    if not isinstance(made, dict) or not isinstance(made.get("name"), str):
        raise Malformed(f"the tool call has no name; {where} must hold {EXAMPLE}")
    name = tool_name(made["name"])
    if not isinstance(arguments := made.get("arguments", {}), dict):
        raise Malformed(f"the arguments of {name} must be a JSON object, found {type(arguments).__name__}")
    return Call(name, arguments)
