"""Checks of text that a language model wrote: JSON, names of tools, and characters that a message may contain."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

MAX_TEXT = 100_000
"""Maximum length of an assistant turn in characters. Longer turns are rejected before they are parsed."""
MAX_DEPTH = 32
"""Maximum number of nesting levels in the JSON of a tool call."""
MAX_DIGITS = 20
"""Maximum number of digits of an integer in the JSON of a tool call."""


class Malformed(Exception):
    """A turn violates the conventions of the interface. The agent receives the message, which explains the error."""


def tool_name(text: str) -> str:
    """Check the name of a tool and return it unchanged.

    Raises:
        Malformed: The name has more than 64 characters, control characters, or spaces at its ends.
    """
    if len(text) > 64 or clean(text) != text:
        raise Malformed(f"{text[:64]!a} is no tool name")
    return text


def parse_json(text: str) -> Any:
    """Parse a JSON text, and reject values that some JSON parsers or worlds cannot process.

    Raises:
        ValueError: The text is not JSON, or contains NaN, infinity, an integer of more than 20 digits (64-bit ids are
            shorter), a lone surrogate, or more than 32 levels of nesting.
    """
    return _parse(_decoder.decode, text.strip(), text)


def read_first_json(text: str) -> tuple[Any, str]:
    """Parse the JSON value at the start of a text, and return it with the text that follows.

    Raises:
        ValueError: The text does not start with a valid JSON value; see `parse_json`.
    """
    value, end = _parse(_decoder.raw_decode, text.lstrip(), text)
    return value, text.lstrip()[end:]


def _parse(decode: Callable[[str], Any], stripped: str, text: str) -> Any:
    try:
        made = decode(stripped)
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


def _int(digits: str) -> int:
    if (count := len(digits.lstrip("-"))) > MAX_DIGITS:
        raise ValueError(f"an integer has {count} digits, but at most {MAX_DIGITS} digits are supported")
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


_unspeakable = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]")


def clean(text: str) -> str:
    """Return the text without control characters, lone surrogates, and leading and trailing whitespace."""
    return printable(text).strip()


def printable(text: str) -> str:
    """Return the text without control characters and lone surrogates."""
    return text if text.isprintable() else _unspeakable.sub("", text)
