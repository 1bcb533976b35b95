"""Turns that no well-bred model writes, by kind, drawn from any `Random`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from trace_gym.actions import FORMATS, MAX_DEPTH
from trace_gym.types import Call, Say
from trace_gym.validate.draws import JUNK, Draw

NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-0.0", "9" * 400, "1e-400", "0x10", "1_000")
"""What stands for a number in text that claims to be JSON."""
STRAYS: tuple[Any, ...] = (None, 3, 2.5, float("nan"), True, (), [], ["text"], {}, {"role": "user"})
"""What is neither text nor an assistant message."""
PARTS = ("x", " ", "\u2603", "<tool_call>", "</tool_call>", "<think>", '{"name":', "[", "{", '"', "\\", "%s{}{0}")
WORDS = ("Yes.", "No?", "Sorry, I cannot.", "Shall I proceed?", "All done.", "What is your id?", "Why?", "?")


def strays(draw: Draw) -> Any:
    """No turn at all."""
    return draw.rng.choice(STRAYS)


def octets(draw: Draw) -> bytes:
    """Bytes."""
    return bytes(draw.rng.randrange(256) for _ in range(draw.rng.randrange(40)))


def letters(draw: Draw) -> str:
    """Any code points: control characters, lone surrogates, marks that turn the text around."""
    return "".join(chr(draw.rng.randrange(0x110000)) for _ in range(draw.rng.randrange(40)))


def masses(draw: Draw) -> str:
    """One piece of text, up to tens of thousands of times."""
    return str(draw.rng.choice(PARTS)) * draw.rng.choice((1, 2, 100, 20_000))


def nested(draw: Draw) -> str:
    """A call whose argument is nested, within the depth that is read and far beyond it."""
    depth = draw.rng.choice((2, MAX_DEPTH - 4, MAX_DEPTH + 4, 5_000))
    opened, closed = draw.rng.choice((("[", "]"), ('{"a":', "}")))
    return _with_value(draw, opened * depth + "1" + closed * depth)


def numbers(draw: Draw) -> str:
    """A call with a number that JSON does not know, or that no field can hold."""
    return _with_value(draw, draw.rng.choice(NUMBERS))


def twice(draw: Draw) -> str:
    """A call in which every key stands twice, with different values."""
    call, other = draw.call(), draw.call()
    pairs = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in [*call.arguments.items(), *other.arguments.items()]]
    pairs += [f"{json.dumps(k)}: null" for k in call.arguments]
    return _tagged(f'{{"name": "{other.tool}", "name": "{call.tool}", "arguments": {{{", ".join(pairs)}}}}}')


def several(draw: Draw) -> str:
    """Several calls and some text in one turn."""
    calls = [FORMATS["hermes"].render(draw.call()) for _ in range(draw.rng.randrange(2, 5))]
    return draw.rng.choice(("", "One moment. ")) + "".join(calls)


def messages(draw: Draw) -> dict[str, Any]:
    """An assistant message in whose fields anything stands."""
    call, junk = draw.call(), draw.rng.choice((*JUNK, float("inf"), b"x", "\ud800", {1: {2}}))
    name = draw.rng.choice((call.tool, junk))
    arguments = draw.rng.choice((call.arguments, json.dumps(call.arguments), {**call.arguments, "": junk}, junk))
    made = [{"id": junk, "type": "function", "function": {"name": name, "arguments": arguments}}]
    content = draw.rng.choice(("", None, "Hello.", junk, [{"type": "text", "text": "Hi."}]))
    return {"role": "assistant", "content": content, "tool_calls": draw.rng.choice((made, [junk], junk))}


def scripted(draw: Draw) -> Any:
    """A scripted step that holds what no model can write."""
    call, junk = draw.call(), draw.rng.choice((*JUNK, float("nan"), 10**30, b"x", "\ud800", {1: {2}}, (1, 2)))
    odd = (Call(junk, call.arguments), Call(call.tool, junk), Call(call.tool, {**call.arguments, "": junk}), Say(junk))
    return draw.rng.choice(odd)


def long_values(draw: Draw) -> str:
    """A call that fits its schema, with a very long string."""
    call = draw.call()
    long = {k: draw.rng.choice(PARTS) * 3_000 if isinstance(v, str) else v for k, v in call.arguments.items()}
    return FORMATS["hermes"].render(Call(call.tool, long))


def calls(draw: Draw) -> str:
    """A call; the draw decides how well it fits."""
    return FORMATS["hermes"].render(draw.call())


def words(draw: Draw) -> str:
    """A message, with values of the state and what users listen for."""
    return " ".join(draw.rng.choice((*WORDS, *draw.values.strings[:40])) for _ in range(draw.rng.randrange(1, 5)))


KINDS: tuple[Callable[[Draw], Any], ...] = (
    strays, octets, letters, masses, nested, numbers, twice, several, messages, scripted, long_values, calls, words,
)  # fmt: skip
"""Every kind of turn; all but the last three are mostly malformed."""


def _with_value(draw: Draw, value: str) -> str:
    """A call one of whose arguments is this text."""
    call = draw.call()
    keys = list(call.arguments) or ["value"]
    key = draw.rng.choice(keys)
    pairs = [f"{json.dumps(k)}: {value if k == key else json.dumps(call.arguments.get(k))}" for k in keys]
    return _tagged(f'{{"name": "{call.tool}", "arguments": {{{", ".join(pairs)}}}}}')


def _tagged(body: str) -> str:
    return f"<tool_call>{body}</tool_call>"
