"""Routing prompt, in which a language model selects a capability for a task from a list of lettered options.

The prompt follows the TRACE paper (arXiv 2604.05336, section 3.5 and appendix E).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from trace_gym.llm.quoting import inline
from trace_gym.types import Message

BASE = "none"
"""Name of the option for the base model without an adapter."""
LETTERS = "ABCDEFGH"
INSTRUCTION = """# Routing
You decide which special skill a conversation needs before it begins. Each option is a skill, what it is for, one
conversation in which it was needed, and its letter. Answer with the letter of the option that fits the task best;
choose the option without a skill when none is needed."""


@dataclass(frozen=True)
class Option:
    """A routing option: a capability with its description and an example."""

    capability: str
    description: str
    example: str = ""
    """A successful conversation from the capability's environment, compacted by `compact`."""


NO_SKILL = Option(BASE, "no special skill is needed")


def compact(messages: Sequence[Message]) -> str:
    """Return a one-line summary of a conversation: the first user message and the names of the called tools."""
    opening = next(str(m["content"]) for m in messages if m["role"] == "user")
    calls = [c["function"]["name"] for m in messages for c in m.get("tool_calls") or ()]
    return f"{opening} -> {', '.join(calls) or 'answered without a tool'}"


def routing_messages(opening: str, options: Sequence[Option]) -> list[Message]:
    """Return the routing prompt as chat messages. Option n has the letter `LETTERS[n]`.

    Each option and the task take one line. Line breaks in their texts are replaced by escapes.

    Args:
        opening: The first user message of the task.
        options: At most eight options, including the option for the base model.
    """
    lines = []
    for letter, option in zip(LETTERS, options, strict=False):
        example = f" Example: {option.example}" if option.example else ""
        # The letter is at the end, so that a causal model attends to the whole option at the letter.
        lines.append(inline(f"{option.capability}: {option.description}.{example} Letter {letter}"))
    lines.append(inline(f"Task: {opening}"))
    return [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": "\n".join(lines)}]


def without_tokens(text: str, tokens: Iterable[str]) -> str:
    """Return the text with a space in every special token, so that it cannot end its message in a chat template."""
    for token in sorted(filter(None, tokens), key=len, reverse=True):
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def shuffled(options: Sequence[Option], rng: Random) -> list[Option]:
    """Return the options in random order, so that letters and capabilities are independent."""
    return rng.sample(list(options), k=len(options))
