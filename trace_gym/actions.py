"""Conversion of assistant turns to messages and tool calls.

A turn is text in a chat format (see `trace_gym.chat_formats`), an OpenAI message, or a scripted step.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from trace_gym.chat_formats import FORMATS
from trace_gym.model_text import MAX_DEPTH, MAX_DIGITS, MAX_TEXT, Malformed, clean, parse_json, printable, tool_name
from trace_gym.types import Call, Message, Say

MARKERS = ("<tool_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>", "<|tool_call_start|>")
"""Texts that start a tool call in a chat format."""


def _spoken(text: str) -> str:
    """Return a turn without the reasoning before ``</think>``.

    The tag ``<think>`` may be missing, because some chat templates put it at the end of the prompt.
    """
    thoughts, closed, rest = text.partition("</think>")
    begun = thoughts.lstrip()
    calling = begun.startswith("{") or any(marker in begun for marker in MARKERS)
    if closed and (begun.startswith("<think>") or not calling):
        return rest
    return "" if begun.startswith("<think>") else text


def read_turn(action: Any, style: str = "hermes", tools: Sequence[Message] = ()) -> tuple[str, list[Call]]:
    """Return the message to the user and the tool calls of an assistant turn.

    Args:
        action: Text in the chat format `style`, or an OpenAI assistant message (``content``, ``tool_calls``).
        style: A key of `trace_gym.chat_formats.FORMATS`.
        tools: Schemas of the tools, which some chat formats require to convert arguments.

    Raises:
        Malformed: The turn cannot be parsed. The agent receives the error message.
    """
    if isinstance(action, dict):
        return _read_message(action)
    if not isinstance(action, str):
        raise Malformed(f"a turn is text or an assistant message, found {type(action).__name__}")
    text, calls = FORMATS[style].parse(_spoken(_bounded(action)), tools)
    return clean(text), calls


def _read_message(message: dict[str, Any]) -> tuple[str, list[Call]]:
    if (role := message.get("role", "assistant")) not in ("assistant", None):
        raise Malformed(f"a turn is a message of the assistant, found the role {clean(str(role))[:40]!r}")
    content = message.get("content") or ""
    if not isinstance(content, str):
        parts = content if isinstance(content, list) else []
        content = " ".join(str(p.get("text", "")) for p in parts if isinstance(p, dict))
    _bounded(content)
    made = message.get("tool_calls") or ()
    if not isinstance(made, (list, tuple)):
        raise Malformed(f"tool_calls must be a list, found {type(made).__name__}")
    return clean(_spoken(content)), [_wired(call) for call in made]


def _wired(call: Any) -> Call:
    """Convert a tool call of an OpenAI message to a `Call`. Its arguments may be JSON text or a dictionary."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise Malformed("a tool call must hold function.name and function.arguments")
    if not isinstance(call.get("id"), str) and not _sound(
        call.get("id"), depth=0
    ):  # such as an integer of 5,000 digits, which Python does not convert to text
        raise Malformed("the id of a tool call must be text")
    name = tool_name(function["name"])
    return Call(name, _object(name, function.get("arguments") or "{}"))


def _object(name: str, arguments: Any) -> dict[str, Any]:
    """Return the arguments of a tool call as a dictionary, given JSON text or a JSON-compatible value."""
    try:
        body = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if len(body) > MAX_TEXT:
            raise Malformed(f"the arguments have {len(body)} characters; at most {MAX_TEXT} are read")
        made = parse_json(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise Malformed(f"the arguments of {name} are not valid JSON ({error})") from None
    if not isinstance(made, dict):
        raise Malformed(f"the arguments of {name} must be a JSON object, found {type(made).__name__}")
    return made


def read_step(step: Call | Say) -> tuple[str, list[Call]]:
    """Return the message to the user and the tool calls of a scripted step, under the same restrictions as a turn.

    Raises:
        Malformed: The step contains values that a turn cannot contain. The agent receives the error message.
    """
    if isinstance(step, Say):
        if not isinstance(step.text, str):
            raise Malformed(f"a message to the user is text, found {type(step.text).__name__}")
        return printable(_bounded(step.text)), []
    if not isinstance(step.tool, str):
        raise Malformed(f"the name of a tool is text, found {type(step.tool).__name__}")
    name, known = tool_name(step.tool), type(step.arguments) is dict and _sound(step.arguments)
    return "", [step if known else Call(name, _object(name, step.arguments))]


def _sound(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return True if a fast check shows that a value survives a round trip through JSON and `parse_json` unchanged.

    False means that the check is inconclusive, for example because the value has more than `depth` nesting levels.
    """
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    if kind is int:
        return bool(abs(value) < 10**MAX_DIGITS)
    if kind is float:
        return math.isfinite(value)
    if depth and kind is dict:
        return all(type(k) is str and k.isascii() and _sound(v, depth - 1) for k, v in value.items())
    if depth and kind is list:
        return all(_sound(v, depth - 1) for v in value)
    return kind is bool or value is None


def _bounded(text: str) -> str:
    """Check the length of a turn's text and return the text unchanged.

    Raises:
        Malformed: The text is longer than `MAX_TEXT`.
    """
    if len(text) > MAX_TEXT:
        raise Malformed(f"the turn has {len(text)} characters; at most {MAX_TEXT} are read")
    return text
