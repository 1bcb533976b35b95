"""Generators of malformed and unusual turns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from trace_gym.chat_formats import FORMATS
from trace_gym.model_text import MAX_DEPTH
from trace_gym.types import Call, Say
from trace_gym.validation.random_calls import JUNK, CallSampler

NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-0.0", "9" * 400, "1e-400", "0x10", "1_000")
"""Invalid or extreme number literals."""
NON_TURNS: tuple[Any, ...] = (None, 3, 2.5, float("nan"), True, (), [], ["text"], {}, {"role": "user"})
"""Values that are neither text nor an assistant message."""
PARTS = ("x", " ", "\u2603", "<tool_call>", "</tool_call>", "<think>", '{"name":', "[", "{", '"', "\\", "%s{}{0}")
WORDS = ("Yes.", "No?", "Sorry, I cannot.", "Shall I proceed?", "All done.", "What is your id?", "Why?", "?")


def non_turns(draw: CallSampler) -> Any:
    """Return a value of a type that no turn can have."""
    return draw.rng.choice(NON_TURNS)


def random_bytes(draw: CallSampler) -> bytes:
    """Return random bytes."""
    return bytes(draw.rng.randrange(256) for _ in range(draw.rng.randrange(40)))


def random_unicode(draw: CallSampler) -> str:
    """Return random code points, including control characters, lone surrogates and direction marks."""
    return "".join(chr(draw.rng.randrange(0x110000)) for _ in range(draw.rng.randrange(40)))


def long_repeats(draw: CallSampler) -> str:
    """Return a short text that is repeated up to tens of thousands of times."""
    return str(draw.rng.choice(PARTS)) * draw.rng.choice((1, 2, 100, 20_000))


def nested_arguments(draw: CallSampler) -> str:
    """Return a call with a nested argument, within the supported depth or far beyond it."""
    depth = draw.rng.choice((2, MAX_DEPTH - 4, MAX_DEPTH + 4, 5_000))
    opened, closed = draw.rng.choice((("[", "]"), ('{"a":', "}")))
    return _with_value(draw, opened * depth + "1" + closed * depth)


def invalid_numbers(draw: CallSampler) -> str:
    """Return a call with a number that is not valid JSON or is out of range."""
    return _with_value(draw, draw.rng.choice(NUMBERS))


def duplicate_keys(draw: CallSampler) -> str:
    """Return a call with every key twice, with different values."""
    call, other = draw.call(), draw.call()
    pairs = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in [*call.arguments.items(), *other.arguments.items()]]
    pairs += [f"{json.dumps(k)}: null" for k in call.arguments]
    return _tagged(f'{{"name": "{other.tool}", "name": "{call.tool}", "arguments": {{{", ".join(pairs)}}}}}')


def several_calls(draw: CallSampler) -> str:
    """Return several calls, with or without text, in one turn."""
    calls = [FORMATS["hermes"].render(draw.call()) for _ in range(draw.rng.randrange(2, 5))]
    return draw.rng.choice(("", "One moment. ")) + "".join(calls)


def invalid_messages(draw: CallSampler) -> dict[str, Any]:
    """Return an assistant message with arbitrary field values."""
    call, junk = draw.call(), draw.rng.choice((*JUNK, float("inf"), b"x", "\ud800", {1: {2}}))
    name = draw.rng.choice((call.tool, junk))
    arguments = draw.rng.choice((call.arguments, json.dumps(call.arguments), {**call.arguments, "": junk}, junk))
    made = [{"id": junk, "type": "function", "function": {"name": name, "arguments": arguments}}]
    content = draw.rng.choice(("", None, "Hello.", junk, [{"type": "text", "text": "Hi."}]))
    return {"role": "assistant", "content": content, "tool_calls": draw.rng.choice((made, [junk], junk))}


def invalid_steps(draw: CallSampler) -> Any:
    """Return a scripted step with values that no model can produce."""
    call, junk = draw.call(), draw.rng.choice((*JUNK, float("nan"), 10**30, b"x", "\ud800", {1: {2}}, (1, 2)))
    odd = (Call(junk, call.arguments), Call(call.tool, junk), Call(call.tool, {**call.arguments, "": junk}), Say(junk))
    return draw.rng.choice(odd)


def long_values(draw: CallSampler) -> str:
    """Return a valid call with a very long string."""
    call = draw.call()
    long = {k: draw.rng.choice(PARTS) * 3_000 if isinstance(v, str) else v for k, v in call.arguments.items()}
    return FORMATS["hermes"].render(Call(call.tool, long))


def valid_calls(draw: CallSampler) -> str:
    """Return a well-formed call. The sampler's junk probability determines how often it violates the tool's schema."""
    return FORMATS["hermes"].render(draw.call())


def user_messages(draw: CallSampler) -> str:
    """Return a user message composed of values from the state and phrases that the simulated user recognizes."""
    return " ".join(draw.rng.choice((*WORDS, *draw.values.strings[:40])) for _ in range(draw.rng.randrange(1, 5)))


KINDS: tuple[Callable[[CallSampler], Any], ...] = (
    non_turns,
    random_bytes,
    random_unicode,
    long_repeats,
    nested_arguments,
    invalid_numbers,
    duplicate_keys,
    several_calls,
    invalid_messages,
    invalid_steps,
    long_values,
    valid_calls,
    user_messages,
)
"""All generators. All except the last three mostly return malformed turns."""


def _with_value(draw: CallSampler, value: str) -> str:
    """Return a call with this text as the value of one argument."""
    call = draw.call()
    keys = list(call.arguments) or ["value"]
    key = draw.rng.choice(keys)
    pairs = [f"{json.dumps(k)}: {value if k == key else json.dumps(call.arguments.get(k))}" for k in keys]
    return _tagged(f'{{"name": "{call.tool}", "arguments": {{{", ".join(pairs)}}}}}')


def _tagged(body: str) -> str:
    return f"<tool_call>{body}</tool_call>"
