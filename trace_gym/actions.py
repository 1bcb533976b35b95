"""Conversion of assistant turns between text in a chat format and tool calls.

A chat format is a class with the methods `parse` and `render`. To add a chat format, register it in `FORMATS`. The
default is the Hermes format of Qwen models: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Protocol

from trace_gym.types import Call, Say

MAX_TEXT = 100_000
"""Maximum length of an assistant turn in characters. Longer turns are rejected before they are parsed."""


class Malformed(Exception):
    """A turn violates the conventions of the interface. The agent receives the message, which explains the error."""


class ActionFormat(Protocol):
    """Format in which one family of models writes tool calls as text."""

    def parse(self, text: str) -> tuple[str, list[Call]]:
        """Return the message to the user and the tool calls in a turn.

        Raises:
            Malformed: The turn contains the start of a tool call that cannot be parsed.
        """
        ...

    def render(self, call: Call) -> str:
        """Return the text of a tool call. `parse` converts this text to the same call."""
        ...


class Hermes:
    """Chat format with tool calls as JSON between ``<tool_call>`` tags."""

    _block = re.compile(r"<tool_call>(.*?)(?:</tool_call>|$)", re.S)

    def parse(self, text: str) -> tuple[str, list[Call]]:
        if "<tool_call>" not in text:
            return text, []
        return self._block.sub("", text), [_call(body, "<tool_call>") for body in self._block.findall(text)]

    def render(self, call: Call) -> str:
        body = json.dumps({"name": call.tool, "arguments": call.arguments})
        return "<tool_call>\n" + body.replace("<", r"\u003c") + "\n</tool_call>"  # an argument may contain the tag


class JsonAction:
    """Chat format of the tau2 gym: a turn is a JSON object ``{"name": ..., "arguments": {...}}`` or a message."""

    def parse(self, text: str) -> tuple[str, list[Call]]:
        if not text.lstrip().startswith("{"):
            return text, []
        return "", [_call(text, "a JSON object")]

    def render(self, call: Call) -> str:
        return json.dumps({"name": call.tool, "arguments": call.arguments})


FORMATS: dict[str, ActionFormat] = {"hermes": Hermes(), "json": JsonAction()}


def _call(body: str, where: str) -> Call:
    example = '{"name": "<tool>", "arguments": {...}}'
    try:
        made = read_json(body)
    except ValueError as error:
        raise Malformed(f"the tool call is not valid JSON ({error}); {where} must hold {example}") from None
    if not isinstance(made, dict) or not isinstance(made.get("name"), str):
        raise Malformed(f"the tool call has no name; {where} must hold {example}")
    name = _name(made["name"])
    if not isinstance(arguments := made.get("arguments", {}), dict):
        raise Malformed(f"the arguments of {name} must be a JSON object, found {type(arguments).__name__}")
    return Call(name, arguments)


def _name(text: str) -> str:
    """Check the name of a tool and return it unchanged.

    Raises:
        Malformed: The name has more than 64 characters, control characters, or spaces at its ends.
    """
    if len(text) > 64 or clean(text) != text:
        raise Malformed(f"{text[:64]!a} is no tool name")
    return text


def read_json(text: str) -> Any:
    """Parse a JSON text, and reject values that some JSON parsers or worlds cannot process.

    Raises:
        ValueError: The text is not JSON, or contains NaN, infinity, an integer of more than 20 digits (64-bit ids are
            shorter), a lone surrogate, or more than 32 levels of nesting.
    """
    try:
        made = _decoder.decode(text.strip())
    except RecursionError:
        raise ValueError(f"the JSON is nested too deeply: at most {MAX_DEPTH} levels are supported") from None
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(made) > MAX_DEPTH:
        raise ValueError(f"the JSON is nested too deeply: at most {MAX_DEPTH} levels are supported")
    if "\\u" in text or not text.isascii():
        try:
            json.dumps(made, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("the text contains a lone surrogate, which is not a valid character") from None
    return made


MAX_DEPTH = 32
"""Maximum number of nesting levels in the JSON of a tool call."""
_MAX_DIGITS = 20


def _int(digits: str) -> int:
    if (count := len(digits.lstrip("-"))) > _MAX_DIGITS:
        raise ValueError(f"an integer has {count} digits, but at most {_MAX_DIGITS} digits are supported")
    return int(digits)


def _float(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"the number {digits[:20]} is too large for a 64-bit floating-point number")
    return number


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not a valid JSON number")


_decoder = json.JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=_constant)


def _depth(value: Any) -> int:
    depth, layer = 0, [value]
    while layer:
        inner = [v for v in layer if isinstance(v, (dict, list))]
        layer = [w for v in inner for w in (v.values() if isinstance(v, dict) else v)]
        depth += bool(inner)
    return depth


def _spoken(text: str) -> str:
    """Return a turn without the reasoning before ``</think>``.

    The tag ``<think>`` may be missing, because some chat templates put it at the end of the prompt.
    """
    thoughts, closed, rest = text.partition("</think>")
    begun = thoughts.lstrip()
    if closed and (begun.startswith("<think>") or not ("<tool_call>" in begun or begun.startswith("{"))):
        return rest
    return "" if begun.startswith("<think>") else text


def read_turn(action: Any, style: str = "hermes") -> tuple[str, list[Call]]:
    """Return the message to the user and the tool calls of an assistant turn.

    Args:
        action: Text in the chat format `style`, or an OpenAI assistant message (``content``, ``tool_calls``).
        style: A key of `FORMATS`.

    Raises:
        Malformed: The turn cannot be parsed. The agent receives the error message.
    """
    if isinstance(action, dict):
        return _read_message(action)
    if not isinstance(action, str):
        raise Malformed(f"a turn is text or an assistant message, found {type(action).__name__}")
    text, calls = FORMATS[style].parse(_spoken(_bounded(action)))
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
    name = _name(function["name"])
    return Call(name, _object(name, function.get("arguments") or "{}"))


def _object(name: str, arguments: Any) -> dict[str, Any]:
    """Return the arguments of a tool call as a dictionary, given JSON text or a JSON-compatible value."""
    try:
        body = arguments if isinstance(arguments, str) else json.dumps(arguments)
        if len(body) > MAX_TEXT:
            raise Malformed(f"the arguments have {len(body)} characters; at most {MAX_TEXT} are read")
        made = read_json(body)
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
        return _speakable(_bounded(step.text)), []
    if not isinstance(step.tool, str):
        raise Malformed(f"the name of a tool is text, found {type(step.tool).__name__}")
    name, known = _name(step.tool), type(step.arguments) is dict and _sound(step.arguments)
    return "", [step if known else Call(name, _object(name, step.arguments))]


def _sound(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return True if a fast check shows that a value survives a round trip through JSON and `read_json` unchanged.

    False means that the check is inconclusive, for example because the value has more than `depth` nesting levels.
    """
    kind = type(value)
    if kind is str:
        return bool(value.isascii())
    if kind is int:
        return bool(abs(value) < 10**_MAX_DIGITS)
    if kind is float:
        return math.isfinite(value)
    if depth and kind is dict:
        return all(type(k) is str and k.isascii() and _sound(v, depth - 1) for k, v in value.items())
    if depth and kind is list:
        return all(_sound(v, depth - 1) for v in value)
    return kind is bool or value is None


_unspeakable = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]")


def clean(text: str) -> str:
    """Return the text without control characters, lone surrogates, and leading and trailing whitespace."""
    return _speakable(text).strip()


def _speakable(text: str) -> str:
    return text if text.isprintable() else _unspeakable.sub("", text)


def _bounded(text: str) -> str:
    """Check the length of a turn's text and return the text unchanged.

    Raises:
        Malformed: The text is longer than `MAX_TEXT`.
    """
    if len(text) > MAX_TEXT:
        raise Malformed(f"the turn has {len(text)} characters; at most {MAX_TEXT} are read")
    return text
